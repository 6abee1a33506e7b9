"""Columns as a command has them: NAME:LOW:HIGH, NAME:LEVEL,LEVEL, NAME:CODE,CODE and NAME:MAX.

Bounds are numbers, or dates as texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dpgp.plain_text import NAME_RULE, clean_name, in_a_line, is_name, of_a_line
from dpgp.study.errors import UsageError

WHY_PUBLIC = "bounds are public knowledge and never read from the data"
WHY_LEVELS_ARE_PUBLIC = "levels are public knowledge and never read from the data"


_COMMAS = '{} that hold a comma are in quotes, as "a, b"; those with a colon need a study file.'

Bound = float | str
"""A number, or a date as ISO 8601 writes it."""


class Column(NamedTuple):
    """A column and its public bounds."""

    name: str
    low: Bound
    high: Bound

    def __str__(self) -> str:
        return f"{self.name}, from {_shown(self.low)} to {_shown(self.high)}"

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The pair (low, high)."""
        return self.low, self.high


class LevelColumn(NamedTuple):
    """A category and its public levels."""

    name: str
    levels: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}, one of the public levels {in_a_line(self.levels)}"


class CodeColumn(NamedTuple):
    """A column and its codes for missing values."""

    name: str
    codes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}, where it says {in_a_line(self.codes)}"


class WeightColumn(NamedTuple):
    """A column of weights, and the largest that counts in full."""

    name: str
    bound: float

    def __str__(self) -> str:
        return f"{self.name}, of which {self.bound:g} counts as one row"


def read_weight(option: str, text: str | None) -> WeightColumn | None:
    """Read the column of ``--weight``; None where there is none."""
    if text is None:
        return None
    name, _, bound = text.rpartition(":")  # names may hold colons
    return checked_weight(name, bound, f"{option} '{text}'")


def checked_weight(name: str, bound: str, where: str) -> WeightColumn:
    """Return a column of weights under its name in one spelling; a UsageError where it is none."""
    try:
        most = float(bound)
    except ValueError:
        most = math.nan
    if not (math.isfinite(most) and most > 0.0 and name):
        raise UsageError(
            f"{where} must end in the public weight of a whole row, as in 'weight:5'; {WHY_PUBLIC}."
        )
    return WeightColumn(_checked_name(name), most)


def read_columns(option: str, texts: Sequence[str] | None) -> tuple[Column, ...] | None:
    """Read the columns of ``--feature`` or ``--target``; None where there are none."""
    return tuple(_read_column(option, text) for text in texts) if texts else None


def read_level_columns(texts: Sequence[str] | None) -> tuple[LevelColumn, ...] | None:
    """Read the columns of ``--category``; None where there are none."""
    return tuple(_read_level_column("--category", text) for text in texts) if texts else None


def read_classes(text: str | None) -> LevelColumn | None:
    """Read the column of ``--classes``; None where there is none."""
    return None if text is None else _read_level_column("--classes", text)


def _read_level_column(option: str, text: str) -> LevelColumn:
    name, colon, levels = text.rpartition(":")  # names may hold colons
    if not colon:
        example = "region:north,south" if option == "--category" else "smoker:no,yes"
        raise UsageError(
            f"{option} '{text}' must end in public levels, as in '{example}'; "
            f"{WHY_LEVELS_ARE_PUBLIC}."
        )
    try:
        return checked_levels(name, of_a_line(levels))
    except ValueError as error:
        raise UsageError(f"{option}: {error} {_COMMAS.format('levels')}") from None


def read_code_columns(option: str, texts: Sequence[str] | None) -> tuple[CodeColumn, ...] | None:
    """Read the columns of ``--missing-code``; None where there are none."""
    columns = tuple(_read_code_column(option, text) for text in texts or ())
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise UsageError(f"{option} has a column twice; write all its codes behind one name.")
    return columns or None


def _read_code_column(option: str, text: str) -> CodeColumn:
    name, colon, codes = text.rpartition(":")  # names may hold colons
    if not colon:
        raise UsageError(f"{option} '{text}' must end in codes, as in 'income:-99,-98'.")
    try:
        return checked_codes(name, of_a_line(codes))
    except ValueError as error:
        raise UsageError(f"{option}: {error} {_COMMAS.format('codes')}") from None


def checked_codes(name: str, codes: Sequence[str]) -> CodeColumn:
    """Return codes under the column's name in one spelling; a UsageError where they are none."""
    from dpgp.missing_codes import Codes

    clean = _checked_name(name)
    try:
        return CodeColumn(clean, tuple(map(str, Codes.of(codes, clean).codes)))
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


def checked_levels(name: str, levels: Sequence[str]) -> LevelColumn:
    """Return a category under its name in one spelling; a UsageError where it cannot be meant."""
    from dpgp.categories import Category

    clean = _checked_name(name)
    try:
        return LevelColumn(clean, Category.of(levels, clean).labels)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


def _checked_name(name: str) -> str:
    if not clean_name(name):
        raise UsageError("a column has no name; write one before its bounds, levels or codes.")
    if not is_name(clean_name(name)):
        raise UsageError(f"a column's name {NAME_RULE}.")
    return clean_name(name)


def checked_column(name: str, low: Bound, high: Bound) -> Column:
    """Return a column under its name in one spelling; a UsageError where it cannot be meant."""
    clean, got = _checked_name(name), f"got {_shown(low)} and {_shown(high)}"
    if isinstance(low, str) != isinstance(high, str):
        raise UsageError(f"the bounds of '{name}' must be two numbers or two dates, {got}.")
    finite = all(isinstance(end, str) or math.isfinite(end) for end in (low, high))
    if not (finite and low < high):  # type: ignore[operator]  # dates are in order as texts
        raise UsageError(f"the bounds of '{name}' must be finite, the lower one first, {got}.")
    return Column(clean, low, high)


def read_bound(text: str) -> Bound:
    """Read a number or a date; a ValueError where it is neither."""
    from dpgp.dates import date_of

    found = date_of(text)
    return float(text) if found is None else found.isoformat()


def _shown(bound: Bound) -> str:
    return bound if isinstance(bound, str) else f"{bound:g}"


def check_distinct(columns: Sequence[Column | LevelColumn]) -> None:
    """Raise where a column is named twice, as a feature, a category or a target."""
    names = [column.name for column in columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"column '{twice[0]}' is named twice; name it once, as input or target.")


def _read_column(option: str, text: str) -> Column:
    # names may hold colons: the bounds are what follows the last two
    name, *ends = text.rsplit(":", 2)
    try:
        low, high = (read_bound(end) for end in ends)
    except ValueError:
        raise UsageError(
            f"{option} '{text}' must end in public bounds, as in 'age:2:18' or "
            f"'visit:2019-01-01:2024-12-31'; {WHY_PUBLIC}."
        ) from None
    return checked_column(name, low, high)
