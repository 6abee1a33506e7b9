"""Numbers from every container, and refusals that tell nothing of what it holds."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from dpgp.numeric import (
    as_floats,
    check_distinct_names,
    check_no_row_as_names,
    column_names,
    numeric_matrix,
    numeric_targets,
    numeric_vector,
    target_names,
)

FRAME = {"a": [1, 2], "b": [True, False]}
HOLED = {"a": [1, None], "b": [0.5, 1.5]}


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(FRAME),
        pd.DataFrame(FRAME).astype(object),
        pd.DataFrame(FRAME).convert_dtypes(),
        pl.DataFrame(FRAME),
        pa.table({"a": [1, 2], "b": [1, 0]}),
        [[1, True], (2, False)],
        [[Decimal(1), 1], [2, np.float32(0)]],
    ],
)
def test_containers_are_read_alike(X):
    assert numeric_matrix(X).tolist() == [[1.0, 1.0], [2.0, 0.0]]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(HOLED),
        pd.DataFrame(HOLED).convert_dtypes(),
        pl.DataFrame(HOLED),
        [[1, 0.5], [None, 1.5]],
        np.array([[1, 0.5], [pd.NA, 1.5]], dtype=object),
        np.ma.array([[1, 0.5], [9, 1.5]], mask=[[0, 0], [1, 0]]),
    ],
)
def test_missing_cells_are_nan(X):
    np.testing.assert_array_equal(numeric_matrix(X), [[1.0, 0.5], [np.nan, 1.5]])


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        ([[1], [2, 3]], ValueError, "equally long"),
        (3.5, ValueError, "two dimensions"),
        ([1, 2], ValueError, "Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "two dimensions"),
        (np.zeros((3, 0)), ValueError, "at least one column"),
        (np.zeros((0, 3)), ValueError, "at least one row"),
        (np.zeros((2, 2), complex), ValueError, "Complex data not supported"),
        ([["1"]], TypeError, "must hold numbers"),
        ([[1, "x"]], TypeError, "must hold numbers"),
        ([[10**400]], TypeError, "must hold numbers"),
        ([[None, 1j]], TypeError, "must hold numbers|Complex"),
        (csr_matrix((2, 2)), TypeError, "is sparse"),
        (np.zeros((2, 2), "M8[s]"), ValueError, "dates or times"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), ValueError, "dates or times"),
        (pl.DataFrame({"a": [1]}).cast(pl.Duration), ValueError, "dates or times"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), ValueError, "dates or times"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X, error, text):
    with pytest.raises(error, match=text) as caught:
        numeric_matrix(X)
    assert caught.value.__context__ is None


def test_targets_have_one_or_two_dimensions_and_a_row_each():
    assert numeric_targets([1, 2], 2).shape == (2,)
    assert numeric_targets([[1], [2]], 2).shape == (2, 1)
    for y, text in (
        (None, "requires y to be passed, but the target y is None"),
        (1.5, "for every row"),
        (np.zeros((2, 1, 1)), "for every row"),
        (np.zeros((2, 0)), "for every row"),
        ([1, 2, 3], "one value for each of the rows"),
    ):
        with pytest.raises(ValueError, match=text):
            numeric_targets(y, 2)
    with pytest.raises(ValueError, match="must have one dimension"):
        numeric_vector([[1], [2]], 2)


def test_what_no_float_can_hold_is_infinite_without_a_warning():
    assert as_floats(np.array([np.longdouble(1e308) * 100]), "y").tolist() == [np.inf]


def test_only_frames_have_column_names():
    assert column_names(pd.DataFrame(FRAME)) == ("a", "b")
    assert column_names(pa.table(FRAME)) == ("a", "b")
    assert column_names(np.zeros((2, 2))) is None


def test_columns_have_different_names():
    check_distinct_names(None)
    check_distinct_names(["a", "b"])
    with pytest.raises(ValueError, match="different names"):
        check_distinct_names(["a", "a"])


def test_a_row_of_data_is_no_header():
    check_no_row_as_names(None)
    check_no_row_as_names(["age", "1990", "-1"])
    check_no_row_as_names(["71.5"], known=["71.5"])
    for name in ("71.5", "1e3", "nan", " 2.0"):
        with pytest.raises(ValueError, match="as if its file had no header") as caught:
            check_no_row_as_names(["age", name])
        assert name not in str(caught.value)


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (pd.Series([1.0], name="height"), ("height",)),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), ("a", "b")),
        (pl.Series("height", [1.0]), ("height",)),
        (pd.Series([1.0]), None),
        (pd.Series([1.0], name=3), None),
        (pd.Series([1.0], name="123456.789"), None),
        (pd.Series([1.0], name="a\nb"), None),
        (pl.Series([1.0]), None),
        ([1.0], None),
        (None, None),
    ],
)
def test_targets_keep_their_names(y, names):
    assert target_names(y) == names
