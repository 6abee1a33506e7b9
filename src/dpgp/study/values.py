"""Kinds of values that options have, and how each face gives them: a class for each kind.

Python hands a value over as it is, a command its texts, a study file what stands behind a key, and
a model file JSON. What needs numbers is imported when it is asked for: commands start without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from dpgp.plain_text import LONGEST_NAME, clean_name, is_plain
from dpgp.study.columns import (
    WHY_LEVELS_ARE_PUBLIC,
    WHY_PUBLIC,
    Column,
    LevelColumn,
    checked_classes,
    checked_column,
    checked_levels,
    read_classes,
    read_columns,
    read_level_columns,
)
from dpgp.study.errors import Face, UsageError, Words

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.options import Options

STANDARD_INPUT = "-"
AnyColumn = TypeVar("AnyColumn", Column, LevelColumn)


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

    def columns(self, rule: str) -> dict[str, Any]:
        """Return what stands behind names of columns."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.error(rule)
        return self.value

    def checked(self, read: Callable[[], AnyColumn]) -> AnyColumn:
        """Return a column; an error names the file and the key."""
        try:
            return read()
        except UsageError as error:
            text = f"'{self.path}': `{self.key}`: {error}"
            raise UsageError(Words(text, page=error.on(Face.PAGE))) from None

    def beside(self) -> Path:
        """Return a path as seen from the folder of the study file."""
        return self.path.parent / self.text()


@dataclass(frozen=True)
class Value:
    """A value that Python alone can give; what others read and write differently."""

    reads: ClassVar[Any] = str
    least: ClassVar[int | None] = None
    metavar: str | None = None

    @property
    def type(self) -> Any:
        """What a command reads."""
        return self.reads

    def parsed(self, name: str, value: Any, box: Box) -> Any:
        """Return what Python gave as :class:`~dpgp.options.Options` keep it, checked."""
        return value

    def of_command(self, flag: str, value: Any) -> Any:
        """Return what a command was given as a study keeps it."""
        return value

    def of_entry(self, entry: Entry) -> Any:
        """Return what a study file says as a study keeps it."""
        return entry.text()

    def plain(self, value: Any) -> Any:
        """Return what a study keeps as its file says it."""
        return value

    def in_python(self, value: Any) -> Any:
        """Return what a study keeps as Python gives it."""
        return self.plain(value)

    def setting(self, name: str, options: Options) -> Any:
        """Return what a model file keeps of options."""
        return getattr(options, name)

    def of_setting(self, where: str, value: Any, columns: int) -> Any:
        """Return what a model file keeps as Python gives it; a ModelFileError where it cannot."""
        return value


@dataclass(frozen=True)
class NumberValue(Value):
    """A number; ``positive`` ones may be infinite, others are zero at least."""

    reads: ClassVar[Any] = float
    positive: bool = True

    def of_entry(self, entry: Entry) -> float:
        """Return a number."""
        try:
            return float(entry.text())
        except ValueError:
            raise entry.error(f"must be a number, got '{entry.text()}'") from None

    def setting(self, name: str, options: Options) -> float | str:
        """Return a number, or the word for an infinite one."""
        from dpgp.checked_values import number_to_json

        return number_to_json(getattr(options, name))

    def of_setting(self, where: str, value: Any, columns: int) -> float:
        """Return a number within its limits."""
        from dpgp.checked_values import as_number, as_positive

        if self.positive:
            return as_positive(value, where, infinite=True)
        return as_number(value, where, low=0.0)


@dataclass(frozen=True)
class WholeValue(Value):
    """A whole number, 1 or more."""

    reads: ClassVar[Any] = int
    least: ClassVar[int | None] = 1

    def parsed(self, name: str, value: Any, box: Box) -> int:
        """Return a positive whole number."""
        from dpgp.privacy.arguments import as_count

        return as_count(name, value)

    def of_entry(self, entry: Entry) -> int:
        """Return a positive whole number."""
        text = entry.text()
        if not text.isdecimal() or int(text) < 1:
            raise entry.error(f"must be a whole number, 1 or more, got '{text}'")
        return int(text)

    def of_setting(self, where: str, value: Any, columns: int) -> int:
        """Return a positive whole number."""
        from dpgp.checked_values import as_whole

        return as_whole(value, where)


