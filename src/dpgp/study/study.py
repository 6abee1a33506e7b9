"""What was said of a fit, by options, a study file or a page, and what it asks for together."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgp.study.columns import Column, LevelColumn, check_distinct
from dpgp.study.errors import UsageError, Words
from dpgp.study.table import option, options_by_key

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.ledger import Ledger
    from dpgp.options import Options
    from dpgp.privacy.certificate import StudyRecord

UNIT_NEEDED = Words(
    "`max_rows_per_unit` needs `units`, one identifier a row, at `fit`.",
    command="--max-rows-per-unit needs --unit, the column that says whose a row is; add it.",
    page="rows of one person can be counted only where a column says whose a row is; choose it.",
)
UNIT_NEEDED_TO_CHOOSE = Words(
    "`rows_of_unit` needs `units`, one identifier a row, at `fit`.",
    command="--rows-of-unit needs --unit, the column that says whose a row is; add it.",
    page="rows of one person can be chosen only where a column says whose a row is; choose it.",
)
LEDGER_NEEDED = Words(
    "a group of people needs the `ledger` that names it.",
    command="--partition needs --ledger, whose group of people it names; add it.",
    page="a group of people needs the ledger that names it; open the ledger.",
)


class Study:
    """Everything that was said, by the keys of study files; None where nothing is. Public, all.

    ``record`` is of the ``file`` that said it, where one did; two studies that say the same are
    equal, whoever said it.
    """

    def __init__(
        self, *, record: StudyRecord | None = None, file: Path | None = None, **said: Any
    ) -> None:
        keys = options_by_key()
        if unknown := said.keys() - keys.keys():
            raise TypeError(f"a study has no key `{min(unknown)}`.")
        self.record, self.file = record, file
        self.said = {key: said[key] for key in keys if said.get(key) is not None}

    def __getattr__(self, key: str) -> Any:
        if key not in options_by_key():
            raise AttributeError(key)
        return self.said.get(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.said == other.said

    def __hash__(self) -> int:
        return hash(tuple(self.said.items()))

    def __repr__(self) -> str:
        return f"Study({', '.join(f'{key}={value!r}' for key, value in self.said.items())})"

    def but(self, **changes: Any) -> Study:
        """Return the same study, some of it said differently, or no more where it is None."""
        return Study(record=self.record, file=self.file, **self.said | changes)

    def needed(self, name: str) -> Any:
        """Return what an option says; an error with the remedy where it says nothing."""
        asked = option(name)
        if asked.key not in self.said:
            raise asked.needed()
        return self.said[asked.key]

    def with_usual_budget(self) -> Study:
        """Return a study with a budget: a plan may be made before one is chosen."""
        usual = {name: option(name).default for name in ("epsilon", "delta")}
        return self.but(**usual | {name: self.said[name] for name in usual if name in self.said})

    @property
    def inputs(self) -> tuple[Column | LevelColumn, ...]:
        """The columns to predict from: those with bounds, then categories."""
        return (*(self.features or ()), *(self.categories or ()))

    @property
    def predicted(self) -> tuple[Column | LevelColumn, ...]:
        """The columns that are predicted."""
        return self.targets or (() if self.classes is None else (self.classes,))

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        units = [] if self.unit is None else [self.unit]
        weights = () if self.weight is None else (self.weight,)
        columns = [column.name for column in (*self.inputs, *self.predicted, *weights)]
        return list(dict.fromkeys([*columns, *units]))

    @property
    def protects(self) -> Words:
        """The unit of privacy."""
        change = self.options.neighbours.change
        if self.unit is None:
            words = f"one row, {change}"
            return Words(words, command=f"{words}; name people who have several with --unit")
        counted = self.options.rows_of_unit.counted(self.options.max_rows_per_unit)
        return Words(f"one '{self.unit}', of which {counted}, {change}")

    @cached_property
    def options(self) -> Options:
        """What a fit is asked for; a UsageError where something is missing or cannot be meant."""
        from dpgp.options import Options
        from dpgp.privacy.arguments import as_finite_positive, as_probability

        self._check_columns()
        epsilon = as_finite_positive("epsilon", self.needed("epsilon"))
        delta = as_probability("delta", self.needed("delta"))
        asked = {
            each.name: each.value.in_python(self.said[key])
            for key, each in options_by_key().items()
            if key in self.said and each.is_for_options
        }
        return Options.parse(
            box=_box(self.inputs, "bounds"),
            target_box=self._target_box,
            per_person=self.unit is not None,
            **asked | {"epsilon": epsilon, "delta": delta},
        )

    def check(self) -> None:
        """Raise where a fit of it cannot be meant, before any table is read."""
        _ = self.options

    def _check_columns(self) -> None:
        """Raise where the columns are not all there, or some options contradict others."""
        if self.targets is not None and self.classes is not None:
            raise _contradict("target_bounds", "classes", "a model has numbers or classes")
        if self.counts and self.classes is not None:
            raise _contradict("counts", "classes", "classes are not counted")
        if self.ordered and self.targets is not None:
            raise _contradict("ordered", "target_bounds", "the order is that of classes")
        if not self.predicted:
            raise option("target_bounds").needed()
        if not self.inputs:
            raise option("bounds").needed()
        if self.unit is None and self.max_rows_per_unit is not None:
            raise UsageError(UNIT_NEEDED, code="no-units")
        if self.unit is None and self.rows_of_unit is not None:
            raise UsageError(UNIT_NEEDED_TO_CHOOSE, code="no-units")
        check_distinct([*self.inputs, *self.predicted])

    @property
    def _target_box(self) -> Box:
        from dpgp.categories import Category
        from dpgp.outcomes.labels import class_box

        if self.classes is None:
            return _box(self.predicted, "target_bounds")
        return class_box(Category(self.classes.levels), [self.classes.name])

    @property
    def purse(self) -> Ledger | None:
        """The ledger to spend from; an error, before any table is read, where it is none."""
        if self.ledger is None:
            if self.partition is not None:
                raise UsageError(LEDGER_NEEDED, code="no-ledger")
            return None
        from dpgp.ledger import Ledger

        ledger = Ledger(self.ledger)
        return ledger if self.partition is None else ledger.partition(self.partition)


def _contradict(one: str, other: str, why: str) -> UsageError:
    """Return the error of two options that cannot both be meant, as each face calls them."""
    pair = option(one), option(other)
    called = (
        [f"`{each.name}`" for each in pair],
        [each.flag for each in pair],
        [f"“{each.field}”" for each in pair],
    )
    words = Words(*(f"{' and '.join(both)} contradict; {why}." for both in called))
    return UsageError(words, code="contradiction")


def _box(columns: tuple[Column | LevelColumn, ...], argument: str) -> Box:
    """Return the box of columns with bounds, and then of categories."""
    from dpgp.categories import read_categories
    from dpgp.domain import Box

    names = [column.name for column in columns]
    levels = {column.name: column.levels for column in columns if isinstance(column, LevelColumn)}
    pairs = [column.bounds for column in columns if isinstance(column, Column)]
    kinds = read_categories(levels, names, len(names))
    return Box.from_bounds(pairs, len(names), names, argument, kinds)
