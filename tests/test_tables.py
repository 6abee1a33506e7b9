"""Tables in files: columns by name, missing cells, and messages that repeat nothing private."""

import importlib.util
import io
import sys
import unicodedata

import numpy as np
import pytest

from dpgp.sources import tables
from dpgp.sources.tables import TableError, read_table

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
    lines = ['"height, cm";age', '1.5;"2"', "", "3;4"]
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
        ("b,c\n1,2\n", "no column 'a'; its columns are 'b', 'c'"),
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
    assert "71" not in str(caught.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match="no such file"):
        read_table(str(tmp_path / "none.csv"))
    with pytest.raises(TableError, match="cannot read"):
        read_table(str(tmp_path))


def test_identifiers_must_be_complete(write):
    path = write("id,a\nx1,1\n,2\n")
    with pytest.raises(TableError, match="'id' has empty cells"):
        read_table(path).labels("id")
    assert read_table(write("id,a\n 01,1\n1,2\n")).labels("id") == ["01", "1"]


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
    assert table.labels("id") == ["x", "y", "z"]
    with pytest.raises(TableError, match="not numbers"):
        table.numbers("id")
