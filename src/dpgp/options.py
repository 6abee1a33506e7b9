"""All that a user may ask of a fit, parsed once into one record: the name, the rule, the remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from dpgp.domain import Box
from dpgp.inference.priors import default_kernel
from dpgp.kernels.bounds import check_kernel
from dpgp.kernels.known import is_sklearn_kernel
from dpgp.missing import Missing
from dpgp.numeric import as_floats
from dpgp.outcomes import NUMBER, OutcomeKind, outcome_of
from dpgp.privacy.arguments import DELTA, EPSILON, as_count
from dpgp.privacy.neighbours import Neighbours
from dpgp.types import Array

FAMILIES = ("grid", "linear", "additive", "joint")
STAGES = (1.0, 1.0, 2.0, 3.0, 4.0, 6.0)  # later ones see smaller residuals; by hand
MOST_STAGES = 100  # each is a pass over the rows
LARGEST_RATIO = 1e6  # of weights: a stage with less of the budget is nothing but noise
MAX_FEATURES = 2000  # matrices of d² numbers, and d³ operations for every θ

MANY_INPUTS = 3
"""From how many inputs on stages learn a metric. With three it has three quarters of the error of a
fixed grid, with one a twentieth more (docs/results/frame.md); with two it is slower by far."""


@dataclass(frozen=True, eq=False)
class Options:
    """What a fit is asked for. Public, all of it, and checked.

    ``families`` and ``inducing_points`` are None where the plan chooses them; points are scaled to
    [−1, 1]^D. ``own_kernels`` is empty where the default kernel is taken. ``per_person`` says
    whether rows are told apart by person.
    """

    epsilon: float
    delta: float
    box: Box
    target_box: Box
    own_kernels: tuple[Any, ...] = ()
    families: tuple[str, ...] | None = None
    inducing_points: Array | int | None = None
    stages: tuple[float, ...] = STAGES
    neighbours: Neighbours = Neighbours.REPLACE
    per_person: bool = False
    max_rows_per_unit: int = 1
    missing: Missing = Missing.ERROR
    warp: bool = True
    calibrate: bool = True
    outcome: OutcomeKind = NUMBER

    @classmethod
    def parse(
        cls,
        *,
        box: Box,
        target_box: Box,
        epsilon: float = EPSILON,
        delta: float = DELTA,
        kernel: Any = None,
        inducing_points: Any = None,
        features: str | Sequence[str] | None = None,
        stages: Any = None,
        neighbours: str | Neighbours = "replace",
        per_person: bool = False,
        max_rows_per_unit: int = 1,
        warp: bool = True,
        calibrate: bool = True,
        missing: str = "error",
        **outcome: bool,
    ) -> Options:
        """Read the arguments of the estimator; an error that names the argument where one is off.

        Others ask for a kind of ``outcome``. The guarantee itself is checked by the books.
        """
        kind = outcome_of(target_box, {name: _flag(name, asked) for name, asked in outcome.items()})
        families = _families(features)
        if box.categories:
            _check_no_wishes(kernel=kernel, features=features, inducing_points=inducing_points)
        return cls(
            epsilon=epsilon,
            delta=delta,
            box=box,
            target_box=target_box,
            own_kernels=_kernels(kernel, len(box.low)),
            families=families,
            inducing_points=_points(inducing_points, families, box),
            stages=_stages(stages),
            neighbours=Neighbours.parse(neighbours),
            per_person=per_person,
            max_rows_per_unit=_rows_per_unit(max_rows_per_unit, per_person),
            missing=Missing.parse(missing),
            warp=_flag("warp", warp),
            calibrate=_flag("calibrate", calibrate) and not kind.law_is_known,
            outcome=kind,
        )

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return len(self.box.low)

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.target_box.low)

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
        return self.columns >= MANY_INPUTS or bool(self.box.categories)

    def check_rows(self, public_rows: int | None) -> None:
        """Refuse fewer rows than inputs where their number is public: nothing could be learned."""
        if self.learns_metric and public_rows is not None and public_rows <= self.columns:
            raise ValueError(
                f"there must be more rows than inputs, of which there are {self.columns}; leave "
                "inputs out, or collect more rows."
            )

    @property
    def row_count_is_public(self) -> bool:
        """Whether any two neighbours have the same number of usable rows.

        They do if a row is replaced by another that can be used. A unit may have fewer rows than
        another, a row may be incomplete, and its target unreadable.
        """
        replaced = self.neighbours is Neighbours.REPLACE
        complete = self.missing is Missing.ERROR and self.outcome.unreadable_is_error
        return replaced and not self.per_person and complete


def _check_no_wishes(**wishes: Any) -> None:
    """Raise where something is asked for that is made for numbers."""
    for name, value in wishes.items():
        if value is not None:
            raise ValueError(
                f"`{name}` cannot be given together with `categories`, for which a kernel and "
                "features are learned; leave it out, or encode categories as numbers."
            )


def _kernels(kernel: Any, columns: int) -> tuple[Any, ...]:
    if kernel is None:
        return ()
    kernels = tuple(kernel) if isinstance(kernel, list | tuple) else (kernel,)
    if not kernels:
        raise ValueError("`kernel` must hold at least one kernel; leave it out for the default.")
    for candidate in kernels:
        if not is_sklearn_kernel(candidate):
            raise TypeError(
                "`kernel` must be a scikit-learn kernel or a list of them, got "
                f"{type(candidate).__name__}; other kernels work in dpgp.paper."
            )
        _check_columns(candidate, columns)
        check_kernel(candidate, columns)
    return kernels


def _check_columns(kernel: Any, columns: int) -> None:
    """Raise where a kernel has lengths for another number of inputs."""
    try:
        kernel(np.zeros((1, columns)))
    except ValueError:
        raise ValueError(
            f"`kernel` does not take {columns} input(s): give it one length scale, or one an input."
        ) from None


def _families(features: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if features is None:
        return None
    several = features if isinstance(features, Sequence) else ()
    families = (features,) if isinstance(features, str) else tuple(several)
    if not families or any(name not in FAMILIES for name in families):
        raise ValueError(f"`features` must be among {FAMILIES}, got {features!r}.")
    return families


def _points(points: Any, families: tuple[str, ...] | None, box: Box) -> Array | int | None:
    """Return how many inducing points, or the points themselves scaled to [−1, 1]^D."""
    if points is None:
        return None
    columns = len(box.low)
    if np.ndim(points) == 0:
        return _checked_count(as_count("inducing_points", points), columns, families)
    array = as_floats(points, "inducing_points")
    if array.ndim != 2 or array.shape[1] != columns or not len(array) or not box.contains(array):
        raise ValueError(
            "`inducing_points` must be a number, or points of shape (points, "
            f"{columns}) inside `bounds`."
        )
    if families is not None:
        raise ValueError("`features` and given `inducing_points` contradict; give one.")
    return np.asarray((array - box.centre) / box.half_width)


def _checked_count(points: int, columns: int, families: tuple[str, ...] | None) -> int:
    on_grid = "grid" in families if families is not None else columns < MANY_INPUTS
    features = points**columns if on_grid else points
    if features > MAX_FEATURES:
        raise ValueError(
            f"`inducing_points` = {points} make {features} features, more than {MAX_FEATURES}; "
            "ask for fewer."
        )
    return points


def _stages(stages: Any) -> tuple[float, ...]:
    """Return the weights of the stages in the budget."""
    if stages is None:
        return STAGES
    is_number = isinstance(stages, Real)
    weights = (1.0,) * min(as_count("stages", stages), MOST_STAGES + 1) if is_number else stages
    weights = tuple(as_floats(weights, "stages").ravel().tolist())
    if not weights or min(weights) <= 0.0 or not math.isfinite(math.fsum(weights)):
        raise ValueError(f"`stages` must hold positive weights, got {stages!r}.")
    if max(weights) > LARGEST_RATIO * min(weights):
        raise ValueError(
            f"`stages` must hold weights within a factor of {LARGEST_RATIO:,.0f} of each other."
        )
    if len(weights) > MOST_STAGES:
        raise ValueError(f"`stages` must be at most {MOST_STAGES}, got {len(weights)} or more.")
    return weights


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be True or False, got {type(value).__name__}.")
    return bool(value)


def _rows_per_unit(most: Any, per_person: bool) -> int:
    count = as_count("max_rows_per_unit", most)
    if count != 1 and not per_person:
        raise ValueError("`max_rows_per_unit` needs `units`, one identifier a row, at `fit`.")
    return count
