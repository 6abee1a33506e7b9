"""All that a user may ask of a fit, parsed once into one record: the name, the rule, the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpgp.categories import Category
from dpgp.choices import Missing, Passes, RowsOfUnit
from dpgp.domain import Box
from dpgp.inference.hyperparameters import default_kernel
from dpgp.missing_codes import NOWHERE, ColumnCodes
from dpgp.outcomes import NUMBER, OutcomeKind, outcome_of
from dpgp.prior_model import PriorModel
from dpgp.privacy.neighbours import Neighbours
from dpgp.study.errors import RefusedError
from dpgp.study.study import UNIT_NEEDED
from dpgp.study.table import parsed_options
from dpgp.study.values import as_true_or_false
from dpgp.study.wishes import FAMILIES as FAMILIES
from dpgp.study.wishes import STAGES as STAGES
from dpgp.types import Array

MAX_FEATURES = 2000  # matrices of d² numbers
MAX_FIXED_FEATURES = 400  # d³ operations for every θ, some 2,000 of them: minutes

MANY_INPUTS = 3
"""From how many inputs on stages learn a metric. With three it has three quarters of the error of a
fixed grid; with 30,000 rows of one input more than twice, of two a sixth more, and its intervals
cover less (docs/results/frame.md)."""


@dataclass(frozen=True, eq=False)
class Options:
    """What a fit is asked for. Public, all of it, and checked.

    ``families`` and ``inducing_points`` are None where the plan chooses them; points are scaled to
    [−1, 1]^D. ``own_kernels`` is empty where the default kernel is taken. ``per_person`` says
    whether rows are told apart by person. ``weight_bound`` is the weight of a whole row, None where
    all are. ``prior_model`` is the earlier model that the fit starts from, if it does from any.
    """

    epsilon: float
    delta: float
    box: Box
    target_box: Box
    own_kernels: tuple[Any, ...] = ()
    families: tuple[str, ...] | None = None
    inducing_points: Array | int | None = None
    stages: tuple[float, ...] = STAGES
    passes: Passes = Passes.FEW
    neighbours: Neighbours = Neighbours.REPLACE
    per_person: bool = False
    max_rows_per_unit: int = 1
    rows_of_unit: RowsOfUnit = RowsOfUnit.RANDOM
    missing: Missing = Missing.ERROR
    missing_codes: ColumnCodes = NOWHERE
    weight_bound: float | None = None
    warp: bool = True
    calibrate: bool = True
    outcome: OutcomeKind = NUMBER
    prior_model: PriorModel | None = None

    @classmethod
    def parse(cls, *, box: Box, target_box: Box, per_person: bool = False, **asked: Any) -> Options:
        """Read arguments of the estimator; an error that names the argument where one is off.

        What the table of options does not have asks for a kind of outcome. The guarantee itself is
        checked by the books.
        """
        known = parsed_options()
        others = asked.keys() - {option.name for option in known}
        wishes = {name: as_true_or_false(name, asked[name]) for name in others}
        kind = outcome_of(target_box, wishes)
        if box.categories:
            _check_no_wishes(asked)
        values = {
            option.name: option.value.parsed(
                option.name, asked.get(option.name, option.default), box, target_box
            )
            for option in known
        }
        families, points = values.pop("features"), values["inducing_points"]
        if points is not None:
            _check_points(points, families, len(box.low))
        if values["max_rows_per_unit"] != 1 and not per_person:
            raise RefusedError(UNIT_NEEDED, code="no-units")
        if not per_person:  # a row is the first of its unit, and the only one
            values["rows_of_unit"] = RowsOfUnit.FIRST
        options = cls(
            box=box,
            target_box=target_box,
            own_kernels=values.pop("kernel"),
            families=families,
            calibrate=values.pop("calibrate") and not kind.law_is_known,
            per_person=per_person,
            outcome=kind,
            **values,
        )
        if options.prior_model is not None:
            options.prior_model.check(options)
        return options

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return len(self.box.low)

    @cached_property
    def functions(self) -> Box:
        """Where the functions that are learned lie: one for each target, or each of its classes."""
        return self.outcome.functions(self.target_box)

    @property
    def n_targets(self) -> int:
        """Number of functions that are learned."""
        return len(self.functions.low)

    @property
    def bounded_targets(self) -> int:
        """Number of targets that a row moves one by one: all classes of one together are one."""
        return 1 if self.outcome.is_joint else self.n_targets

    @property
    def kernels(self) -> tuple[Any, ...]:
        """The kernels to choose from; by default a smooth function around a line."""
        return self.own_kernels or (default_kernel(self.columns),)

    @property
    def own_kernel(self) -> Any:
        """The kernel that a design is planned for; None for the default."""
        return self.own_kernels[0] if self.own_kernels else None

    @property
    def learns_metric(self) -> bool:
        """Whether stages take their features from what was released before.

        So it is with many inputs, and with categories, for which no grid is made.
        """
        averages = self.missing is Missing.MODEL and self.columns > 1
        return self.columns >= MANY_INPUTS or bool(self.box.categories) or averages

    def check_rows(self, public_rows: int | None) -> None:
        """Refuse fewer rows than inputs where their number is public: nothing could be learned."""
        if self.learns_metric and public_rows is not None and public_rows <= self.columns:
            raise ValueError(
                f"there must be more rows than inputs, of which there are {self.columns}; leave "
                "inputs out, or collect more rows."
            )

    @property
    def table_size_is_public(self) -> bool:
        """Whether any two neighbours have the same number of rows, usable or not."""
        return self.neighbours is Neighbours.REPLACE and not self.per_person

    @property
    def row_count_is_public(self) -> bool:
        """Whether any two neighbours have the same number of usable rows.

        They do if a row is replaced by another that can be used. A unit may have fewer rows than
        another, a row may be incomplete, and its target unreadable; or it weighs less.
        """
        return self.table_size_is_public and not (self.rows_may_be_unusable or self.are_weighted)

    @property
    def rows_may_be_unusable(self) -> bool:
        """Whether a fit goes on where a row is incomplete, or its target unreadable."""
        return self.missing is not Missing.ERROR or not self.outcome.unreadable_is_error

    @property
    def are_weighted(self) -> bool:
        """Whether a row counts as much as it weighs, which is as private as all else about it."""
        return self.weight_bound is not None

    @property
    def level_columns(self) -> tuple[tuple[str, Category], ...]:
        """Names and levels of categories and classes, those of the inputs first."""
        return self.box.level_columns("input") + self.target_box.level_columns("target")


def _check_no_wishes(asked: Mapping[str, Any]) -> None:
    """Raise where something is asked for that is made for numbers."""
    for name in ("kernel", "features", "inducing_points"):
        if asked.get(name) is not None:
            raise ValueError(
                f"`{name}` cannot be given together with `categories`, for which a kernel and "
                "features are learned; leave it out, or encode categories as numbers."
            )


def _check_points(points: Array | int, families: tuple[str, ...] | None, columns: int) -> None:
    """Raise where inducing points are too many, or contradict families of features."""
    on_grid = "grid" in families if families is not None else columns < MANY_INPUTS
    if isinstance(points, int):
        features = points**columns if on_grid else points
    elif families is not None:
        raise ValueError("`features` and given `inducing_points` contradict; give one.")
    else:
        features = len(points)
    few_inputs = columns < MANY_INPUTS
    most = MAX_FIXED_FEATURES if few_inputs else MAX_FEATURES
    if features > most:
        raise ValueError(
            f"`inducing_points` make {features} features, more than {most}"
            f"{', the most with one or two inputs' if few_inputs else ''}; ask for fewer."
        )
