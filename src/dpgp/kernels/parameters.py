"""What a kernel declares of its fields: words, weak priors, and how a file gives them.

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
from typing import Any

import numpy as np

from dpgp.checked_values import (
    ModelFileError,
    as_items,
    as_number,
    as_positive,
    as_vector,
    number_to_json,
)

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


Within = Callable[[Any, int], Any]
"""Reads a kernel that is part of another one, on so many inputs."""


@dataclass(frozen=True)
class Parameter:
    """A positive number, or one an input, that is learned if it is not fixed."""

    word: str
    measure: Measure
    log_median: Callable[[int], float] | None = None
    log_sd: float = LOG_OTHER_SD
    may_be_zero: bool = False
    per_input: bool = False

    def log_prior(self, name: str, value: float, columns: int) -> tuple[float, float]:
        """Return mean and standard deviation of the logarithm, for a kernel on so many inputs."""
        if self.log_median is not None:
            return self.log_median(columns), self.log_sd
        if not value > 0.0:
            raise ValueError(
                f"`kernel`: {name} must be positive to be learned, got {value}; to keep it, "
                f'give {name}_bounds="fixed".'
            )
        return math.log(value), self.log_sd

    def write(self, value: Any) -> Any:
        """Return the number, or the list of numbers."""
        return number_to_json(value) if np.ndim(value) == 0 else [*map(number_to_json, value)]

    def read(self, value: Any, where: str, columns: int, within: Within) -> Any:
        """Return the number, or one an input."""
        if isinstance(value, list) and self.per_input:
            lengths = as_vector(value, where, columns)
            if not np.all(lengths > 0.0):
                raise ModelFileError(f"`{where}` must be positive.")
            return lengths
        return as_number(value, where, low=0.0) if self.may_be_zero else as_positive(value, where)


@dataclass(frozen=True)
class Constant:
    """What is never learned; ``reader`` checks what a file has of it, for so many inputs."""

    reader: Callable[[Any, str, int], Any]
    write: Callable[[Any], Any] = number_to_json

    def read(self, value: Any, where: str, columns: int, within: Within) -> Any:
        """Return what was checked."""
        return self.reader(value, where, columns)


@dataclass(frozen=True)
class Part:
    """A kernel within, or with ``per_input`` one for each input."""

    per_input: bool = False

    def read(self, value: Any, where: str, columns: int, within: Within) -> Any:
        """Return the kernel, or all of them."""
        if not self.per_input:
            return within(value, columns)
        kernels = as_items(value, where)
        if len(kernels) != columns:
            raise ModelFileError(f"`{where}` must have one kernel for each of {columns} inputs.")
        return tuple(within(kernel, 1) for kernel in kernels)


@dataclass(frozen=True)
class Learned:
    """One entry of θ: scikit-learn's name, words, what it measures, the input it belongs to."""

    name: str
    words: str
    measure: Measure
    column: int | None = None
