"""Cells of Python objects are read one by one, and never handed to Arrow.

Arrow gives a list one type by its first cells, and then converts the others: a Decimal of a million
digits among dates takes it hours, NumPy's dates among other scalars end it.
"""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpgp.categories import Category
from dpgp.dates import Days
from dpgp.private.cells import Cells
from dpgp.private.table_objects import MixedTable, open_object

HUGE = Decimal("1e999999")
CELLS = [date(2019, 1, 2), np.datetime64("2019-01-03"), "2019-01-04", datetime(2019, 1, 5, 23)]
CELLS += [pd.Timestamp("2019-01-06"), 7, 7.5, None, HUGE, -HUGE, Decimal("1e-999999"), pd.NaT]
SHOWN = [1.0, 2.0, 3.0, 4.0, 5.0] + [np.nan] * 7


def frames():
    """Return the cells in columns of objects, as they are, as categories, and in turn."""
    plain = np.empty(len(CELLS), dtype=object)
    plain[:] = CELLS
    frame = pd.DataFrame({"visit": pd.Series(plain, dtype=object)})
    yield frame, SHOWN
    yield frame.iloc[::-1], SHOWN[::-1]
    levels = pd.Categorical.from_codes(range(len(CELLS) - 4), [*CELLS[:7], HUGE])
    yield pd.DataFrame({"visit": levels}), [*SHOWN[:7], np.nan]


def test_dates_among_other_cells_are_read_and_nothing_else_is_a_date():
    for frame, shown in frames():
        (piece,) = open_object(frame, hold=False).pieces(["visit"])
        assert isinstance(piece().table, MixedTable)
        np.testing.assert_array_equal(piece().days("visit", Days(date(2019, 1, 1))), shown)


def test_other_columns_of_such_cells_are_refused_or_read_without_delay():
    for frame, _ in frames():
        cells = Cells(MixedTable.of_pandas(frame))
        with pytest.raises(ValueError, match="dates or times"):
            cells.numbers("visit")
        numbers = cells.levels("visit", Category(("2019-01-04", 7)))
        assert sorted(numbers[~np.isnan(numbers)].tolist()) == [0.0, 1.0]
    huge = pd.DataFrame({"dose": pd.Series([1.5, HUGE, -HUGE], dtype=object)})
    found = Cells(MixedTable.of_pandas(huge)).numbers("dose")
    np.testing.assert_array_equal(found, [1.5, np.inf, -np.inf])
