"""Rows that are ready to be summed, and how numbers become them.

Numbers of inputs and targets, whoever held them, become rows in one place,
:func:`scaled_rows`: targets scaled, rows marked that can be used, some of every unit
kept. Messages speak of arguments, shapes and types; never of values, and not of which or how many
rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import Category
from dpgp.choices import Missing
from dpgp.dates import Days
from dpgp.domain import Box
from dpgp.numeric import numeric_matrix, numeric_vector
from dpgp.options import Options
from dpgp.privacy.parts import DealtPart
from dpgp.private.source import RowQuestion, total_over
from dpgp.private.units import Quota, rows_of_units
from dpgp.types import Array, Integers

BATCH_ROWS = 2**16
"""Rows that are drawn at a time: a few blocks for a thread, a few megabytes."""

FARTHEST_TARGET = 2.0**64  # half-widths; beyond any clip, and products with weights stay finite
MISSING_RULES = ("error", "ignore")

SPELLING = {
    Category: "write levels in the spelling of the cells",
    Days: "write every date with a year of four digits first, and no other numbers or texts",
}
"""What to do about cells that are none of the levels, or no dates."""

NO_WEIGHT = (
    "`sample_weight` must hold a finite number, zero or more, for every row; if few rows have "
    'none, pass missing="ignore" to let these contribute nothing.'
)


@dataclass(frozen=True)
class Rows:
    """Rows that are ready to be summed: inputs, targets scaled to [−1, 1], and which are usable.

    ``readable`` says of every row that counts, and every column of levels, inputs first, whether
    its cell is one of them. ``weights`` are what part of a row each of them adds, from 0 to 1; None
    where all are whole.

    Raw values: lives on the private side only, and never shows them in its repr. Rows in memory are
    a :class:`dpgp.private.source.Source` themselves.
    """

    inputs: Any
    targets: Array  # (targets, rows)
    usable: NDArray[np.bool_]
    readable: NDArray[np.bool_] = field(default_factory=lambda: np.ones((0, 0), dtype=bool))
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.usable)

    def __repr__(self) -> str:
        return "Rows(...)"

    def with_targets(self, targets: Array) -> Rows:
        """Return the same rows with other targets."""
        return replace(self, targets=targets)

    def among(self, counted: NDArray[np.bool_]) -> Rows:
        """Return rows of which only some count."""
        return replace(self, usable=self.usable & counted, readable=self.readable & counted)

    def blocks(self, size: int) -> Iterator[Rows]:
        """Cut the rows into blocks of ``size``, the last one shorter."""
        for start in range(0, len(self), size):
            yield self.chosen(slice(start, start + size))

    @property
    def like(self) -> Rows:
        """No rows, of the same type."""
        return self.chosen(slice(0))

    def rows(self) -> Rows:
        """Return themselves: what is in memory needs no reading."""
        return self

    def chosen(self, which: NDArray[np.bool_] | slice) -> Rows:
        """Return some of the rows."""
        readable = self.readable[:, which] if len(self.readable) else self.readable
        weights = None if self.weights is None else self.weights[which]
        return Rows(
            self.inputs[which], self.targets[:, which], self.usable[which], readable, weights
        )

    def with_more(self, other: Rows) -> Rows:
        """Return these rows, and other ones behind them."""
        return Rows(
            np.concatenate([self.inputs, other.inputs]),
            np.concatenate([self.targets, other.targets], axis=1),
            np.concatenate([self.usable, other.usable]),
            np.hstack([self.readable, other.readable]),
            None
            if self.weights is None or other.weights is None
            else np.concatenate([self.weights, other.weights]),
        )

    def total(
        self, question: RowQuestion, threads: int | None = None, part: DealtPart | None = None
    ) -> Integers:
        """Return the exact sum over all rows, or those of a part."""
        if part is not None:
            return self.chosen(part.holds(0, len(self))).total(question, threads)
        sizes = [min(BATCH_ROWS, len(self) - at) for at in range(0, len(self), BATCH_ROWS)]
        return total_over(self.blocks(BATCH_ROWS), sizes, question, threads)


# --- from numbers ---------------------------------------------------------------------------------


def scaled_rows(
    X: Array,
    targets: Array,
    options: Options,
    units: Any,
    seed: int | np.random.Generator | None = None,
    weights: Array | None = None,
) -> Rows:
    """Return rows whose targets are scaled to [−1, 1] and not yet clipped, some of each unit.

    A stage clips residuals, so that a target beyond its bounds pulls no harder than others. Rows of
    a unit are drawn anew at every call, unless ``seed`` simulates.
    """
    if options.missing is Missing.ERROR:
        check_public_kinds(X, options.box)
    box, known = options.target_box, np.isfinite(targets).all(axis=0)
    errors = [targets.T] if options.outcome.unreadable_is_error else []
    if options.missing is Missing.MODEL:
        X = np.where(np.isfinite(X), X, np.nan)
        usable = np.asarray(np.isfinite(X).any(axis=1) & known)
    else:
        usable = usable_rows(options.missing, X, *errors) & known
    if weights is not None:
        weights = parts_of_rows(weights, options)
        usable, weights = usable & ~np.isnan(weights), np.nan_to_num(weights)
    readable = ~np.isnan(np.vstack([X.T[~options.box.is_numeric], targets[~box.is_numeric]]))
    if units is not None:
        counted = rows_of_units(units, len(X), Quota.of(options, seed))
        usable, readable = usable & counted, readable & counted
    learned, functions = options.outcome.function_targets(targets), options.functions
    scaled = scaled_targets(learned, functions.centre[:, None], functions.half_width[:, None])
    return Rows(X, np.where(usable, scaled, 0.0), usable, readable, weights)


def parts_of_rows(weights: Array, options: Options) -> Array:
    """Return w/max, one where it is more; NaN for what is no weight: missing, infinite, negative.

    Raise where there is such a one and missing values are errors; never says which.
    """
    assert options.weight_bound is not None
    are_weights = np.isfinite(weights) & (weights >= 0.0)
    if options.missing is Missing.ERROR and not are_weights.all():
        raise ValueError(NO_WEIGHT)
    with np.errstate(all="ignore"):  # a warning would tell that somebody's weight is none
        parts = np.minimum(weights / options.weight_bound, 1.0)
    return np.where(are_weights, parts, np.nan)


def check_public_kinds(X: Array, box: Box) -> None:
    """Raise where a cell is no date, or none of the public levels; never says which."""
    for column, kind in enumerate(box.kinds):
        if kind is not None and np.isnan(X[:, column]).any():
            raise ValueError(
                f"column '{box.column_names('input')[column]}' must hold {kind.cells} alone: "
                f"{kind.words}; {SPELLING[type(kind)]}, and if few rows have other or missing "
                'ones, pass missing="ignore" to let them contribute nothing while they stay in the '
                "count."
            )


def scaled_targets(targets: Array, centre: Array | float, half_width: Array | float) -> Array:
    """Return distances from the centre in half-widths, cut where residuals are clipped anyway."""
    with np.errstate(over="ignore"):  # a warning would tell that somebody's target is huge
        return np.clip((targets - centre) / half_width, -FARTHEST_TARGET, FARTHEST_TARGET)


def usable_rows(missing: str, *arrays: Array) -> NDArray[np.bool_]:
    """Return which rows are finite throughout; raise if one is not and ``missing`` is "error"."""
    if missing not in MISSING_RULES:
        raise ValueError(f"`missing` must be one of {MISSING_RULES}, got {missing!r}.")
    finite = np.ones(len(arrays[0]), dtype=bool)
    for array in arrays:
        finite &= np.isfinite(array).reshape(len(array), -1).all(axis=1)
    if missing == "error" and not finite.all():
        raise ValueError(
            "`X` and `y` must be finite and complete, without NaN or inf; if few rows are not, "
            'pass missing="ignore" to let these contribute nothing while they stay in the count.'
        )
    return finite


# --- as published: one target, and objects of any kind --------------------------------------------


def vector_rows(X: Any, y: Any, columns: int, missing: str) -> Rows:
    """Read rows of numbers, and one target each."""
    inputs = numeric_matrix(X, least=2)
    if inputs.shape[1] != columns:
        raise ValueError(
            f"`X` must have as many columns as `inducing_points`, {columns}, got {inputs.shape[1]}."
        )
    return _rows(inputs, y, missing, inputs)


def structured_rows(X: Any, y: Any, missing: str) -> Rows:
    """Read strings, graphs or other objects, and one target each; None counts as missing."""
    objects = object_array(X)
    if len(objects) < 2:
        raise ValueError("`X` must have at least two rows.")
    present = np.array([0.0 if element is not None else np.nan for element in objects])
    return _rows(objects, y, missing, present)


def _rows(inputs: Any, y: Any, missing: str, finite_where_present: Array) -> Rows:
    targets = numeric_vector(y, len(inputs))
    return Rows(inputs, targets[None], usable_rows(missing, targets, finite_where_present))


def object_array(X: Any, argument: str = "X") -> NDArray[np.object_]:
    """Return strings, graphs or other objects as a one-dimensional object array."""
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str):
        raise TypeError(f"`{argument}` must be a sequence of objects, got {type(X).__name__}.")
    rows = np.empty(len(X), dtype=object)
    for position, element in enumerate(X):
        rows[position] = element
    return rows
