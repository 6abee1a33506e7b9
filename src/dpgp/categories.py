"""Categories: columns that hold one of a few public levels, each element matched on its own.

A container that chooses a common type lets one missing cell turn 1 into 1.0 for everybody. So an
element is turned into texts on its own, and numbers that are equal are one level, written or not:
1, 1.0, "1" and "1.0". True is 1 as well; the text "true" is 1 where a level is called so.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpgp.numeric import whole_of_decimal
from dpgp.plain_text import in_a_line, is_plain
from dpgp.types import Array

Level = str | int | bool

MOST_LEVELS = 64
"""Most levels of a category: as many as a histogram of an input has bins at best. Each of more
levels would hold too few rows to stand out of the noise."""

MOST_INDICATORS = 100
"""Most indicators of all categories: a metric over them takes memory and noise for every pair."""

LONGEST_LEVEL = 200
FIRST_UNSAFE_FLOAT = 2.0**53  # from here on two whole numbers may be one float
_FIRST_LONG = 2**63
_WRITTEN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
_TRUTH = {"true": True, "false": False}

WHY_PUBLIC = "levels are public knowledge and cannot be read from the data, which would leak it"


@dataclass(frozen=True)
class Category:
    """The public levels of a column. A level is known by its number, from 0, in this order."""

    levels: tuple[Level, ...]
    cells: ClassVar[str] = "its public levels"
    other_cells: ClassVar[str] = "none of its public levels"

    @classmethod
    def of(cls, levels: Any, column: Any) -> Category:
        """Read a list of levels; an error that names the column where they cannot be meant."""
        return cls.named(levels, f"`categories` of column {column!r}")

    @classmethod
    def named(cls, levels: Any, where: str) -> Category:
        """Read a list of levels that messages speak of as ``where``."""
        category = cls._listed(levels, where)
        if sum(len(keys_of_level(level)) for level in category.levels) > len(category._numbers):
            raise ValueError(
                f"{where} must hold different levels, and two of them match the same cells: blanks "
                'around a text do not count, and 1, 1.0, "1", "1.0" and True are one level.'
            )
        return category

    @classmethod
    def saved(cls, levels: Any, where: str) -> Category:
        """Read levels of a model's file, of which earlier versions told "1" and "1.0" apart."""
        category = cls._listed(levels, where)
        if len(set(category.labels)) < len(category.levels):
            raise ValueError(f"{where} must hold different levels.")
        return category

    @classmethod
    def _listed(cls, levels: Any, where: str) -> Category:
        listed = listed_levels(levels)
        if listed is None:
            raise TypeError(f"{where} must be a list of levels, got {type(levels).__name__}.")
        if not 2 <= len(listed) <= MOST_LEVELS:
            raise ValueError(
                f"{where} must hold 2 to {MOST_LEVELS} levels, got {len(listed)}; put rare ones "
                "together, or leave the column out."
            )
        return cls(tuple(_checked(level, where) for level in listed))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Numbers of levels by the texts that mean them; a level's own spelling is its own."""
        keys = [keys_of_level(level) for level in self.levels]
        own = {key: k for k, (key, *_) in enumerate(keys)}
        return {key: k for k, (_, *others) in enumerate(keys) for key in others} | own

    @property
    def keys(self) -> frozenset[str]:
        """The texts that mean any of the levels."""
        return frozenset(self._numbers)

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels as text."""
        return tuple(str(level) for level in self.levels)

    @property
    def words(self) -> str:
        """All levels in one line."""
        return in_a_line(self.labels)

    @property
    def hot(self) -> Array:
        """Numbers of the levels that have an indicator: all, or of two the second."""
        first = 1 if len(self.levels) == 2 else 0
        return np.arange(float(first), float(len(self.levels)))

    def number(self, element: Any, decimal: str = ".") -> float:
        """Return the number of the level that one element is; NaN where it is none.

        ``decimal`` is the mark in numbers that are written as text.
        """
        keys = level_keys(element, decimal)
        return next((self._numbers[key] for key in keys if key in self._numbers), np.nan)

    def numbers(self, elements: Iterable[Any], decimal: str = ".") -> Array:
        """Return the number of every element's level; each depends on that element alone."""
        return np.array([self.number(element, decimal) for element in elements], dtype=np.float64)


Categories = tuple[Category | None, ...]
"""One entry a column, None for columns of numbers; empty where no column is a category."""


def read_categories(categories: Any, names: Sequence[str] | None, columns: int) -> Categories:
    """Read a mapping from names, or positions from 0, to levels."""
    if categories is None:
        return ()
    if not isinstance(categories, Mapping):
        raise TypeError(
            "`categories` must be a mapping from columns to lists of levels, got "
            f"{type(categories).__name__}: {WHY_PUBLIC}."
        )
    found: list[Category | None] = [None] * columns
    for key, levels in categories.items():
        position = _position(key, names, columns)
        if found[position] is not None:
            raise ValueError(f"`categories` has the column {key!r} twice; name it once.")
        found[position] = Category.of(levels, key)
    check_indicators(found)
    return tuple(found) if any(found) else ()


