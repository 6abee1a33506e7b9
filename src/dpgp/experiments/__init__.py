"""The paper's experiments and our own, one module each, found by name and imported when asked for.

An experiment is a module with ``run(request)``, which takes
:class:`~dpgp.experiments.outcome.Request` and returns an
:class:`~dpgp.experiments.outcome.Outcome`, and one entry in ``REGISTRY``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgp.experiments.outcome import Outcome, Request


class DataError(RuntimeError):
    """Data that an experiment needs cannot be had; the message names the remedy."""


@dataclass(frozen=True)
class Entry:
    """Where an experiment lives, what it shows, its default repeats, and whether it reads files."""

    module: str
    summary: str
    repeats: int
    reads_files: bool = False

    def load(self) -> Callable[[Request], Outcome]:
        """Import the experiment and return its ``run``."""
        run: Callable[[Request], Outcome] = import_module(self.module).run
        return run


REGISTRY = {
    "illustration": Entry(
        "dpgp.experiments.illustration", "HM21 §5.1: one function at four levels of privacy", 40
    ),
    "calibration": Entry(
        "dpgp.experiments.calibration", "HM21 §5.2: do the intervals cover what they promise?", 40
    ),
    "hyperparameters": Entry(
        "dpgp.experiments.hyperparameters", "HM21 §5.3: hyperparameters by private selection", 100
    ),
    "growth": Entry(
        "dpgp.experiments.growth",
        "HM21 §5.4: the height of girls, with DP-BBB and PrivateGPRegressor",
        100,
        reads_files=True,
    ),
    "successor": Entry(
        "dpgp.experiments.successor",
        "PrivateGPRegressor on all of these, and on real people",
        20,
        reads_files=True,
    ),
    "outcomes": Entry(
        "dpgp.experiments.outcomes", "Outcomes and columns that are not Gaussian or uniform", 5
    ),
    "arena": Entry(
        "dpgp.experiments.arena",
        "PrivateGPRegressor beside what users would pick instead",
        5,
        reads_files=True,
    ),
}
