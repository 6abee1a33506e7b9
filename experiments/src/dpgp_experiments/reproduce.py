"""``dpgp reproduce``: run an experiment, print its table, save its figure and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import Progress

from dpgp.cli.output import make_folder, plain_errors, print_files, print_table
from dpgp_experiments import REGISTRY

T = TypeVar("T")

EXPERIMENTS = "\n\n".join(f"{name}: {chosen.summary}" for name, chosen in REGISTRY.items())


def _known(name: str) -> str:
    if name not in REGISTRY:
        raise typer.BadParameter(f"'{name}' is not an experiment; choose {' or '.join(REGISTRY)}.")
    return name


def reproduce(
    experiment: Annotated[
        str, typer.Argument(help=EXPERIMENTS, callback=_known, autocompletion=lambda: REGISTRY)
    ],
    output: Annotated[Path, typer.Option(help="Folder for the figure and the numbers.")] = Path(
        "results"
    ),
    repeats: Annotated[
        int | None, typer.Option(min=2, help="Repeats to average over; the paper's by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of data and noise.")] = 0,
    data: Annotated[
        list[Path] | None,
        typer.Option(help="CSV file of real data; repeat for several.", show_default=False),
    ] = None,
    part: Annotated[
        str, typer.Option(help="One part of a long experiment.", show_default=False)
    ] = "",
) -> None:
    """Run an experiment of the paper, or one of ours, with seeded noise: nothing here is private.

    Example:

    dpgp reproduce illustration --repeats 10 --output results
    """
    from dpgp_experiments.outcome import Assignment

    console, chosen = Console(), REGISTRY[experiment]
    if data and not chosen.reads_files:
        raise typer.BadParameter(f"'{experiment}' simulates its data; leave --data out.")
    if part and part not in chosen.parts:
        known = f"choose {' or '.join(chosen.parts)}" if chosen.parts else "leave --part out"
        raise typer.BadParameter(f"'{experiment}' has no part '{part}'; {known}.")
    with plain_errors():
        make_folder(output)
        with Progress(console=Console(stderr=True), transient=True) as progress:

            def track(items: Sequence[T]) -> Iterable[T]:
                return progress.track(items, description=experiment)

            assignment = Assignment(
                repeats or chosen.repeats, seed, track, data or (), output, part
            )
            outcome = chosen.load()(assignment)
        files = outcome.save(output, f"{experiment}-{part}" if part else experiment)
    print_table(console, outcome.table)
    print_files(console, files)
