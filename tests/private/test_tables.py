"""Tables in files: columns by name, missing cells, and messages that repeat nothing private."""

import gzip
import io
import sys
import unicodedata
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from dpgp.private import csv_files
from dpgp.private.cells import Cells
from dpgp.private.files import open_files
from dpgp.private.tables import TableError, require

NAN = np.nan


class ReadTable:
    """All rows of a table at once."""

    def __init__(self, source, only=None):
        files = open_files(source)
        self.names = files[0].names if only is None else tuple(only)
        for file in files:
            require(file, self.names)
        self.pieces = [piece() for file in files for piece in file.pieces(self.names)]

    def numbers(self, name):
        return np.concatenate([cells.numbers(name) for cells in self.pieces])

    def identifiers(self, name):
        found = [cells.identifiers(name) for cells in self.pieces]
        return [keys[code] for codes, keys in found for code in codes]

    def rows(self):
        lists = [cells.table.to_pydict().values() for cells in self.pieces]
        return [list(row) for columns in lists for row in zip(*columns, strict=True)]


read_table = ReadTable


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


def test_compressed_standard_input(monkeypatch):
    packed = gzip.compress(b"a\n1\n")
    for content in (packed, packed[:-9]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        if content is packed:
            assert read_table("-").numbers("a").tolist() == [1.0]
        else:
            with pytest.raises(TableError, match="damaged, or cut short"):
                read_table("-")


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
    meant = "no column 'height'; did you mean 'weight'\\? Its columns are 'age', 'weight'"
    with pytest.raises(TableError, match=meant):
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
def test_no_cell_can_move_another_row(write, content, monkeypatch):
    """Also where it stands in a column that nobody asked for."""
    monkeypatch.setattr(csv_files, "LONGEST_LINE", 100_000)
    monkeypatch.setattr(csv_files, "CHUNK_BYTES", 50_000)
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
    for nothing in (tmp_path, tmp_path / "*.csv"):
        with pytest.raises(TableError, match="there is no file in"):
            read_table(str(nothing))


def test_identifiers_must_be_complete(write):
    path = write("id,a\nx1,1\n,2\n")
    with pytest.raises(TableError, match="'id' must say for every row whose it is"):
        read_table(path).identifiers("id")
    assert read_table(write("id,a\n 01,1\n1,2\n")).identifiers("id") == ["01", "1"]


def test_repr_holds_no_cell(write):
    (file,) = open_files(write("a\n77777\n"))
    assert "77777" not in repr(file)
    assert repr(Cells(pa.table({"a": [77777]}))) == "Cells(...)"


def test_reads_parquet(tmp_path):
    path = tmp_path / "table.parquet"
    columns = {"a": [1, None, 3], "b": [0.5, 1.5, None], "id": ["x", "y", "z"]}
    parquet.write_table(pa.table(columns), path)
    table = read_table(str(path))
    np.testing.assert_array_equal(table.numbers("a"), [1.0, NAN, 3.0])
    np.testing.assert_array_equal(table.numbers("b"), [0.5, 1.5, NAN])
    assert table.identifiers("id") == ["x", "y", "z"]
    with pytest.raises(TableError, match="not numbers"):
        table.numbers("id")


def test_identifiers_of_parquet_and_csv_have_the_same_keys(tmp_path, write):
    def keys(cells, kind):
        column = pa.array(cells, type=kind)
        parquet.write_table(pa.table({"id": column}), tmp_path / "table.parquet")
        return read_table(str(tmp_path / "table.parquet")).identifiers("id")

    assert read_table(write("id,a\n7, \n 8 ,\n")).identifiers("id") == ["7", "8"]
    for kind in (pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(20, 2)):
        assert keys([7, 8], kind) == ["7", "8"]
    assert keys([2**63 + 1, 2**63 + 2], pa.uint64()) == [str(2**63 + 1), str(2**63 + 2)]
    for cells, kind in (
        ([7, None], pa.int64()),
        ([0.5, 7.0], pa.float64()),
        ([2.0**53, 7.0], pa.float64()),
        ([7.0, 8.0], pa.float32()),
        (["NA", "b"], pa.string()),
        ([1, 2], pa.timestamp("ns")),
    ):
        with pytest.raises(TableError, match=r"'id' must say for every row|cannot be read"):
            keys(cells, kind)


LETTERS = {"a": list(range(10)), "b": [k / 4 for k in range(10)], "id": list("aabbccddee")}


def written(folder, kind):
    """Return the path of the same table in a file of any kind."""
    table, path = pa.table(LETTERS), folder / f"table.{kind}"
    text = "a,b,id\n" + "".join(f"{a},{b},{i}\n" for a, b, i in zip(*LETTERS.values(), strict=True))
    if kind == "csv":
        path.write_text(text)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif kind == "parquet":
        parquet.write_table(table, path, row_group_size=3)
    elif kind == "feather":
        feather.write_feather(table, path, chunksize=4)
    else:
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, 4)
    return path


