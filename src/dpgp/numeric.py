"""Numbers out of whatever holds them: kind, shape and length, checked before anybody else looks.

The errors of NumPy, pandas and scikit-learn quote values and tell how many rows there are. These
never do, and carry no other error behind them that does.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.plain_text import check_names, is_name
from dpgp.types import Array

_TIMES = ("date", "time", "duration", "period")
_REAL = "biuf"  # NumPy's kinds
MOST_LISTED = 40  # names of columns in a message: more would bury it
_PLAIN = frozenset((int, float, bool, np.float64, np.int64, np.bool_))
_NOT_NUMBERS = {
    "X": "encode other columns as numbers first, or name their public levels in `categories` of "
    "PrivateGPRegressor",
    "sample_weight": "write a weight that is not known as NaN, also where text stands for it",
}
"""What to do about cells that are no numbers."""
_TIME_TYPES = (date, time, timedelta, np.datetime64, np.timedelta64)


def numeric_matrix(X: Any, argument: str = "X", least: int = 1) -> Array:
    """Return rows of numbers as float64, at least one column and ``least`` rows of them."""
    array = as_floats(X, argument)
    if array.ndim != 2:
        raise ValueError(
            f"`{argument}` must have two dimensions (rows, columns), got {array.ndim}. Reshape "
            f"your data: {argument}.reshape(-1, 1) is a single column, (1, -1) a single row."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"`{argument}` must have at least one column: 0 feature(s) (shape=(, 0)) while a "
            "minimum of 1 is required."
        )
    if len(array) < least:
        rule = "at least two rows; one sample is not enough" if least > 1 else "at least one row"
        raise ValueError(f"`{argument}` must have {rule}.")
    return array


def numeric_vector(y: Any, rows: int, argument: str = "y") -> Array:
    """Return a number for every row as float64."""
    array = numeric_targets(y, rows, argument)
    if array.ndim != 1:
        raise ValueError(f"`{argument}` must have one dimension, got {array.ndim}.")
    return array


def numeric_targets(y: Any, rows: int, argument: str = "y") -> Array:
    """Return one number, or several side by side, for every row as float64."""
    if y is None:
        raise ValueError(f"this requires y to be passed, but the target {argument} is None.")
    array = as_floats(y, argument)
    if array.ndim not in (1, 2) or 0 in array.shape[1:]:
        raise ValueError(
            f"`{argument}` must hold a number for every row of `X`, or a row of numbers, "
            f"got {array.ndim} dimension(s)."
        )
    if len(array) != rows:
        raise ValueError(f"`{argument}` must have one value for each of the rows of `X`.")
    return array


def as_floats(values: Any, argument: str) -> Array:
    """Return numbers of any kind as float64; what is missing or too large is not finite."""
    if hasattr(values, "nnz"):  # what scipy.sparse calls its number of entries
        raise TypeError(f"`{argument}` is sparse; pass dense numbers, as {argument}.toarray().")
    array = _as_array(values)
    if _holds_times(values) or _holds_times(array):
        raise ValueError(
            f"`{argument}` holds dates or times; make them numbers of one unit first, such as days "
            "since a public date, or, of an input, give `bounds` that are dates."
        )
    if array is None:
        raise ValueError(f"`{argument}` must be an array or table whose rows are equally long.")
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: `{argument}` must hold real numbers.")
    floats = _floats_of(array)
    if floats is None:
        remedy = _NOT_NUMBERS.get(argument, _NOT_NUMBERS["X"])
        raise TypeError(
            f"`{argument}` must hold numbers: every cell of this argument must be real, not a "
            f"string or an object; {remedy}."
        )
    return floats


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, None for anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow has both
    return None if names is None else tuple(str(name) for name in names)


def target_names(y: Any) -> tuple[str, ...] | None:
    """Return what the targets of a series or a data frame are called, None where nobody says.

    What looks like a measurement is no name: a table that was read without its header has a row for
    names.
    """
    columns = column_names(y)
    names: Sequence[Any] = [getattr(y, "name", None)] if columns is None else columns
    if not names or not all(isinstance(name, str) and _can_name(name) for name in names):
        return None
    return tuple(names) if len(set(names)) == len(names) else None


def _can_name(text: str) -> bool:
    return bool(text) and not _is_number(text) and is_name(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_column_names(names: Collection[str] | None, known: Collection[str] = ()) -> None:
    """Raise where names could not be published, or should not be; ``known`` ones have been."""
    check_distinct_names(names)
    check_names(names)
    check_no_row_as_names(names, known)


def check_distinct_names(names: Collection[str] | None) -> None:
    """Raise where two columns have one name, in fixed words; other libraries list them."""
    if names is not None and len(set(names)) < len(names):
        raise ValueError("the columns of `X` must have different names; rename all but one.")


def check_no_row_as_names(names: Collection[str] | None, known: Collection[str] = ()) -> None:
    """Raise where names look like somebody's row, read from a file without a header.

    Names are published with a model. Whole numbers, as in columns of years, may be names.
    """
    new = (name for name in names or () if name not in known)
    if any(_is_number(name) and not name.strip().lstrip("+-").isdecimal() for name in new):
        raise ValueError(
            "the column names of `X` hold numbers, as if its file had no header and a row of data "
            "became the feature names, which are published; name the columns first."
        )


def what_it_has(names: Sequence[str], wanted: Sequence[str], missed: str) -> str:
    """Say which columns a table has instead of the one that is missed, the nearest first.

    Nothing where its names may be somebody's row, read from a file without a header: where one is a
    number, or none is wanted.
    """
    if not set(names).intersection(wanted) or any(map(_is_number, names)):
        return ""
    near = nearest_name(names, missed)
    listed = ", ".join(f"'{other}'" for other in names[:MOST_LISTED])
    more = ", …" if len(names) > MOST_LISTED else ""
    return f"{near + ' Its' if near else 'its'} columns are {listed}{more}."


def nearest_name(names: Sequence[str], missed: str) -> str:
    """Ask whether the name that is nearest to the one that is missed was meant, if one is near."""
    spelt = {name.casefold(): name for name in names if not _is_number(name)}
    near = get_close_matches(missed.casefold(), spelt, n=1)
    return f"did you mean '{spelt[near[0]]}'?" if near else ""


def holds_times(cells: Iterable[Any]) -> bool:
    """Return whether a cell is a date or a time."""
    return any(isinstance(cell, _TIME_TYPES) for cell in cells)


def _holds_times(values: Any) -> bool:
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        return holds_times(values.flat)
    kinds = getattr(values, "dtypes", getattr(values, "dtype", ()))
    many = isinstance(kinds, list) or hasattr(kinds, "to_list")  # polars and pandas: one a column
    return any(str(kind).lower().startswith(_TIMES) for kind in (kinds if many else [kinds]))


def _as_array(values: Any) -> NDArray[Any] | None:
    """Return an array of any kind; None where rows differ in length, or it fails in other ways."""
    try:
        if isinstance(values, np.ma.MaskedArray):
            return np.asarray(np.ma.filled(values.astype(object), np.nan))
        if isinstance(values, list | tuple) and not all(map(_is_plain, values)):
            return _cells_of(values)
        return np.asarray(values)
    except Exception:  # whatever it says may quote the data
        return None


def _is_plain(row: Any) -> bool:
    """Return whether NumPy reads a cell, or each cell of a row, as ``float`` would."""
    if isinstance(row, list | tuple):
        return _PLAIN.issuperset(map(type, row))
    if type(row) is np.ndarray:
        return row.ndim == 1 and row.dtype.kind in _REAL
    return type(row) in _PLAIN


def _cells_of(rows: Sequence[Any]) -> NDArray[np.object_]:
    """Return cells, or rows of cells, each as it is: NumPy would choose one type for all."""
    are_rows = [isinstance(row, list | tuple) or type(row) is np.ndarray for row in rows]
    listed = [list(row) if is_row else [row] for row, is_row in zip(rows, are_rows, strict=True)]
    if len({len(row) for row in listed}) > 1 or len(set(are_rows)) > 1:
        raise ValueError
    cells = np.empty((len(listed), len(listed[0])), dtype=object)
    for k, row in enumerate(listed):
        for column, cell in enumerate(row):
            cells[k, column] = cell
    return cells if are_rows[0] else cells[:, 0]


def _floats_of(array: NDArray[Any]) -> Array | None:
    if array.dtype.kind in _REAL:
        with np.errstate(over="ignore"):  # one value beyond all floats must not cause a warning
            return array.astype(np.float64, copy=False)
    if array.dtype.kind != "O":
        return None
    try:
        cells = [float_of(cell) for cell in array.flat]
    except Exception:  # whatever it says may quote the data
        return None
    return np.array(cells, dtype=np.float64).reshape(array.shape)


def float_of(cell: Any) -> float:
    """Return one cell as a number, NaN for a missing one; an error where it is none."""
    if cell is None or cell is getattr(sys.modules.get("pandas"), "NA", None):
        return np.nan
    # to NumPy a span of time is a whole number
    if isinstance(cell, np.timedelta64) or not isinstance(cell, Real | Decimal | np.bool_):
        raise TypeError
    return float(cell)


_MOST_DIGITS = 1000  # of a Decimal, before and behind its point: far beyond any identifier


def whole_of_decimal(number: Decimal) -> int | None:
    """Return a whole number of bounded length, None for all else; in no time, whatever it is."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -_MOST_DIGITS:
        return None
    if number.adjusted() > _MOST_DIGITS:
        return None
    whole, denominator = number.as_integer_ratio()
    return whole if denominator == 1 else None


Seed = int | np.random.RandomState | None
"""What draws are made from: a seed, a generator, or anything for None."""


def as_random_state(seed: object) -> np.random.RandomState:
    """Return a generator for a seed, one of its own for None, or the one that was given."""
    if isinstance(seed, np.random.RandomState):
        return seed
    if seed is not None and not isinstance(seed, Integral):
        raise ValueError(f"`random_state` must be None or a seed, got {type(seed).__name__}.")
    return np.random.RandomState(None if seed is None else int(seed))
