"""Tables in files: columns by name, missing cells, and messages that repeat nothing private."""

import importlib.util
import io
import sys
import unicodedata

import numpy as np
import pytest

from dpgp.private import tables
from dpgp.private.tables import TableError, read_table

NAN = np.nan


@pytest.fixture
def write(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def test_reads_numbers_and_every_spelling_of_missing(write):
    path = write("a,b\n1,x\n 2.5e1 ,y\n,z\nNA,\nnan,\nn/a,\nnull,\n-3,\n")
    table = read_table(path, ["a"])
    np.testing.assert_array_equal(table.numbers("a"), [1.0, 25.0, NAN, NAN, NAN, NAN, NAN, -3.0])
    assert table.names == ("a",)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_finds_the_delimiter_in_the_first_line(write, delimiter):
    lines = ['"height, cm";age', '1.5;"2"', "3;4", "", ""]
    text = "\r\n".join(lines).replace(";", delimiter)
    table = read_table(write(text))
    assert table.names == ("height, cm", "age")
    assert table.numbers("age").tolist() == [2.0, 4.0]
    assert list(table.rows()) == [["1.5", "2"], ["3", "4"]]


def test_names_are_compared_in_one_spelling(write):
    decomposed = unicodedata.normalize("NFD", "größe")
    table = read_table(write(f"\ufeff {decomposed} , age\n1,2\n"), ["größe", "age"])
    assert table.numbers("größe").tolist() == [1.0]


def test_reads_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n1\n")))
    assert read_table("-").numbers("a").tolist() == [1.0]


@pytest.mark.parametrize("cell", ["secret", "1_000", "1.000,5", "12 cm", "0x1A"])
def test_what_is_no_number_is_not_repeated(write, cell):
    table = read_table(write(f'age,b\n1,2\n"{cell}",3\n'))
    with pytest.raises(TableError, match="column 'age' holds cells that are not numbers") as caught:
        table.numbers("age")
    assert cell not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("b,c\n1,2\n", "no column 'a'; its first line must name the columns"),
        ("a,a\n1,2\n", "several columns 'a'"),
        ("a,b\n1,2\n77777\n", "more or fewer cells"),
        ("a,b\n1,2,77777\n", "more or fewer cells"),
        ("a\n\xff77777".encode("latin-1"), "not UTF-8"),
        (b"PAR1 77777", "Parquet"),
    ],
)
def test_bad_files_are_one_sentence_with_a_remedy(write, content, message):
    with pytest.raises(TableError, match=message) as caught:
        read_table(write(content), ["a"])
    assert "77777" not in str(caught.value)


def test_a_file_without_header_shows_no_row(write):
    with pytest.raises(TableError, match="must name the columns") as caught:
        read_table(write("Anna,71.5\nEve,80\n"), ["age"])
    assert "Anna" not in str(caught.value)
    assert "71.5" not in str(caught.value)


def test_columns_are_listed_only_beside_one_that_was_asked_for(write):
    path = write("age,weight\n1,2\n")
    with pytest.raises(TableError, match="no column 'height'; its columns are 'age', 'weight'"):
        read_table(path, ["age", "height"])
    with pytest.raises(TableError, match="no column 'height'") as caught:
        read_table(path, ["height"])
    assert "weight" not in str(caught.value)


