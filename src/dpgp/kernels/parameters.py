"""Hyperparameters: their weak priors, in units of the public bounds, and their words.

Inputs and targets are scaled to [−1, 1] by their public bounds; every prior is Gaussian on the
logarithm. A length or a period has the median 0.5·√D and a standard deviation of a factor 2.2; the
variance of a constant has the median 0.3² and a factor 4; anything else has its value in the given
kernel as its median, and a factor 2.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

# Weak priors, set by hand: bounds tell the order of magnitude and no more
MEDIAN_LENGTH = 0.5  # half-widths of the box, in one dimension
MEDIAN_DEVIATION = 0.3  # half-widths of the target: functions that stay within the bounds
LOG_LENGTH_SD, LOG_VARIANCE_SD, LOG_OTHER_SD = 0.8, 1.4, 1.0  # factors 2.2, 4 and 2.7


class Measure(Enum):
    """What a number measures, so that a report can give it a unit."""

    LENGTH = "along an input"
    VARIANCE = "a variance of the function"
    DEVIATION = "a standard deviation of the function"
    NUMBER = "nothing that has a unit"


def median_length(columns: int) -> float:
    """Return 0.5·√D: distances in a box grow with the root of its dimension."""
    return MEDIAN_LENGTH * math.sqrt(columns)


def half_ranges(columns: int) -> float:
    """Return log(0.5·√D), the median of the logarithm of a length."""
    return math.log(median_length(columns))


def third_of_the_range(columns: int) -> float:
    """Return log 0.3², the variance of functions that stay within the public bounds."""
    return 2 * math.log(MEDIAN_DEVIATION)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: what scikit-learn calls it, what it measures, its prior."""

    name: str
    word: str
    measure: Measure
    log_median: Callable[[int], float] | None = None
    log_sd: float = LOG_OTHER_SD
    may_be_zero: bool = False
    per_input: bool = False

    def log_prior(self, value: float, columns: int) -> tuple[float, float]:
        """Return mean and standard deviation of the logarithm, for a kernel on so many inputs."""
        if self.log_median is not None:
            return self.log_median(columns), self.log_sd
        if not value > 0.0:
            raise ValueError(
                f"`kernel`: {self.name} must be positive to be learned, got {value}; to keep it, "
                f'give {self.name}_bounds="fixed".'
            )
        return math.log(value), self.log_sd


@dataclass(frozen=True)
class Learned:
    """One entry of θ: scikit-learn's name, words, what it measures, the input it belongs to."""

    name: str
    words: str
    measure: Measure
    column: int | None = None