KINDS = ["csv", "csv.gz", "parquet", "feather", "arrows"]


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_every_kind_hold_the_same(tmp_path, kind):
    path = written(tmp_path, kind)
    table = read_table(path, ["id", "b"])
    assert table.numbers("b").tolist() == LETTERS["b"]
    assert table.identifiers("id") == LETTERS["id"]
    (file,) = open_files(path)
    for count in (1, 2, 3, 50):
        parts = file.parts(count)
        cells = [piece() for part in parts for piece in part.pieces(["a"])]
        assert np.concatenate([c.numbers("a") for c in cells]).tolist() == LETTERS["a"]
        assert (len(parts) > 1) == (count > 1 and kind not in ("csv.gz", "arrows"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_named(tmp_path, kind):
    content = written(tmp_path, kind).read_bytes()
    path = tmp_path / f"short.{kind}"
    path.write_bytes(content[: len(content) // 2] + b"\0\xff")
    with pytest.raises(TableError, match=rf"short.{kind}': the file is ") as caught:
        read_table(path).numbers("a")
    assert caught.value.__context__ is None


def test_blank_lines_are_rows_where_rows_follow_also_between_parts(tmp_path):
    path = tmp_path / "blank.csv"
    path.write_text("a\n1\n\n\n4\n\n6\n\n\n")
    (file,) = open_files(path)
    for count in range(1, 12):
        cells = [piece() for part in file.parts(count) for piece in part.pieces(["a"])]
        numbers = np.concatenate([c.numbers("a") for c in cells])
        np.testing.assert_array_equal(numbers, [1, NAN, NAN, 4, NAN, 6])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 100])
def test_lines_do_not_depend_on_how_many_bytes_are_read_at_once(write, monkeypatch, size):
    monkeypatch.setattr(csv_files, "CHUNK_BYTES", size)
    table = read_table(write('a,b\r\n1,"x, ""y"""\r\n22,\r\n,zz\r\n\r\n'))
    assert table.rows() == [["1", 'x, "y"'], ["22", ""], ["", "zz"]]


def test_folders_and_patterns_are_read_in_the_order_of_their_paths(tmp_path):
    for name in ("b/2.csv", "a.csv", "_SUCCESS", ".hidden.csv", "b/1.csv", "_tmp/x.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"who\n{name}\n")
    names = ["a.csv", "b/1.csv", "b/2.csv"]
    assert read_table(tmp_path).rows() == [[name] for name in names]
    assert read_table(str(tmp_path / "b" / "?.csv")).rows() == [[name] for name in names[1:]]
    assert read_table([tmp_path / "b", tmp_path / "a.csv"]).rows() == [
        [name] for name in ("b/1.csv", "b/2.csv", "a.csv")
    ]


def test_a_pattern_reads_the_folders_that_it_matches_and_every_file_once(tmp_path):
    for name in ("a.parts/1.csv", "a.parts/_SUCCESS", "b.parts/1.csv", "c.parts"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"who\n{name}\n")
    names = [["a.parts/1.csv"], ["b.parts/1.csv"], ["c.parts"]]
    assert read_table(str(tmp_path / "*.parts")).rows() == names
    (tmp_path / "a.parts/_SUCCESS").unlink()
    assert read_table(str(tmp_path / "**")).rows() == names


def test_one_and_the_same_name_twice_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    path = str(tmp_path / "a.csv")
    with pytest.raises(TableError, match="named twice"):
        open_files([path, path])


@pytest.mark.parametrize("other", ["rows/1.csv", "rows/../rows/1.csv", "link.csv"])
def test_a_file_that_is_named_twice_is_refused(tmp_path, other):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/1.csv").write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "rows/1.csv")
    with pytest.raises(TableError, match="its rows would count twice; name every file once"):
        open_files([tmp_path / "rows", f"{tmp_path}/{other}"])


def a_hard_link(path, copy):
    copy.hardlink_to(path)


def a_copy(path, copy):
    copy.write_bytes(path.read_bytes())


def a_compressed_copy(path, copy):
    copy.write_bytes(gzip.compress(path.read_bytes()))


def an_archive(path, copy):
    with zipfile.ZipFile(copy, "w") as archive:
        archive.write(path, "rows.csv")


@pytest.mark.parametrize("twice", [a_hard_link, a_copy, a_compressed_copy, an_archive])
def test_a_file_that_is_another_one_again_is_refused(tmp_path, twice):
    (tmp_path / "0.csv").write_text("a\n1\n")
    (tmp_path / "1.csv").write_text("a\n2\n")
    twice(tmp_path / "1.csv", tmp_path / "2.csv")
    with pytest.raises(TableError, match=r"2\.csv' .*1\.csv', so that its rows would count twice"):
        open_files(tmp_path)


def test_so_are_two_copies_of_a_parquet_file_and_two_compressed_ones(tmp_path):
    table = pa.table({"a": [1.0, 2.0]})
    for name in ("1.parquet", "2.parquet"):
        parquet.write_table(table, tmp_path / name)
    for level in (1, 9):
        (tmp_path / f"{level}.csv.gz").write_bytes(gzip.compress(b"a\n1\n2\n", level))
    for name in ("parquet", "csv.gz"):
        with pytest.raises(TableError, match="holds the same as"):
            open_files(f"{tmp_path}/*.{name}")


def test_files_without_rows_may_be_the_same(tmp_path):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("a\n")
        parquet.write_table(
            pa.table({"a": pa.array([], pa.float64())}), tmp_path / f"{name}.parquet"
        )
    (tmp_path / "3.csv").write_text("a\n5\n")
    assert read_table(tmp_path).rows() == [["5"]]


@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("before", [0, 5, 2**10])
def test_a_line_is_too_long_wherever_it_stands(tmp_path, monkeypatch, spare, before):
    monkeypatch.setattr(csv_files, "LONGEST_LINE", 100)
    monkeypatch.setattr(csv_files, "CHUNK_BYTES", 64)
    path = tmp_path / "rows.csv"
    path.write_text("a\n" + "x\n" * before + "y" * (100 + spare) + "\nz\n")
    if spare:
        with pytest.raises(TableError, match="not CSV with a line for every row"):
            read_table(path).rows()
    else:
        assert len(read_table(path).rows()) == before + 2


def test_a_link_in_a_folder_whose_file_is_gone_is_missed(tmp_path):
    (tmp_path / "1.csv").write_text("a\n1\n")
    (tmp_path / "2.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(TableError, match=r"cannot read '.*2\.csv': no such file"):
        open_files(tmp_path)


def test_a_table_without_rows_among_others_adds_nothing(tmp_path):
    parquet.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"a": pa.nulls(0)}), tmp_path / "2.parquet")
    (tmp_path / "3.csv").write_text("a\n")
    parquet.write_table(pa.table({"a": [3]}), tmp_path / "4.parquet")
    assert read_table(tmp_path).numbers("a").tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.date32(), pa.time64("us"), pa.duration("s")]
)
@pytest.mark.parametrize("encoded", [False, True])
def test_dates_and_times_are_refused_with_a_remedy(kind, encoded):
    column = pa.array([1, 2, 2], pa.int64() if kind.bit_width == 64 else pa.int32()).cast(kind)
    cells = Cells(pa.table({"born": column.dictionary_encode() if encoded else column}))
    with pytest.raises(TableError, match="column 'born' holds dates or times; make them numbers"):
        cells.numbers("born")


def test_a_column_that_another_file_lacks_is_named_with_the_file(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b,c\n1,2\n")
    with pytest.raises(TableError, match=r"2\.csv': the table has no column 'a'; its columns are"):
        read_table(tmp_path, ["a", "b"])


def test_columns_may_stand_in_another_order_and_have_another_type(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    parquet.write_table(pa.table({"b": ["y"], "a": [2]}), tmp_path / "2.parquet")
    table = read_table(tmp_path)
    assert table.numbers("a").tolist() == [1.0, 2.0]
    assert table.identifiers("b") == ["x", "y"]
    assert table.identifiers("a") == ["1", "2"]


def test_decimals_are_read_to_the_last_bit():
    texts = ["0.1", "179769313486231570000.3", "2.2250738585072011e-308", "9007199254740993"]
    expected = [float(text) for text in texts]
    assert Cells(pa.table({"a": texts})).numbers("a").tolist() == expected
    assert Cells(pa.table({"a": [*texts, " na"]})).numbers("a")[:-1].tolist() == expected
    exact = pa.array([None if t is None else t for t in texts[:2]]).cast(pa.decimal128(38, 4))
    assert Cells(pa.table({"a": exact})).numbers("a").tolist() == expected[:2]