MALFORMED = {
    "an unclosed quote": 'a,b\n1,2\n3,"secret\n5,6\n',
    "an unclosed quote, closed by a later row": 'a,b\n1,2\n3,"secret\n5,6\n7,8"\n9,0\n',
    "a line break in a cell": 'a,b\n1,2\n3,"sec\nret"\n',
    "a carriage return in a cell": 'a,b\n1,2\n3,"sec\rret"\n',
    "a carriage return without quotes": "a,b\n1,2\n3,secret\r4,secret\n",
    "carriage returns for line ends": "a,b\r1,2\r3,secret\r",
    "text after a quoted cell": 'a,b\n1,2\n3,"secret"x\n',
    "a quote inside a cell without quotes": 'a,b\n1,2\n3,5"secret\n',
    "a blank before a quote": 'a,b\n1,2\n3, "secret"\n',
    "a NUL": "a,b\n1,2\n3,secret\0\n",
    "a header with an unclosed quote": 'a,"b\n1,2\n',
    "a line that is too short": "a,b\n1,2\nsecret\n",
    "a line that is too long": "a,b\n1,2\n3,4,secret\n",
    "a blank line between rows": "a,b\n1,2\n\n3,4\n",
    "a line of blanks at the end": "a,b\n1,2\n   \n",
    "a cell beyond all limits": 'a,b\n1,2\n3,"' + "secret" * 30_000 + '"\n',
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=list(MALFORMED))
def test_no_cell_can_move_another_row(write, content):
    """Also where it stands in a column that nobody asked for."""
    with pytest.raises(TableError, match=r"line for every row|more or fewer cells") as caught:
        read_table(write(content), ["a"])
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_quoted_cells_may_hold_delimiters_and_quotes(write):
    table = read_table(write('a,b\n1,"x, ""y"""\n2,""\n3,\n'))
    assert list(table.rows()) == [["1", 'x, "y"'], ["2", ""], ["3", ""]]


def test_a_blank_line_in_a_single_column_is_a_missing_cell(write):
    np.testing.assert_array_equal(read_table(write("a\n1\n\n3\n\n")).numbers("a"), [1.0, NAN, 3.0])


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match="no such file"):
        read_table(str(tmp_path / "none.csv"))
    with pytest.raises(TableError, match="cannot read"):
        read_table(str(tmp_path))


def test_identifiers_must_be_complete(write):
    path = write("id,a\nx1,1\n,2\n")
    with pytest.raises(TableError, match="'id' must say for every row whose it is"):
        read_table(path).identifiers("id")
    assert read_table(write("id,a\n 01,1\n1,2\n")).identifiers("id") == ["01", "1"]


def test_repr_holds_no_cell(write):
    assert repr(read_table(write("a\n77777\n"))) == "Table(...)"


def test_parquet_without_pyarrow_names_the_remedy(write, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(tables, "import_module", absent)
    with pytest.raises(TableError, match=r"dpgp\[parquet\]"):
        read_table(write(b"PAR1", "table.parquet"))


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs pyarrow")
def test_reads_parquet(tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    columns = {"a": [1, None, 3], "b": [0.5, 1.5, None], "id": ["x", "y", "z"]}
    parquet.write_table(pyarrow.table(columns), path)
    table = read_table(str(path))
    np.testing.assert_array_equal(table.numbers("a"), [1.0, NAN, 3.0])
    np.testing.assert_array_equal(table.numbers("b"), [0.5, 1.5, NAN])
    assert table.identifiers("id") == ["x", "y", "z"]
    with pytest.raises(TableError, match="not numbers"):
        table.numbers("id")


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs pyarrow")
def test_identifiers_of_parquet_and_csv_have_the_same_keys(tmp_path, write):
    import pyarrow
    from pyarrow import parquet

    def keys(cells, kind):
        column = pyarrow.array(cells, type=kind)
        parquet.write_table(pyarrow.table({"id": column}), tmp_path / "table.parquet")
        return read_table(str(tmp_path / "table.parquet")).identifiers("id")

    assert read_table(write("id,a\n7, \n 8 ,\n")).identifiers("id") == ["7", "8"]
    for kind in (pyarrow.int64(), pyarrow.uint64(), pyarrow.float64(), pyarrow.decimal128(20, 2)):
        assert keys([7, 8], kind) == ["7", "8"]
    assert keys([2**63 + 1, 2**63 + 2], pyarrow.uint64()) == [str(2**63 + 1), str(2**63 + 2)]
    for cells, kind in (
        ([7, None], pyarrow.int64()),
        ([0.5, 7.0], pyarrow.float64()),
        ([2.0**53, 7.0], pyarrow.float64()),
        ([7.0, 8.0], pyarrow.float32()),
        (["NA", "b"], pyarrow.string()),
        ([1, 2], pyarrow.timestamp("ns")),
    ):
        with pytest.raises(TableError, match=r"'id' must say for every row|cannot be read"):
            keys(cells, kind)
