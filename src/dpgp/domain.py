"""Public bounds: what may be known of the data before any of it is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import Categories, Category
from dpgp.dates import Days, date_of
from dpgp.plain_text import check_names
from dpgp.types import Array

Ends = tuple[Any, Any] | Sequence[Any]
Bounds = Ends | Sequence[Ends | None] | Mapping[str, Ends] | None
"""Public bounds, numbers or dates: of all columns alike, one pair a column, or by name."""

MOST_LISTED = 5  # names in a message: enough to see what was meant
_WHY_PUBLIC = "bounds are public knowledge and cannot be read from the data, which would leak it"


@dataclass(frozen=True)
class Box:
    """A public interval for every column, with the columns' names where they have any.

    A category has the numbers of its levels for an interval, from 0 on, and a column of dates the
    days since its lower bound.
    """

    low: Array
    high: Array
    names: tuple[str, ...] | None = None
    categories: Categories = ()
    dates: tuple[Days | None, ...] = ()
    """One entry a column, None for all others; empty where no column has dates."""

    @classmethod
    def from_bounds(
        cls,
        bounds: Any,
        n_columns: int,
        names: Sequence[str] | None = None,
        argument: str = "bounds",
        categories: Categories = (),
    ) -> Box:
        """Read ``(low, high)`` for all columns, a list of pairs, or a mapping by column name.

        Categories have no bounds: they are left out, or None in a list of all columns.
        """
        check_names(names)
        names = None if names is None else tuple(names)
        kinds = categories or (None,) * n_columns
        pairs = iter(_pairs(bounds, kinds, names, argument))
        checked = [
            _checked_pair(next(pairs), argument)
            if kind is None
            else (0, len(kind.levels) - 1, None)
            for kind in kinds
        ]
        low, high, dates = zip(*checked, strict=True)
        dates = dates if any(dates) else ()
        return cls(np.array(low, float), np.array(high, float), names, categories, dates)

    @property
    def centre(self) -> Array:
        """Middle of every interval."""
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> Array:
        """Half the length of every interval."""
        return (self.high - self.low) / 2

    def category(self, column: int) -> Category | None:
        """Return the levels of a column, None for one of numbers."""
        return self.categories[column] if self.categories else None

    def days(self, column: int) -> Days | None:
        """Return what counts the days of a column of dates, None for any other."""
        return self.dates[column] if self.dates else None

    @property
    def kinds(self) -> tuple[Category | Days | None, ...]:
        """What the cells of every column are, None for numbers; empty where all are numbers."""
        if not (self.categories or self.dates):
            return ()
        return tuple(self.category(k) or self.days(k) for k in range(len(self.low)))

    @property
    def is_numeric(self) -> NDArray[np.bool_]:
        """Which columns are no categories: numbers, and dates, which are numbers of days."""
        return np.array([self.category(k) is None for k in range(len(self.low))])

    def level_columns(self, kind: str) -> tuple[tuple[str, Category], ...]:
        """Return the names and levels of all categories; of columns without names, after a kind."""
        columns = zip(self.column_names(kind), self.categories, strict=False)
        return tuple((name, category) for name, category in columns if category is not None)

    def with_whole_levels(self, points: Array) -> Array:
        """Return points whose categories are moved to the nearest level."""
        return np.where(self.is_numeric, points, np.rint(points))

    def column_names(self, kind: str) -> list[str]:
        """Return the columns' names, numbered ones after their kind where they have none."""
        if self.names is not None:
            return [str(name) for name in self.names]
        count = len(self.low)
        return [kind] if count == 1 else [f"{kind} {k + 1}" for k in range(count)]

    def named_bounds(self, kind: str) -> list[dict[str, Any]]:
        """Return every column as an object for machines; columns without names are numbered."""
        names = self.column_names(kind)
        return [{"name": name, **self._extent(k)} for k, name in enumerate(names)]

    def _extent(self, column: int) -> dict[str, Any]:
        category = self.category(column)
        if category is not None:
            return {"levels": list(category.levels)}
        days = self.days(column)
        if days is not None:
            low, high = self.extent_in_words(column)
            return {"low": low, "high": high, "unit": days.unit}
        return {"low": float(self.low[column]), "high": float(self.high[column])}

    def extent_in_words(self, column: int) -> tuple[str, str]:
        """Return the ends of a column's interval as text; of a category its levels, and nothing."""
        category = self.category(column)
        if category is not None:
            return f"levels {category.words}", ""
        return self.in_words(column, self.low[column]), self.in_words(column, self.high[column])

    def in_words(self, column: int, value: float, form: str = "g") -> str:
        """Return a value of a column as text: a number in this form, a date, or a level."""
        (shown,) = self.shown(column, np.array([value])).tolist()
        return format(shown, form) if isinstance(shown, float) else str(shown)

    def shown(self, column: int, values: Array) -> NDArray[Any]:
        """Return values of a column as people know them: numbers, dates, or labels of levels."""
        category, days = self.category(column), self.days(column)
        if category is not None:
            return np.array(category.labels)[np.rint(values).astype(np.int64)]
        return values if days is None else days.dates(values)

    def clip(self, X: Array) -> Array:
        """Move values outside the bounds to the nearest bound."""
        return np.clip(X, self.low, self.high)

    def contains(self, points: Array) -> bool:
        """Return whether every point lies within the bounds."""
        return bool(np.all((points >= self.low) & (points <= self.high)))


