"""What a fit is asked to release: complete, and checked before any table is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dpgp.cli.columns import Column, LevelColumn, check_distinct
from dpgp.cli.failures import UsageError
from dpgp.cli.study import Study
from dpgp.decimal_mark import DecimalMark
from dpgp.missing import Missing
from dpgp.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.options import Options


@dataclass(frozen=True)
class Request:
    """Columns, bounds and guarantee of a fit: public, all of it."""

    features: tuple[Column, ...]
    targets: tuple[Column, ...]
    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str | None = None
    max_rows_per_unit: int = 1
    missing: Missing = Missing.ERROR
    categories: tuple[LevelColumn, ...] = ()
    classes: LevelColumn | None = None
    counts: bool = False
    decimal: DecimalMark = DecimalMark.POINT

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        inputs = [*_names(self.features), *_names(self.categories)]
        columns = [*inputs, *_names(self.predicted)]
        return columns if self.unit is None or self.unit in columns else [*columns, self.unit]

    @property
    def predicted(self) -> tuple[Column | LevelColumn, ...]:
        """The columns that are predicted."""
        return self.targets if self.classes is None else (self.classes,)

    @cached_property
    def options(self) -> Options:
        """The same in the words of a fit."""
        from dpgp.options import Options

        return Options.parse(
            box=_box(self.features, "bounds", self.categories),
            target_box=self._target_box,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            per_person=self.unit is not None,
            max_rows_per_unit=self.max_rows_per_unit,
            missing=self.missing,
            counts=self.counts,
        )

    @property
    def _target_box(self) -> Box:
        from dpgp.outcomes.yes_no import class_box

        if self.classes is None:
            return _box(self.targets, "target_bounds")
        return class_box(self.classes.category, [self.classes.name])

    @property
    def protects(self) -> str:
        """The unit of privacy in words."""
        change = self.neighbours.change
        if self.unit is None:
            return f"one row, {change}; name people who have several with --unit"
        most = self.max_rows_per_unit
        rows = "the first row counts" if most == 1 else f"the first {most} rows count"
        return f"one '{self.unit}', of which {rows}, {change}"


def request_of(study: Study) -> Request:
    """Return what a study asks for; a UsageError where something is missing or cannot be meant."""
    from dpgp.privacy.arguments import as_finite_positive, as_probability

    if study.targets is None and study.classes is None:
        raise unsaid("nothing to predict", "--target height_cm:70:190", "targets")
    if study.targets is not None and study.classes is not None:
        raise UsageError("--target and --classes contradict; a model has numbers or two classes.")
    if study.counts and study.classes is not None:
        raise UsageError("--counts and --classes contradict; two classes are not counted.")
    targets = study.targets or ()
    features, categories = study.features or (), study.categories or ()
    if not features and not categories:
        raise unsaid("nothing to predict from", "--feature age:2:18", "features")
    if study.epsilon is None:
        raise unsaid("no budget", "--epsilon 1", "epsilon")
    if study.delta is None:
        raise unsaid("no budget", "--delta 1e-6", "delta")
    if study.unit is None and study.max_rows_per_unit is not None:
        raise UsageError(
            "--max-rows-per-unit needs --unit, the column that says whose a row is; add it."
        )
    check_distinct([*features, *categories, *targets, *([study.classes] if study.classes else [])])
    return Request(
        features,
        targets,
        as_finite_positive("epsilon", study.epsilon),
        as_probability("delta", study.delta),
        study.neighbours or Neighbours.REPLACE,
        study.unit,
        study.max_rows_per_unit or 1,
        study.missing or Missing.ERROR,
        categories,
        study.classes,
        bool(study.counts),
        study.decimal or DecimalMark.POINT,
    )


def _names(columns: Sequence[Column | LevelColumn]) -> list[str]:
    return [column.name for column in columns]


def _box(
    columns: tuple[Column, ...], argument: str, categories: tuple[LevelColumn, ...] = ()
) -> Box:
    """Return the box of columns with bounds, and then of categories."""
    from dpgp.categories import read_categories
    from dpgp.domain import Box

    names = [*_names(columns), *_names(categories)]
    levels = {column.name: column.levels for column in categories}
    pairs = [column.bounds for column in columns]
    kinds = read_categories(levels, names, len(names))
    return Box.from_bounds(pairs, len(names), names, argument, kinds)


def unsaid(what: str, option: str, key: str) -> UsageError:
    """Return the error for what neither options nor a study file say."""
    return UsageError(f"{what} was named; add {option}, or `{key}` to a study file.")
