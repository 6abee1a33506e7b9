"""What stands behind a key of a study file, read as text and checked; errors name file and key."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dpgp.plain_text import LONGEST_NAME, clean_name, is_plain
from dpgp.study.columns import (
    WHY_LEVELS_ARE_PUBLIC,
    WHY_PUBLIC,
    CodeColumn,
    Column,
    LevelColumn,
    WeightColumn,
    checked_codes,
    checked_column,
    checked_levels,
    checked_weight,
    read_bound,
)
from dpgp.study.errors import Face, UsageError, Words

STANDARD_INPUT = "-"
AnyColumn = TypeVar("AnyColumn", Column, LevelColumn, CodeColumn, WeightColumn)


@dataclass(frozen=True)
class Entry:
    """A key of a study file and what stands behind it, which is public."""

    path: Path
    key: str
    value: Any

    def error(self, rule: str) -> UsageError:
        """Return an error that names the file and the key; a page has marked the field itself."""
        return UsageError(Words(f"'{self.path}': `{self.key}` {rule}.", page=f"{rule}."))

    def text(self) -> str:
        """Return the value as text."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error("needs one value behind the colon; write it, or remove the line")
        return self.value.strip()

    def line(self) -> str:
        """Return the value as one line to be published with the model."""
        text = " ".join(self.text().split())
        if len(text) > LONGEST_NAME or not is_plain(text):
            raise self.error(f"must be one line of at most {LONGEST_NAME} characters; shorten it")
        return text

    def name(self) -> str:
        """Return the value as the name of a column, in one spelling."""
        return clean_name(self.text())

    def number(self) -> float:
        """Return the value as a number."""
        try:
            return float(self.text())
        except ValueError:
            raise self.error(f"must be a number, got '{self.text()}'") from None

    def count(self) -> int:
        """Return the value as a positive whole number."""
        text = self.text()
        if not text.isdecimal() or int(text) < 1:
            raise self.error(f"must be a whole number, 1 or more, got '{text}'")
        return int(text)

    def flag(self) -> bool:
        """Return the value as yes or no."""
        text = self.text().casefold()
        if text not in ("true", "false"):
            raise self.error(f"must be true or false, got '{self.text()}'")
        return text == "true"

    def beside(self) -> Path:
        """Return a path as seen from the folder of the study file."""
        return self.path.parent / self.text()

    def source(self) -> str:
        """Return where the table is."""
        return self.text() if self.text() == STANDARD_INPUT else str(self.beside())

    def columns(self, rule: str, most: int | None = None) -> list[tuple[str, Any]]:
        """Return names of columns and what stands behind them, in a list that may be bounded."""
        if not isinstance(self.value, dict) or not 1 <= len(self.value) <= (most or math.inf):
            raise self.error(rule)
        return list(self.value.items())

    def checked(self, read: Callable[[], AnyColumn]) -> AnyColumn:
        """Return a column; an error names the file and the key."""
        try:
            return read()
        except UsageError as error:
            text = f"'{self.path}': `{self.key}`: {error}"
            raise UsageError(Words(text, page=error.on(Face.PAGE))) from None


def bounds_of(entry: Entry) -> tuple[Column, ...]:
    """Return columns with bounds of a study file."""
    rule = f"must hold columns with public bounds, as in 'age: [2, 18]'; {WHY_PUBLIC}"

    def column(name: str, bounds: Any) -> Column:
        try:
            # text is a sequence too: 18 is not 1 and 8
            low, high = (read_bound(end) for end in (bounds if isinstance(bounds, list) else ()))
        except (TypeError, ValueError):
            raise entry.error(
                f"must give '{name}' two public bounds, as in '{name}: [2, 18]'; {WHY_PUBLIC}"
            ) from None
        return entry.checked(lambda: checked_column(name, low, high))

    return tuple(column(*item) for item in entry.columns(rule))


def levels_of(entry: Entry) -> tuple[LevelColumn, ...]:
    """Return columns with levels of a study file."""
    rule = "must hold columns with public levels, as in 'region: [north, south]'"
    found = entry.columns(f"{rule}; {WHY_LEVELS_ARE_PUBLIC}")
    return tuple(_level_column(entry, *item) for item in found)


def classes_of(entry: Entry) -> LevelColumn:
    """Return the one column of classes of a study file."""
    rule = 'must hold one column with its public labels, as in \'smoker: ["no", "yes"]\''
    ((name, levels),) = entry.columns(f"{rule}; {WHY_LEVELS_ARE_PUBLIC}", most=1)
    return _level_column(entry, name, levels)


def codes_of(entry: Entry) -> tuple[CodeColumn, ...]:
    """Return columns with codes for missing values of a study file."""

    def column(name: str, codes: Any) -> CodeColumn:
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise entry.error(f"must give '{name}' a list of codes, as in '{name}: [-99, -98]'")
        return entry.checked(lambda: checked_codes(name, codes))

    found = entry.columns("must hold columns with codes, as in 'income: [-99, -98]'")
    return tuple(column(*item) for item in found)


def weight_of(entry: Entry) -> WeightColumn:
    """Return the one column of weights of a study file."""
    rule = "must hold one column with the weight of a whole row, as in 'weight: 5'"
    ((name, bound),) = entry.columns(f"{rule}; {WHY_PUBLIC}", most=1)
    return entry.checked(lambda: checked_weight(name, str(bound), f"'{name}'"))


def _level_column(entry: Entry, name: str, levels: Any) -> LevelColumn:
    if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
        raise entry.error(
            f"must give '{name}' a list of public levels, as in '{name}: [north, south]'; "
            f"{WHY_LEVELS_ARE_PUBLIC}"
        )
    return entry.checked(lambda: checked_levels(name, levels))
