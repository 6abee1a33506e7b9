"""Values of a model file, each checked as it is read: type, range, length, finite."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from dpgp.plain_text import is_plain
from dpgp.types import Array

# Limits of a file that may come from a stranger: far beyond any model, far below any harm
LONGEST_TEXT = 10_000
MOST_TARGETS = 1000
LARGEST = 4096
"""Most inputs, features, and anchors: a matrix over them takes 128 MB."""
MOST_NUMBERS = 2**23
MOST_ROWS = 2**18
"""Most values and most lists or objects in a file: parsed, they take half a gigabyte."""
MOST_ITEMS = 10_000
MOST_FINDINGS = 1000
MOST_FITTED = 1e15  # rows of a model, noisy where their number is private
LARGEST_WHOLE = 10**9
MOST_PARTS = 10**9  # of the rows

INDEFINITE = 1e-6  # of the largest eigenvalue: rounding of what was written
BEYOND_THE_ENDS = 1e-9  # of an interval: rounding of what was written

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


class ModelFileError(ValueError):
    """A file that is not a model which this version of dpgp can read, or cannot write."""


def number_to_json(value: Any) -> float | str:
    """Return a float, or the name of an infinite one: strict JSON has no word for it."""
    value = float(value)
    if math.isnan(value):
        raise ModelFileError("the model holds a number that is not one (nan) and cannot be saved.")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def triangle_to_json(V: Array, name: str) -> list[list[float]]:
    """Return the rows of the lower triangle of a symmetric matrix."""
    if not np.array_equal(V, V.T):
        raise ModelFileError(f"the model's {name} is not symmetric and cannot be saved.")
    return [row[: i + 1] for i, row in enumerate(V.tolist())]


def as_fields(value: Any, where: str, names: Collection[str]) -> dict[str, Any]:
    """Return an object that has exactly these fields."""
    if not isinstance(value, dict):
        raise ModelFileError(f"`{where}` must be an object with named fields.")
    for name in names:
        if name not in value:
            raise ModelFileError(f"`{where}` lacks the field `{name}`.")
    if len(value) > len(names):
        raise ModelFileError(f"`{where}` has fields that are not among {', '.join(names)}.")
    return value


def with_present(names: Sequence[str], value: Any, *optional: str) -> tuple[str, ...]:
    """Return names of fields, with those that an object need not have where it has them."""
    return (*names, *(name for name in optional if isinstance(value, dict) and name in value))


def as_items(value: Any, where: str, most: int = MOST_ITEMS) -> list[Any]:
    """Return a list with one item at least, and not too many."""
    if not isinstance(value, list) or not 1 <= len(value) <= most:
        raise ModelFileError(f"`{where}` must be a list of 1 to {most} items.")
    return value


def as_text(value: Any, where: str) -> str:
    """Return a text of bounded length."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ModelFileError(f"`{where}` must be a text of at most {LONGEST_TEXT} characters.")
    if not is_plain(value):
        raise ModelFileError(f"`{where}` must hold no control characters.")
    return value


