"""Kinds of values that options have, and how each face gives them: a class for each kind.

Python hands a value over as it is, a command its texts, a study file what stands behind a key, and
a model file JSON. What needs numbers is imported when it is asked for: commands start without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dpgp.privacy.arguments import as_choice, as_count, as_finite_positive
from dpgp.study.columns import (
    CodeColumn,
    Column,
    LevelColumn,
    WeightColumn,
    read_classes,
    read_code_columns,
    read_columns,
    read_level_columns,
    read_weight,
)
from dpgp.study.entries import Entry, bounds_of, classes_of, codes_of, levels_of, weight_of

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.missing_codes import ColumnCodes
    from dpgp.options import Options
    from dpgp.prior_model import PriorModel


@dataclass(frozen=True)
class Value:
    """A text, or what Python alone can give; kinds of values say what they do differently.

    ``metavar`` stands for it in the help of a command, which reads ``type``, not below ``least``;
    ``entry`` reads it from a study file.
    """

    metavar: str | None = None
    type: Any = str
    entry: Callable[[Entry], Any] = Entry.text
    least: int | None = None
    is_parsed: ClassVar[bool] = True
    """Whether options keep it under its name; else as a part of something larger, or not at all."""

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> Any:
        """Return what Python gave as :class:`~dpgp.options.Options` keep it, checked."""
        return value

    def of_command(self, flag: str, value: Any) -> Any:
        """Return what a command was given as a study keeps it."""
        return value

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

    type: Any = float
    entry: Callable[[Entry], Any] = Entry.number
    positive: bool = True

    def setting(self, name: str, options: Options) -> float | str:
        """Return a number, or the word for an infinite one."""
        from dpgp.checked_values import number_to_json

        return number_to_json(getattr(options, name))

    def of_setting(self, where: str, value: Any, columns: int) -> float:
        from dpgp.checked_values import as_number, as_positive

        if self.positive:
            return as_positive(value, where, infinite=True)
        return as_number(value, where, low=0.0)


@dataclass(frozen=True)
class WholeValue(Value):
    """A whole number, 1 or more."""

    type: Any = int
    entry: Callable[[Entry], Any] = Entry.count
    least: int | None = 1

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> int:
        return as_count(name, value)

    def of_setting(self, where: str, value: Any, columns: int) -> int:
        from dpgp.checked_values import as_whole

        return as_whole(value, where)


@dataclass(frozen=True)
class FlagValue(Value):
    """Yes or no."""

    type: Any = bool
    entry: Callable[[Entry], Any] = Entry.flag

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> bool:
        return as_true_or_false(name, value)

    def of_setting(self, where: str, value: Any, columns: int) -> bool:
        from dpgp.checked_values import as_flag

        return as_flag(value, where)


def as_true_or_false(name: str, value: Any) -> bool:
    """Return an argument that must be one of both."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be True or False, got {type(value).__name__}.")
    return bool(value)


class ChoiceValue(Value):
    """One of several words, the values of an enumeration, which Python may name too."""

    def __init__(self, kind: Any) -> None:
        words = [choice.value for choice in kind]

        def chosen(entry: Entry) -> Any:
            if entry.text() not in words:
                raise entry.error(f"must be {' or '.join(words)}, got '{entry.text()}'")
            return kind(entry.text())

        super().__init__(type=kind, entry=chosen)

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> Any:
        return as_choice(name, self.type, value)

    def plain(self, value: Any) -> str:
        """Return the word, also of what is one."""
        return str(self.type(value).value)

    def setting(self, name: str, options: Options) -> str:
        return self.plain(getattr(options, name))

    def of_setting(self, where: str, value: Any, columns: int) -> str:
        from dpgp.checked_values import as_choice

        return as_choice(value, where, [choice.value for choice in self.type])


@dataclass(frozen=True)
class PathValue(Value):
    """A file, which a study file names as seen from its own folder."""

    type: Any = Path
    entry: Callable[[Entry], Any] = Entry.beside

    def plain(self, value: Path) -> str:
        return str(value)


@dataclass(frozen=True)
class ModelValue(PathValue):
    """An earlier model; Python may hand over the model itself. A model file keeps its name."""

    metavar: str | None = "FILE"

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> PriorModel | None:
        from dpgp.prior_model import PriorModel

        return None if value is None else PriorModel.of(value)

    def setting(self, name: str, options: Options) -> str | None:
        return None if options.prior_model is None else options.prior_model.id

    def of_setting(self, where: str, value: Any, columns: int) -> PriorModel:
        from dpgp.checked_values import as_text
        from dpgp.prior_model import PriorModel

        return PriorModel(as_text(value, where))


