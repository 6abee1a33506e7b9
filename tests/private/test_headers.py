"""Names of columns are read, and nothing that could be somebody's row."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from dpgp.private.files import read_header
from dpgp.private.tables import TableError


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "table"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize(
    ("content", "names", "delimiter"),
    [
        ("age,height\n1,2\n", ("age", "height"), ","),
        ("\ufeffage;Größe (cm, m);x\r\n1;2\r\n", ("age", "Größe (cm, m)", "x"), ";"),
        ("age\theight 2\n", ("age", "height 2"), "\t"),
        ('"age, years","a ""b"""\n', ("age, years", 'a "b"'), ","),
        ("age", ("age",), ","),
        (",age, u\u0308 \n1,2,3\n", ("age", "ü"), ","),
        ("age,height\n" + "\0\xff" * 100, ("age", "height"), ","),
        ("x1,Q12,no,2nd\n", ("x1", "Q12", "no", "2nd"), ","),
    ],
)
def test_names_of_text(write, content, names, delimiter):
    header = read_header(write(content))
    assert (header.names, header.delimiter) == (names, delimiter)


@pytest.mark.parametrize(
    "content",
    [
        "", "\n", ",,\n", "1,2\n", "Ann,34\n", "Ann,3.5e7\n", "a,-1\n",
        "Ann,2020-01-31\n", "Ann,31.1.2020\n", "Ann,1/31/2020 12:00\n", "Ann,nan\n", "Ann,NA\n",
        "yes,yes\n", "a,a\n", "a,\u202eb\n", "x" * 1001, "Ann,+358 40 123\n", "Ann,12:30\n",
    ],
)  # fmt: skip
def test_what_cannot_be_names_is_not_repeated(write, content):
    with pytest.raises(TableError, match="first line") as caught:
        read_header(write(content))
    assert "Ann" not in str(caught.value)


@pytest.mark.parametrize("content", ['Ann,"x\n', "Ann\0b\n", "Ann\rb\n"])
def test_lines_that_are_no_rows_are_not_repeated(write, content):
    with pytest.raises(TableError, match="a line for every row") as caught:
        read_header(write(content))
    assert "Ann" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings(write, encoding):
    with pytest.raises(TableError, match="UTF-8") as caught:
        read_header(write("Größe,age\n".encode(encoding)))
    assert caught.value.__context__ is None


def test_parquet(write, tmp_path):
    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table({"age": [1.0], "Größe ": [2.0]}), path)
    assert read_header(str(path)).names == ("age", "Größe")
    with pytest.raises(TableError, match="damaged") as caught:
        read_header(write(b"PAR1CANARY"))
    assert caught.value.__context__ is None


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(TableError, match=r"cannot read|no file"):
            read_header(str(path))
