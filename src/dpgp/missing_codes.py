"""Codes for missing values, such as −99 or "refused": public, and declared column by column.

A cell that is a code is missing before bounds or levels are looked at; what happens to its row says
:class:`dpgp.choices.Missing`. Every cell is compared on its own. Equal numbers are equal codes,
written or not: −99, −99.0 and "-99". Texts are compared as levels are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.categories import (
    clean_text,
    keys_of_level,
    level_keys,
    listed_levels,
    published_text,
    written_number,
)
from dpgp.types import Array

Code = str | int | float

MOST_CODES = 64
"""Most codes of a column, as many as levels of a category: they are published with a model."""


@dataclass(frozen=True)
class Codes:
    """The codes of one column; none by default."""

    codes: tuple[Code, ...] = ()

    @classmethod
    def of(cls, codes: Any, column: Any) -> Codes:
        """Read a list of codes; an error that names the column where they cannot be meant."""
        where = f"`missing_codes` of column {column!r}"
        listed = listed_levels(codes)
        if listed is None:
            raise TypeError(f"{where} must be a list of codes, got {type(codes).__name__}.")
        if not 1 <= len(listed) <= MOST_CODES:
            raise ValueError(f"{where} must hold 1 to {MOST_CODES} codes, got {len(listed)}.")
        return cls(tuple(_checked(code, where) for code in listed))

    def __bool__(self) -> bool:
        return bool(self.codes)

    @cached_property
    def numbers(self) -> Array:
        """Codes that are numbers, and what they are in columns of 32-bit floats."""
        numbers = np.array([x for x in map(_number_of, self.codes) if x is not None])
        with np.errstate(over="ignore"):
            both = np.concatenate([numbers, numbers.astype(np.float32).astype(np.float64)])
        return np.unique(both[np.isfinite(both)])

    @cached_property
    def texts(self) -> frozenset[str]:
        """Codes that are no numbers."""
        return frozenset(str(code) for code in self.codes if _number_of(code) is None)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The texts by which a cell is known as a code."""
        keys = (keys_of_level(code) for code in self.codes)
        return frozenset(key for several in keys for key in several)

    def has(self, cell: Any, decimal: str = ".") -> bool:
        """Return whether one cell is a code; ``decimal`` is the mark in written numbers."""
        return any(key in self.keys for key in level_keys(cell, decimal))

    def has_text(self, cell: Any) -> bool:
        """Return whether one cell is a code that is no number."""
        return isinstance(cell, str) and clean_text(cell) in self.texts

    def without(self, numbers: Array) -> Array:
        """Return numbers, NaN for those that are codes."""
        return np.where(np.isin(numbers, self.numbers), np.nan, numbers)


NO_CODES = Codes()


@dataclass(frozen=True)
class ColumnCodes:
    """The codes of all inputs and all targets; no entries where no column has codes."""

    inputs: tuple[Codes, ...] = ()
    targets: tuple[Codes, ...] = ()

    def of_input(self, column: int) -> Codes:
        """Return the codes of an input."""
        return self.inputs[column] if self.inputs else NO_CODES

    def of_target(self, column: int) -> Codes:
        """Return the codes of a target."""
        return self.targets[column] if self.targets else NO_CODES

    @property
    def in_order(self) -> list[list[Code] | None] | None:
        """The codes of inputs and then of targets, None for columns that have none."""
        every = [list(codes.codes) or None for codes in (*self.inputs, *self.targets)]
        return every if any(every) else None


NOWHERE = ColumnCodes()


def _checked(code: Any, where: str) -> Code:
    if isinstance(code, str):
        return _with_hyphen(published_text(code, where, "codes"))
    if isinstance(code, int | np.integer) and not isinstance(code, bool) and _is_finite(code):
        return int(code)
    if isinstance(code, float | np.floating) and math.isfinite(code):
        return float(code)
    raise TypeError(
        f"{where} must hold texts or finite numbers, got an element of type {type(code).__name__} "
        "that is none; what is empty or NaN is missing without a code."
    )


def _with_hyphen(text: str) -> str:
    """Return a number that is printed with a minus, as in a codebook, as tables write it."""
    hyphen = text.replace("\N{MINUS SIGN}", "-")
    return text if written_number(hyphen, ".") is None else hyphen


def _is_finite(code: Any) -> bool:
    try:
        return math.isfinite(float(code))
    except OverflowError:
        return False


def _number_of(code: Code) -> float | None:
    if not isinstance(code, str):
        return float(code)
    written = written_number(code, ".")
    return None if written is None else float(written)
