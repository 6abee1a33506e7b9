"""The paper's experiments and our own, one module each, found by name and imported when asked for.

An experiment is a module with ``run(repeats, seed, track)`` that returns an
:class:`~dpgp.experiments.outcome.Outcome`, and one entry in ``REGISTRY``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgp.experiments.outcome import Outcome, Track


class DataError(RuntimeError):
    """Data that an experiment needs cannot be had; the message names the remedy."""


@dataclass(frozen=True)
class Entry:
    """Where an experiment lives, what it shows, and how often it is repeated by default."""

    module: str
    summary: str
    repeats: int

    def load(self) -> Callable[[int, int, Track], Outcome]:
        """Import the experiment and return its ``run``."""
        run: Callable[[int, int, Track], Outcome] = import_module(self.module).run
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
    "successor": Entry(
        "dpgp.experiments.successor", "PrivateGPRegressor on all of these, and on real people", 20
    ),
}