def has_dates(bounds: Any) -> bool:
    """Return whether a date is among bounds, however they are given."""
    if isinstance(bounds, Mapping):
        bounds = list(bounds.values())
    if isinstance(bounds, list | tuple | np.ndarray):
        return any(map(has_dates, bounds))
    return date_of(bounds) is not None


def _pairs(bounds: Any, kinds: Categories, names: Sequence[str] | None, argument: str) -> list[Any]:
    """Return the pairs of all columns of numbers."""
    numeric = [k for k, kind in enumerate(kinds) if kind is None]
    given = _without_categories(bounds, kinds, names, argument)
    if not numeric and (given is None or not len(given)):
        return []
    if given is None:
        raise ValueError(f"`{argument}` must be given as (low, high) pairs: {_WHY_PUBLIC}.")
    if isinstance(given, Mapping):
        return _pairs_by_name(given, names and [names[k] for k in numeric], argument)
    pairs = list(given) if isinstance(given, Sequence | np.ndarray) else [given]
    if numeric and len(pairs) == 2 and all(np.ndim(value) == 0 for value in pairs):
        return [tuple(pairs)] * len(numeric)
    if len(pairs) != len(numeric):
        rest = ", which are no categories" if len(numeric) < len(kinds) else ""
        raise ValueError(
            f"`{argument}` must hold one (low, high) pair for each of the {len(numeric)} columns"
            f"{rest}, or one pair for all; got {len(pairs)}."
        )
    return pairs


def _without_categories(
    bounds: Any, kinds: Categories, names: Sequence[str] | None, argument: str
) -> Any:
    """Return bounds of columns of numbers alone; raise where a category has some too."""
    if isinstance(bounds, Mapping):
        pairs = [(bounds.get(name), kind) for name, kind in zip(names or (), kinds, strict=False)]
        columns: Sequence[Any] = names or ()
    elif any(kinds) and isinstance(bounds, list | tuple) and len(bounds) == len(kinds):
        if all(np.ndim(pair) == 0 and pair is not None for pair in bounds):
            return bounds  # (low, high) for all
        pairs, columns = list(zip(bounds, kinds, strict=True)), range(len(kinds))
        bounds = [pair for pair, kind in pairs if kind is None]
    else:
        return bounds
    both = [columns[k] for k, (pair, kind) in enumerate(pairs) if kind and pair is not None]
    if both:
        raise ValueError(
            f"column {both[0]!r} is a category and has `{argument}` too; give its levels alone."
        )
    return bounds


def _pairs_by_name(
    bounds: Mapping[str, Any], names: Sequence[str] | None, argument: str
) -> list[Any]:
    if names is None:
        raise ValueError(
            f"`{argument}` is a mapping by column name, but the data has no column names; "
            "pass a data frame, or a list of pairs in column order."
        )
    absent = [name for name in names if name not in bounds]
    if names and len(absent) == len(names):  # perhaps a row of data: not to be repeated
        raise ValueError(
            f"`{argument}` knows none of the columns, and names {_listed(bounds)}; write the names "
            "as the data frame has them, and make sure that it was read with its header."
        )
    extra = [name for name in bounds if name not in names]
    if absent and extra:
        near = get_close_matches(str(extra[0]), absent, n=1)
        meant = f"did you mean {near[0]!r}?" if near else "write it as the data frame has it."
        raise ValueError(
            f"`{argument}` lacks the columns {absent}, and has {extra[0]!r} that is not there; "
            f"{meant}"
        )
    if absent:
        raise ValueError(f"`{argument}` lacks the columns {absent}: {_WHY_PUBLIC}.")
    if extra:
        raise ValueError(
            f"`{argument}` has a column {extra[0]!r} that is not there; remove it, or write the "
            "names as the data frame has them."
        )
    return [bounds[name] for name in names]


def _listed(names: Mapping[str, Any]) -> str:
    """Return names, and no more of them than a message can hold."""
    more = ", …" if len(names) > MOST_LISTED else ""
    return ", ".join(map(repr, list(names)[:MOST_LISTED])) + more


def _checked_pair(pair: Any, argument: str) -> tuple[float, float, Days | None]:
    """Return the numbers of two bounds, and what counts days where they are dates."""
    if isinstance(pair, Sequence | np.ndarray) and len(pair) == 2:
        first, last = map(date_of, pair)
        if first is not None and last is not None:
            return _checked_dates(first, last, argument)
    try:
        low, high = (float(value) for value in pair)
    except (TypeError, ValueError):
        raise TypeError(
            f"`{argument}` must hold pairs of numbers, or of dates, got {pair!r}."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"`{argument}` must be finite, got {(low, high)}.")
    if not low < high:
        raise ValueError(f"`{argument}` must have low < high, got {(low, high)}.")
    if not 0.0 < (high - low) / 2 < math.inf:  # what rows are divided by
        raise ValueError(
            f"`{argument}` must have a width that a float can hold, got {(low, high)}; choose "
            "other units."
        )
    return low, high, None


def _checked_dates(low: date, high: date, argument: str) -> tuple[float, float, Days]:
    if argument != "bounds":
        raise ValueError(
            f"`{argument}` must be numbers, got dates, which may be inputs alone; predict days "
            "since a public date."
        )
    if not low < high:
        raise ValueError(f"`{argument}` must have low < high, got {low} and {high}.")
    return 0.0, float((high - low).days), Days(low)