def as_findings(value: Any, where: str = "findings", depth: int = 5) -> Any:
    """Return plain values by name: texts, numbers, and short lists and objects of them."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return as_text(value, where)
    if isinstance(value, int | float):
        return as_number(value, where)
    if depth == 0 or not isinstance(value, list | dict) or len(value) > MOST_FINDINGS:
        raise ModelFileError(f"`{where}` must hold short, plain values.")
    if isinstance(value, list):
        return [as_findings(part, where, depth - 1) for part in value]
    return {as_text(key, where): as_findings(v, where, depth - 1) for key, v in value.items()}


def as_choice(value: Any, where: str, options: Collection[str]) -> str:
    """Return one of the texts in ``options``."""
    if not isinstance(value, str) or value not in options:
        raise ModelFileError(f"`{where}` must be one of: {', '.join(options)}.")
    return value


def as_flag(value: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ModelFileError(f"`{where}` must be true or false.")
    return value


def as_whole(value: Any, where: str, low: int = 1, high: int = LARGEST_WHOLE) -> int:
    """Return a whole number within limits."""
    if type(value) is not int or not low <= value <= high:
        raise ModelFileError(f"`{where}` must be a whole number between {low} and {high}.")
    return value


def as_number(value: Any, where: str, *, low: float = -math.inf, infinite: bool = False) -> float:
    """Return a number that is at least ``low``; "inf" and "-inf" only where they make sense."""
    if infinite and isinstance(value, str) and value in _INFINITE:
        number = _INFINITE[value]
    else:
        number = float(as_vector([value], where)[0])
    if number < low:
        raise ModelFileError(f"`{where}` must be at least {low}.")
    return number


def as_positive(value: Any, where: str, *, infinite: bool = False) -> float:
    """Return a number above zero."""
    number = as_number(value, where, infinite=infinite)
    if number <= 0.0:
        raise ModelFileError(f"`{where}` must be positive.")
    return number


def as_between(value: Any, where: str, low: float, high: float) -> float:
    """Return a number within limits."""
    number = as_number(value, where)
    if not low <= number <= high:
        raise ModelFileError(f"`{where}` must be between {low:g} and {high:g}.")
    return number


def as_part(fields: Mapping[str, Any], where: str) -> tuple[int, int] | None:
    """Return the number of a part of the rows and of how many, if an object names one."""
    if "part" not in fields:
        return None
    numbers = as_items(fields["part"], where)
    if len(numbers) != 2:
        raise ModelFileError(f"`{where}` must hold the number of a part, and of how many.")
    of = as_whole(numbers[1], where, 1, MOST_PARTS)
    return as_whole(numbers[0], where, 1, of), of


def as_rows(values: Sequence[Any], where: str) -> float:
    """Return the one number of rows that all values are."""
    found = {as_between(value, where, 1.0, MOST_FITTED) for value in values}
    if len(found) != 1:
        raise ModelFileError(f"`{where}` must be one number of rows, the same everywhere.")
    return found.pop()


def as_vector(value: Any, where: str, length: int | None = None) -> Array:
    """Return finite numbers, ``length`` of them."""
    if not isinstance(value, list) or not set(map(type, value)) <= {int, float}:
        raise ModelFileError(f"`{where}` must hold numbers only.")
    if length is not None and len(value) != length:
        raise ModelFileError(f"`{where}` must hold {length} numbers.")
    try:
        numbers = np.array(value, dtype=np.float64)
    except OverflowError:
        numbers = np.array([math.inf])
    if not np.isfinite(numbers).all():
        raise ModelFileError(f"`{where}` must hold finite numbers.")
    return numbers


def as_matrix(value: Any, where: str, columns: int, rows: int | None = None) -> Array:
    """Return a matrix of finite numbers, a list of rows of equal length."""
    items = as_items(value, where)
    if rows is not None and len(items) != rows:
        raise ModelFileError(f"`{where}` must have {rows} rows.")
    return np.stack([as_vector(row, where, columns) for row in items])


def as_symmetric(value: Any, where: str, size: int) -> Array:
    """Return the matrix whose lower triangle has these rows, from short to long."""
    items = as_items(value, where)
    if len(items) != size:
        raise ModelFileError(f"`{where}` must have {size} rows.")
    V = np.zeros((size, size))
    for i, row in enumerate(items):
        V[i, : i + 1] = as_vector(row, where, i + 1)
    return V + np.tril(V, -1).T


def as_covariance(value: Any, where: str, size: int) -> Array:
    """Return such a matrix without negative eigenvalues that rounding does not explain."""
    V = as_symmetric(value, where, size)
    eigenvalues = np.linalg.eigvalsh(V)
    if not eigenvalues[0] >= -INDEFINITE * max(float(eigenvalues[-1]), 0.0):
        raise ModelFileError(f"`{where}` must be a covariance: positive semi-definite.")
    return V


def check_increasing(values: Array, where: str, ends: Sequence[float]) -> None:
    """Refuse numbers that decrease, or leave the interval between ``ends``."""
    slack = BEYOND_THE_ENDS * max((abs(end) for end in ends if math.isfinite(end)), default=0.0)
    within = values.min() >= ends[0] - slack and values.max() <= ends[1] + slack
    if not within or np.any(np.diff(values) < 0.0):
        raise ModelFileError(f"`{where}` must increase from {ends[0]} to {ends[1]} at most.")