@dataclass(frozen=True)
class BoundsValue(Value):
    """Columns with public bounds; ``box`` is what options call them together."""

    metavar: str | None = "NAME:LOW:HIGH"
    type: Any = list[str]
    entry: Callable[[Entry], Any] = bounds_of
    box: str = "box"
    is_parsed: ClassVar[bool] = False

    def of_command(self, flag: str, value: Any) -> tuple[Column, ...] | None:
        """Read NAME:LOW:HIGH, of each column."""
        return read_columns(flag, value)

    def plain(self, value: tuple[Column, ...]) -> dict[str, Any]:
        return {column.name: column.bounds for column in value}

    def in_python(self, value: tuple[Column, ...]) -> Any:
        """Return inputs by name, and targets, which have no names, as pairs."""
        if self.box == "box":
            return self.plain(value)
        pairs = [column.bounds for column in value]
        return pairs[0] if len(pairs) == 1 else pairs

    def setting(self, name: str, options: Options) -> list[list[float] | None]:
        """Return the bounds of every column as numbers, null for categories."""
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

    metavar: str | None = "NAME:LEVEL,LEVEL"
    type: Any = list[str]
    entry: Callable[[Entry], Any] = levels_of

    def of_command(self, flag: str, value: Any) -> tuple[LevelColumn, ...] | None:
        """Read NAME:LEVEL,LEVEL, of each column."""
        return read_level_columns(value)

    def plain(self, value: tuple[LevelColumn, ...]) -> dict[str, Any]:
        return {column.name: column.levels for column in value}


@dataclass(frozen=True)
class ClassesValue(Value):
    """The one column of public classes."""

    metavar: str | None = "NAME:LABEL,LABEL"
    entry: Callable[[Entry], Any] = classes_of

    def of_command(self, flag: str, value: Any) -> LevelColumn | None:
        """Read NAME:LABEL,LABEL, of all labels."""
        return read_classes(value)

    def plain(self, value: LevelColumn) -> dict[str, Any]:
        return {value.name: value.levels}

    def in_python(self, value: LevelColumn) -> list[str]:
        return list(value.levels)


@dataclass(frozen=True)
class CodesValue(Value):
    """Columns with codes for missing values."""

    metavar: str | None = "NAME:CODE,CODE"
    type: Any = list[str]
    entry: Callable[[Entry], Any] = codes_of

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> ColumnCodes:
        from dpgp.study.codes import codes_of_boxes

        return codes_of_boxes(value, box, target_box)

    def of_command(self, flag: str, value: Any) -> tuple[CodeColumn, ...] | None:
        """Read NAME:CODE,CODE, of each column."""
        return read_code_columns(flag, value)

    def plain(self, value: tuple[CodeColumn, ...]) -> dict[str, Any]:
        return {column.name: column.codes for column in value}

    def setting(self, name: str, options: Options) -> list[Any] | None:
        """Return the codes of every input and target, null for columns without."""
        return options.missing_codes.in_order

    def of_setting(self, where: str, value: Any, columns: int) -> dict[int, list[Any]]:
        """Return codes by position."""
        from dpgp.checked_values import as_items

        items = enumerate(as_items(value, where))
        return {k: as_items(codes, where) for k, codes in items if codes is not None}


@dataclass(frozen=True)
class WeightValue(Value):
    """A column of weights with its bound; Python tells the bound alone."""

    metavar: str | None = "NAME:MAX"
    entry: Callable[[Entry], Any] = weight_of

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> float | None:
        return None if value is None else as_finite_positive(name, value)

    def of_command(self, flag: str, value: Any) -> WeightColumn | None:
        """Read NAME:MAX."""
        return read_weight(flag, value)

    def plain(self, value: WeightColumn) -> dict[str, float]:
        return {value.name: value.bound}

    def in_python(self, value: WeightColumn) -> float | None:
        return value.bound if value else None

    def of_setting(self, where: str, value: Any, columns: int) -> float | None:
        from dpgp.checked_values import as_positive

        return None if value is None else as_positive(value, where)
