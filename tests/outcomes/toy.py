"""A kind of outcome that dpgp does not have, as somebody would add it: this file, and a line.

A grade is given in halves between public bounds that hold, so nothing is clipped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpgp import PrivateGPRegressor
from dpgp.outcomes.base import Location
from dpgp.outcomes.number import Number, ScaledLaw


@dataclass(frozen=True)
class LawOfHalves(ScaledLaw):
    """The law of observations that are multiples of one half."""

    def at(self, t):
        """Return values that can be observed, t scaled residuals from the mean."""
        return np.rint(2.0 * super().at(t)) / 2.0


@dataclass(frozen=True)
class Grade(Number):
    """A grade: what it decides differently from a number."""

    option: ClassVar[str | None] = "grades"
    file_format: ClassVar[int] = 4
    is_clipped: ClassVar[bool] = False
    location: ClassVar[Location | None] = Location(0.0, 0.5, has_two_values=True)
    log_noise: ClassVar[tuple[float, float]] = math.log(0.3), 0.4
    explainable: ClassVar[tuple[float, float]] = 0.1, 0.6
    cannot_be_told: ClassVar[Mapping[str, str]] = {"noise_std": "`noise_std` of grades is known."}
    why_no_export: ClassVar[str | None] = "models of grades have no export."
    scaled_law: ClassVar[type[ScaledLaw]] = LawOfHalves
    title: ClassVar[str] = "A model of grades under differential privacy"
    mean_word: ClassVar[str] = "average grade"
    prediction_columns: ClassVar[tuple[str, ...]] = ("grade", "spread", "from", "to")

    def mean_of(self, name):
        """Return what a mean is of."""
        return f"grade of {name}"

    def decimals(self, noise):
        """Return the digits of a half."""
        return 1


class GradeRegressor(PrivateGPRegressor):
    """How a user asks for it in Python: a flag of the name of its option."""

    def __init__(
        self, epsilon=1.0, delta=1e-6, *, bounds=None, target_bounds=None, grades=True,
        random_state=None,
    ):  # fmt: skip
        super().__init__(
            epsilon, delta, bounds=bounds, target_bounds=target_bounds, random_state=random_state
        )
        self.grades = grades
