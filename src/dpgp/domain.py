"""Public bounds: what may be known of the data before any of it is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.plain_text import check_names

Array = NDArray[np.float64]

_WHY_PUBLIC = "bounds are public knowledge and cannot be read from the data, which would leak it"


@dataclass(frozen=True)
class Box:
    """A public interval for every column, with the columns' names where they have any."""

    low: Array
    high: Array
    names: tuple[str, ...] | None = None

    @classmethod
    def from_bounds(
        cls,
        bounds: Any,
        n_columns: int,
        names: Sequence[str] | None = None,
        argument: str = "bounds",
    ) -> Box:
        """Read ``(low, high)`` for all columns, a list of pairs, or a mapping by column name."""
        check_names(names)
        pairs = _pairs(bounds, n_columns, names, argument)
        checked = [_checked_pair(pair, argument) for pair in pairs]
        low, high = np.array(checked, dtype=np.float64).T
        return cls(low, high, None if names is None else tuple(names))

    @property
    def centre(self) -> Array:
        """Middle of every interval."""
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> Array:
        """Half the length of every interval."""
        return (self.high - self.low) / 2

    def column_names(self, kind: str) -> list[str]:
        """Return the columns' names, numbered ones after their kind where they have none."""
        if self.names is not None:
            return [str(name) for name in self.names]
        count = len(self.low)
        return [kind] if count == 1 else [f"{kind} {k + 1}" for k in range(count)]

    def named_bounds(self, kind: str) -> list[dict[str, Any]]:
        """Return every column as an object for machines; columns without names are numbered."""
        return [
            {"name": name, "low": float(low), "high": float(high)}
            for name, low, high in zip(self.column_names(kind), self.low, self.high, strict=True)
        ]

    def clip(self, X: Array) -> Array:
        """Move values outside the bounds to the nearest bound."""
        return np.clip(X, self.low, self.high)

    def contains(self, points: Array) -> bool:
        """Return whether every point lies within the bounds."""
        return bool(np.all((points >= self.low) & (points <= self.high)))


def _pairs(bounds: Any, n_columns: int, names: Sequence[str] | None, argument: str) -> list[Any]:
    if bounds is None:
        raise ValueError(f"`{argument}` must be given as (low, high) pairs: {_WHY_PUBLIC}.")
    if isinstance(bounds, Mapping):
        return _pairs_by_name(bounds, names, argument)
    pairs = list(bounds) if isinstance(bounds, Sequence | np.ndarray) else [bounds]
    if len(pairs) == 2 and all(np.ndim(value) == 0 for value in pairs):
        return [tuple(pairs)] * n_columns
    if len(pairs) != n_columns:
        raise ValueError(
            f"`{argument}` must hold one (low, high) pair for each of the {n_columns} columns, or "
            f"one pair for all; got {len(pairs)}."
        )
    return pairs


def _pairs_by_name(
    bounds: Mapping[str, Any], names: Sequence[str] | None, argument: str
) -> list[Any]:
    if names is None:
        raise ValueError(
            f"`{argument}` is a mapping by column name, but the data has no column names; "
            "pass a data frame, or a list of pairs in column order."
        )
    absent = [name for name in names if name not in bounds]
    if len(absent) == len(names):  # perhaps a row of data: not to be repeated
        raise ValueError(
            f"`{argument}` knows none of the columns; write the names as the data frame has them, "
            "and make sure that it was read with its header."
        )
    if absent:
        raise ValueError(f"`{argument}` lacks the columns {absent}: {_WHY_PUBLIC}.")
    return [bounds[name] for name in names]


def _checked_pair(pair: Any, argument: str) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in pair)
    except (TypeError, ValueError):
        raise TypeError(f"`{argument}` must hold pairs of numbers, got {pair!r}.") from None
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"`{argument}` must be finite, got {(low, high)}.")
    if not low < high:
        raise ValueError(f"`{argument}` must have low < high, got {(low, high)}.")
    if not 0.0 < (high - low) / 2 < math.inf:  # what rows are divided by
        raise ValueError(
            f"`{argument}` must have a width that a float can hold, got {(low, high)}; choose "
            "other units."
        )
    return low, high