def check_indicators(categories: Iterable[Category | None]) -> None:
    """Raise where all categories together have too many levels."""
    indicators = sum(len(category.hot) for category in categories if category is not None)
    if indicators > MOST_INDICATORS:
        raise ValueError(
            f"`categories` must have at most {MOST_INDICATORS} levels in all, two of which count "
            f"as one where there are no others, got {indicators}; put rare ones together."
        )


def level_keys(element: Any, decimal: str = ".") -> Iterator[str]:
    """Yield the texts by which one element may be known as a level; none for what can be none.

    Its own spelling comes first. All spellings of a number, or of true and false, have one text.
    """
    if isinstance(element, str):
        text = clean_text(element)
        yield text
        if text.casefold() in _TRUTH:
            yield str(_TRUTH[text.casefold()])
        elif (number := written_number(text, decimal)) is not None:
            yield number
    elif isinstance(element, bool | np.bool_):
        yield str(bool(element))
        yield str(int(element))
    elif (number := _number_key(element)) is not None:
        yield number


def keys_of_level(level: Level | float) -> tuple[str, ...]:
    """Return the texts that mean a level, each once: one that is called true is 1, too."""
    keys = list(level_keys(level))
    if isinstance(level, str) and level.casefold() in _TRUTH:
        keys.append(str(int(_TRUTH[level.casefold()])))
    return tuple(dict.fromkeys(keys))


def written_number(text: str, decimal: str) -> str | None:
    """Return the one text of a number that is written with this mark; None for all else."""
    if decimal != ".":
        text = "" if "." in text else text.replace(decimal, ".")
    is_number = len(text) <= LONGEST_LEVEL and _WRITTEN_NUMBER.fullmatch(text)
    return _number_key(Decimal(text)) if is_number else None


def _number_key(element: Any) -> str | None:
    """Return one text for equal numbers: the digits of a whole one, else those of its double."""
    whole = _level_number(element)
    if whole is not None:
        return str(whole)
    is_decimal = isinstance(element, Decimal) and element.is_finite()
    if not is_decimal and not isinstance(element, float | np.floating):
        return None
    value = float(element)
    return repr(value) if math.isfinite(value) and not value.is_integer() else None


def clean_text(text: str) -> str:
    """Return a text in one spelling: composed characters, no blanks around."""
    return unicodedata.normalize("NFC", str.strip(text))


def whole_number(element: Any) -> int | None:
    """Return a whole number that its type can hold exactly, None for all else."""
    if isinstance(element, np.timedelta64):  # to NumPy a span of time is a whole number
        return None
    if isinstance(element, int | np.integer):
        return int(element)
    if isinstance(element, float | np.floating):
        value = float(element)
        return int(value) if value.is_integer() and abs(value) < FIRST_UNSAFE_FLOAT else None
    return whole_of_decimal(element) if isinstance(element, Decimal) else None


def _level_number(element: Any) -> int | None:
    number = whole_number(element)
    return None if number is None or abs(number) >= _FIRST_LONG else number


def listed_levels(levels: Any) -> list[Any] | None:
    """Return what a list, an array or a column holds; None for anything else."""
    if isinstance(levels, list | tuple | range):
        return list(levels)
    for method in ("tolist", "to_list"):  # NumPy and pandas, polars
        if hasattr(levels, method) and getattr(levels, "ndim", 1) == 1:
            return list(getattr(levels, method)())
    return None


def published_text(text: str, where: str, what: str) -> str:
    """Return a text that is published as it is compared; an error where it cannot be printed."""
    cleaned = clean_text(text)
    if not cleaned or len(cleaned) > LONGEST_LEVEL or not is_plain(cleaned):
        raise ValueError(
            f"{where} must hold texts of 1 to {LONGEST_LEVEL} characters, without line breaks, "
            f"control characters or marks of writing direction; {what} are published."
        )
    return cleaned


def _checked(level: Any, where: str) -> Level:
    if isinstance(level, str):
        return published_text(level, where, "levels")
    if isinstance(level, bool | np.bool_):
        return bool(level)
    number = _level_number(level)
    if number is None:
        raise TypeError(
            f"{where} must hold texts, whole numbers, or True and False, got an element of type "
            f"{type(level).__name__} that is none; leave out what stands for missing cells."
        )
    return number


def _position(key: Any, names: Sequence[str] | None, columns: int) -> int:
    if isinstance(key, str) and names is not None and key in names:
        return list(names).index(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < columns:
        return int(key)
    rule = (
        f"`X` has no column names: give positions from 0 to {columns - 1}"
        if names is None
        else "write the names as the data frame has them"
    )
    raise ValueError(f"`categories` has a column {key!r} that is not there; {rule}.")
