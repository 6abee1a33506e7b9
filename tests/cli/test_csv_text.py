"""Lines of CSV, written many at a time: what Python's own reader reads back."""

import csv
import io
from datetime import date

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dpgp.cli.csv_text import csv_line, csv_lines

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def read(content):
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_cells_are_read_back_as_they_were(rows):
    first, second = zip(*rows, strict=True)
    table = pa.table({"a": pa.array(first, pa.string()), "b": pa.array(second, pa.large_string())})
    numbers = np.arange(len(rows)) + 0.5
    expected = [[a, b, repr(float(n))] for (a, b), n in zip(rows, numbers, strict=True)]
    assert read(csv_lines(table, [numbers])) == expected
    assert read(csv_line([first[0], "x", second[0]])) == [[first[0], "x", second[0]]]


@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=20))
def test_numbers_keep_all_their_digits_and_missing_ones_are_empty(values):
    lines = read(csv_lines(pa.table({"a": ["x"] * len(values)}), [np.array(values)]))
    found = [np.nan if cell == "" else float(cell) for _, cell in lines]
    np.testing.assert_array_equal(found, values)


def test_cells_of_other_types_are_written_as_python_writes_them():
    table = pa.table(
        {
            "whole": [1, None],
            "day": [date(2020, 1, 2), None],
            "true": [True, False],
            "level": pa.array(["a,b", None]).dictionary_encode(),
        }
    )
    lines = read(csv_lines(table, [np.array([np.nan, 2.5])]))
    assert lines == [["1", "2020-01-02", "True", "a,b", ""], ["", "", "False", "", "2.5"]]


def test_no_rows_are_no_lines():
    assert csv_lines(pa.table({"a": pa.array([], pa.string())}), [np.array([])]) == b""
