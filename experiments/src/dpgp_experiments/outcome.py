"""What every experiment returns, and how it reports progress."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from dpgp.cli.output import TextTable
from dpgp.report.style import save_figure
from dpgp_experiments.simulated import simulation
from dpgp_experiments.tables import Record, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
Trial = TypeVar("Trial", bound=Hashable)
Score = TypeVar("Score")


class Track(Protocol):
    """Passes items on one by one while showing how far it has come."""

    def __call__(self, items: Sequence[T], /) -> Iterable[T]:
        """Return the items, in order."""
        ...


@dataclass(frozen=True)
class Assignment:
    """What a run is asked for: repeats, a seed, files of data, where results are kept, a part."""

    repeats: int
    seed: int
    track: Track
    data: Sequence[Path] = ()
    folder: Path = Path("results")
    part: str = ""  # all parts

    def collect(
        self, jobs: Sequence[Callable[[], Iterable[tuple[Trial, Score]]]]
    ) -> dict[Trial, list[Score]]:
        """Do all jobs, one after the other, and return the scores of every trial."""
        scores: dict[Trial, list[Score]] = {}
        with simulation():
            for job in self.track(jobs):
                for trial, score in job():
                    scores.setdefault(trial, []).append(score)
        return scores


@dataclass(frozen=True)
class Outcome:
    """The numbers of an experiment, a table of them to read, and a figure."""

    records: Sequence[Record]
    table: TextTable
    figure: Figure

    def save(self, folder: Path, name: str) -> list[Path]:
        """Write ``name``.csv, .png and .svg into the folder, and return where they are."""
        folder.mkdir(parents=True, exist_ok=True)
        numbers = folder / f"{name}.csv"
        write_csv(self.records, numbers)
        return [numbers, *save_figure(self.figure, folder / name)]
