"""Runs of the comparison: kept in a CSV file as they finish, and averaged over seeds."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dpgp.cli.output import DataError
from dpgp_experiments import packaged_tables, tasks
from dpgp_experiments.arena_methods import CONTESTANTS, DP_EBM
from dpgp_experiments.simulated_tables import FAMILY
from dpgp_experiments.tables import Estimate, Record

TABLES = (
    tasks.BLOOD_PRESSURE, tasks.HEIGHT, tasks.GIRLS, tasks.KUNG, tasks.AIRFOIL, tasks.KIN40K,
)  # fmt: skip
TITLES = {known.key: known.title for known in TABLES}
TITLES |= {simulated.key: simulated.title for simulated in FAMILY}
TITLES |= {packaged.key: packaged.title for packaged in packaged_tables.TABLES}
METHODS = [contestant.name for contestant in (*CONTESTANTS, DP_EBM)]


class RunKey(NamedTuple):
    """What was run: a task, a method, its guarantee, and the seed of split and noise."""

    task: str
    method: str
    epsilon: float
    delta: float
    seed: int


class Run(NamedTuple):
    """One line of the CSV; None where a method gives no distribution.

    Errors are those of held-out rows; the log-likelihood is the mean log density of a target in
    units of the sd of the test targets. Seconds are of processor time, for fit and predictions.
    """

    task: str
    method: str
    epsilon: float
    delta: float
    seed: int
    n_train: int
    n_test: int
    rmse: float
    rmse_over_sd: float
    coverage_50: float | None
    coverage_95: float | None
    log_likelihood: float | None
    seconds: float

    @property
    def key(self) -> RunKey:
        """What was run."""
        return RunKey(*self[:5])

    def record(self) -> Record:
        """Return the columns; empty where there is no distribution."""
        return {name: "" if value is None else value for name, value in self._asdict().items()}

    @classmethod
    def parse(cls, cells: Sequence[str]) -> Run:
        """Read a line back."""
        values: list[Any] = [
            _read_cell(name, cell) for name, cell in zip(cls._fields, cells, strict=True)
        ]
        return cls(*values)


def _read_cell(column: str, cell: str) -> str | int | float | None:
    if column in ("task", "method"):
        return cell
    if column in ("seed", "n_train", "n_test"):
        return int(cell)
    return float(cell) if cell else None


class Store:
    """The runs in a file: what is there is not run again, and a new one is appended at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = {run.key: run for run in self._read()}

    def add(self, run: Run) -> None:
        """Append a run to the file, in one piece."""
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(run.record().values())
        self.runs[run.key] = run

    def ordered(self) -> list[Run]:
        """Return the runs by task, method, ε and seed."""
        known = [run for run in self.runs.values() if run.task in TITLES and run.method in METHODS]
        return sorted(known, key=_place)

    def _read(self) -> list[Run]:
        """Read the file, without a last line that was cut off; start one where there is none."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1] or ",".join(Run._fields) + "\n"
        header, *lines = csv.reader(whole.splitlines())
        try:
            if tuple(header) != Run._fields:
                raise ValueError
            runs = [Run.parse(line) for line in lines]
        except ValueError:
            raise DataError(
                f"'{self.path}' does not hold runs of this comparison; move it away, or choose "
                "another folder with --output."
            ) from None
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return runs


def _place(run: Run) -> tuple[int, int, float, int]:
    return list(TITLES).index(run.task), METHODS.index(run.method), run.epsilon, run.seed


class Group(NamedTuple):
    """Runs that differ in their seed only."""

    task: str
    method: str
    epsilon: float


Groups = dict[Group, list[Run]]


def group(runs: Iterable[Run]) -> Groups:
    """Collect the runs of all seeds."""
    groups: Groups = {}
    for run in runs:
        groups.setdefault(Group(*run[:3]), []).append(run)
    return groups


def estimate(groups: Groups, place: Group, measure: str) -> Estimate | None:
    """Average a measure over seeds; None where there is no such run or no distribution."""
    values = [getattr(run, measure) for run in groups.get(place, [])]
    values = [value for value in values if value is not None]
    return Estimate.of(values) if values else None


def series(groups: Groups, task: str, method: str, measure: str) -> dict[float, Estimate]:
    """Return a measure by ε."""
    epsilons = sorted({place.epsilon for place in groups})
    found = {e: estimate(groups, Group(task, method, e), measure) for e in epsilons}
    return {epsilon: value for epsilon, value in found.items() if value is not None}