@dataclass(frozen=True)
class FlagValue(Value):
    """Yes or no."""

    reads: ClassVar[Any] = bool

    def parsed(self, name: str, value: Any, box: Box) -> bool:
        """Return True or False."""
        return as_true_or_false(name, value)

    def of_entry(self, entry: Entry) -> bool:
        """Return True or False."""
        text = entry.text().casefold()
        if text not in ("true", "false"):
            raise entry.error(f"must be true or false, got '{entry.text()}'")
        return text == "true"

    def of_setting(self, where: str, value: Any, columns: int) -> bool:
        """Return True or False."""
        from dpgp.checked_values import as_flag

        return as_flag(value, where)


def as_true_or_false(name: str, value: Any) -> bool:
    """Return an argument that must be one of both."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be True or False, got {type(value).__name__}.")
    return bool(value)


@dataclass(frozen=True)
class ChoiceValue(Value):
    """One of several words, the values of ``kind``, which parses what Python says."""

    kind: Any = Enum

    @property
    def type(self) -> Any:
        """All that may be said."""
        return self.kind

    @property
    def words(self) -> list[str]:
        """All that may be said."""
        return [choice.value for choice in self.kind]

    def parsed(self, name: str, value: Any, box: Box) -> Any:
        """Return the choice."""
        return self.kind.parse(value)

    def of_entry(self, entry: Entry) -> Any:
        """Return the choice."""
        if entry.text() not in self.words:
            raise entry.error(f"must be {' or '.join(self.words)}, got '{entry.text()}'")
        return self.kind(entry.text())

    def plain(self, value: Any) -> str:
        """Return the word, also of what is one."""
        return str(self.kind(value).value)

    def setting(self, name: str, options: Options) -> str:
        """Return the word."""
        return self.plain(getattr(options, name))

    def of_setting(self, where: str, value: Any, columns: int) -> str:
        """Return the word."""
        from dpgp.checked_values import as_choice

        return as_choice(value, where, self.words)


@dataclass(frozen=True)
class LineValue(Value):
    """One line to be published with the model."""

    def of_entry(self, entry: Entry) -> str:
        """Return one line without blanks around its words."""
        text = " ".join(entry.text().split())
        if len(text) > LONGEST_NAME or not is_plain(text):
            raise entry.error(f"must be one line of at most {LONGEST_NAME} characters; shorten it")
        return text


@dataclass(frozen=True)
class ColumnValue(Value):
    """The name of a column."""

    def of_entry(self, entry: Entry) -> str:
        """Return the name in one spelling."""
        return clean_name(entry.text())


@dataclass(frozen=True)
class PathValue(Value):
    """A file, which a study file names as seen from its own folder."""

    reads: ClassVar[Any] = Path

    def of_entry(self, entry: Entry) -> Path:
        """Return the path."""
        return entry.beside()

    def plain(self, value: Path) -> str:
        """Return the path as text."""
        return str(value)


@dataclass(frozen=True)
class TableValue(Value):
    """A table: files, a folder, a pattern of them, or what comes in."""

    def of_entry(self, entry: Entry) -> str:
        """Return where the table is."""
        return entry.text() if entry.text() == STANDARD_INPUT else str(entry.beside())


@dataclass(frozen=True)
class BoundsValue(Value):
    """Columns with public bounds; ``box`` is what options call them together."""

    reads: ClassVar[Any] = list[str]
    box: str = "box"

    def of_command(self, flag: str, value: Any) -> tuple[Column, ...] | None:
        """Read NAME:LOW:HIGH, of each column."""
        return read_columns(flag, value)

    def of_entry(self, entry: Entry) -> tuple[Column, ...]:
        """Return names with their bounds."""
        rule = f"must hold columns with public bounds, as in 'age: [2, 18]'; {WHY_PUBLIC}"
        return tuple(self._column(entry, *item) for item in entry.columns(rule).items())

    def _column(self, entry: Entry, name: str, bounds: Any) -> Column:
        try:
            # text is a sequence too: 18 is not 1 and 8
            low, high = (float(end) for end in (bounds if isinstance(bounds, list) else ()))
        except (TypeError, ValueError):
            raise entry.error(
                f"must give '{name}' two public bounds, as in '{name}: [2, 18]'; {WHY_PUBLIC}"
            ) from None
        return entry.checked(lambda: checked_column(name, low, high))

    def plain(self, value: tuple[Column, ...]) -> dict[str, Any]:
        """Return bounds by name."""
        return {column.name: column.bounds for column in value}

    def in_python(self, value: tuple[Column, ...]) -> Any:
        """Return inputs by name, and targets, which have no names, as pairs."""
        pairs = [column.bounds for column in value]
        if self.box == "box":
            return self.plain(value)
        return pairs[0] if len(pairs) == 1 else pairs

    def setting(self, name: str, options: Options) -> list[list[float] | None]:
        """Return the bounds of every column, null for categories."""
        box = getattr(options, self.box)
        return [
            [float(box.low[k]), float(box.high[k])] if box.category(k) is None else None
            for k in range(len(box.low))
        ]

    def of_setting(self, where: str, value: Any, columns: int) -> Any:
        """Return (low, high), a list of such pairs, a mapping to them by name, or None."""
        from dpgp.checked_values import as_items, as_text, as_vector

        def pair(ends: Any) -> tuple[Any, Any]:
            as_vector(ends, where, 2)
            return ends[0], ends[1]

        if value is None:
            return None
        if isinstance(value, dict):
            return {as_text(name, where): pair(ends) for name, ends in value.items()}
        items = as_items(value, where)
        if any(item is None or isinstance(item, list) for item in items):
            return [None if ends is None else pair(ends) for ends in items]
        return pair(items)


@dataclass(frozen=True)
class LevelsValue(Value):
    """Columns with all their public levels."""

    reads: ClassVar[Any] = list[str]

    def of_command(self, flag: str, value: Any) -> tuple[LevelColumn, ...] | None:
        """Read NAME:LEVEL,LEVEL, of each column."""
        return read_level_columns(value)

    def of_entry(self, entry: Entry) -> tuple[LevelColumn, ...]:
        """Return names with their levels."""
        rule = (
            "must hold columns with public levels, as in 'region: [north, south]'; "
            f"{WHY_LEVELS_ARE_PUBLIC}"
        )
        return tuple(_level_column(entry, *item) for item in entry.columns(rule).items())

    def plain(self, value: tuple[LevelColumn, ...]) -> dict[str, Any]:
        """Return levels by name."""
        return {column.name: column.levels for column in value}

    def in_python(self, value: tuple[LevelColumn, ...]) -> dict[str, Any]:
        """Return levels by name."""
        return {column.name: list(column.levels) for column in value}


@dataclass(frozen=True)
class ClassesValue(Value):
    """The one column of two public classes."""

    def of_command(self, flag: str, value: Any) -> LevelColumn | None:
        """Read NAME:NO,YES."""
        return read_classes(value)

    def of_entry(self, entry: Entry) -> LevelColumn:
        """Return the name with both labels."""
        rule = (
            'must hold one column with its two public labels, as in \'smoker: ["no", '
            f'"yes"]\'; {WHY_LEVELS_ARE_PUBLIC}'
        )
        found = entry.columns(rule)
        if len(found) != 1:
            raise entry.error(rule)
        (column,) = (_level_column(entry, *item) for item in found.items())
        return entry.checked(lambda: checked_classes(column))

    def plain(self, value: LevelColumn) -> dict[str, Any]:
        """Return both labels by name."""
        return {value.name: value.levels}

    def in_python(self, value: LevelColumn) -> list[str]:
        """Return both labels."""
        return list(value.levels)


def _level_column(entry: Entry, name: str, levels: Any) -> LevelColumn:
    if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
        raise entry.error(
            f"must give '{name}' a list of public levels, as in '{name}: [north, south]'; "
            f"{WHY_LEVELS_ARE_PUBLIC}"
        )
    return entry.checked(lambda: checked_levels(name, levels))
