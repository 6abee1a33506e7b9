"""Lines of CSV, written many at a time: what Python's own reader reads back."""

import csv
import io
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dpgp.cli.csv_text import Marks
from dpgp.private.cells import Cells
from dpgp.private.csv_files import DELIMITERS, CsvFile, cells_of, find_delimiter

MARKS = st.builds(Marks, st.sampled_from(DELIMITERS), st.sampled_from(".,"))
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def read(content, delimiter=","):
    return list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=delimiter))


@given(MARKS, st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_cells_are_read_back_as_they_were(marks, rows):
    first, second = zip(*rows, strict=True)
    table = pa.table({"a": pa.array(first, pa.string()), "b": pa.array(second, pa.large_string())})
    numbers = np.arange(len(rows)) + 0.5
    written = [repr(float(n)).replace(".", marks.decimal) for n in numbers]
    expected = [[a, b, n] for (a, b), n in zip(rows, written, strict=True)]
    lines = marks.lines(Cells(table, decimal=marks.decimal), [numbers])
    assert read(lines, marks.delimiter) == expected
    header = marks.header([first[0], "x", second[0]])
    assert read(header, marks.delimiter) == [[first[0], "x", second[0]]]


NAMES = st.text(st.sampled_from('ab ,;\t"'), min_size=1, max_size=6)


@given(MARKS, st.lists(NAMES, min_size=2, max_size=4))
def test_the_delimiter_of_a_header_is_found_whatever_names_hold(marks, names):
    line = marks.header(names).decode().removesuffix("\n")
    assert find_delimiter(line) == marks.delimiter
    assert cells_of(line, marks.delimiter) == names


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(MARKS, st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=9))
def test_a_table_of_any_kind_is_read_back_with_the_marks_that_it_was_written_with(marks, rows):
    known, new = map(np.array, zip(*rows, strict=True))
    texts = pa.array([f" {value!r}" for value in known.tolist()], pa.string())
    cells = Cells(pa.table({"number": known, "text": texts}))  # as Parquet has it, with points
    content = marks.header(["number", "text", "mean"]) + marks.lines(cells, [new])
    file = replace(CsvFile.opened("-", "", content), decimal=marks.decimal)
    (piece,) = file.pieces(file.names)
    for name, values in (("number", known), ("text", known), ("mean", new)):
        np.testing.assert_array_equal(piece().numbers(name), values)


def test_cells_that_are_no_numbers_keep_their_points():
    cells = Cells(pa.table({"a": ["1.2.2020", "v1.5", ".", "3.", "-.5e-3"]}))
    lines = Marks(";", ",").lines(cells, [])
    assert lines.decode().split() == ["1.2.2020", "v1.5", ".", "3,", "-,5e-3"]


@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=20))
def test_numbers_keep_all_their_digits_and_missing_ones_are_empty(values):
    lines = read(Marks().lines(Cells(pa.table({"a": ["x"] * len(values)})), [np.array(values)]))
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
    lines = read(Marks().lines(Cells(table), [np.array([np.nan, 2.5])]))
    assert lines == [["1", "2020-01-02", "True", "a,b", ""], ["", "", "False", "", "2.5"]]


def test_no_rows_are_no_lines():
    assert Marks().lines(Cells(pa.table({"a": pa.array([], pa.string())})), [np.array([])]) == b""
