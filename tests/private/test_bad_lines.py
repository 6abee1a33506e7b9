"""Line numbers of bad cells: right, few, and only on request."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dpgp.cli import app
from dpgp.cli.fit import read_rows
from dpgp.cli.output import DATA_ERROR
from dpgp.private import csv_files
from dpgp.private.asked_table import MOST_PLACES
from dpgp.private.tables import TableError
from dpgp.study.columns import Column
from dpgp.study.study import Study

STUDY = Study(
    features=(Column("age", 0.0, 99.0),),
    targets=(Column("y", 0.0, 1.0),),
    epsilon=1.0,
    delta=1e-6,
    unit="id",
)


def message(path, *, show_lines=True):
    with pytest.raises(TableError) as caught:
        read_rows(str(path), STUDY, show_lines=show_lines)
    return str(caught.value)


def table(path, bad, column=0, rows=100):
    """Write a table whose cells in these lines (the header is line 1) are bad."""
    lines = [[str(k % 90), "0.5", f"p{k}"] for k in range(rows)]
    for line, cell in bad.items():
        lines[line - 2][column] = cell
    text = "\n".join(["age,y,id", *(",".join(cells) for cells in lines)])
    path.write_text(text + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cell", "column", "reason"),
    [
        ("secret", 0, "column 'age' holds cells that are not numbers"),
        ("inf", 1, "column 'y' has infinite cells"),
        ("", 1, "column 'y' has missing cells"),
        ("", 2, "column 'id' must say for every row whose it is"),
    ],
)
def test_lines_are_told_on_request_alone(tmp_path, cell, column, reason):
    path = table(tmp_path / "t.csv", dict.fromkeys((2, 57, 101), cell), column)
    without, told = message(path, show_lines=False), message(path)
    assert reason in without
    assert "57" not in without.replace(str(path), "")
    assert told.startswith(without)
    assert "in line 2, line 57, line 101. Which lines they are is about people" in told
    assert "secret" not in told


def test_lines_are_counted_through_all_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "CHUNK_BYTES", 100)
    path = table(tmp_path / "t.csv", {99: "?"})
    assert " in line 99. " in message(path)


def test_only_what_the_error_is_about_is_listed(tmp_path):
    path = table(tmp_path / "t.csv", {7: "?"})
    text = path.read_text().replace("\n20,0.5,", "\n20,?,")
    path.write_text(text)
    assert " in line 7. " in message(path)


def test_there_are_never_very_many(tmp_path):
    path = table(tmp_path / "t.csv", dict.fromkeys(range(2, 102), "?"))
    told = message(path)
    assert told.count("line ") == MOST_PLACES
    assert f"line {MOST_PLACES + 1}, …" in told


def test_other_files_have_rows(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": ["1", "2", "x"], "y": [0.1] * 3, "id": [1, 2, 3]}), path)
    assert " in row 3. " in message(path)


def test_a_line_that_is_no_row_is_told_as_before(tmp_path):
    path = table(tmp_path / "t.csv", {5: "1,2"})
    assert message(path) == message(path, show_lines=False)


def test_the_command_tells_them_where_it_is_asked_to(tmp_path):
    path = table(tmp_path / "t.csv", {42: "?"})
    words = ["fit", str(path), "--target", "y:0:1", "--feature", "age:0:99", "--dry-run"]
    words += ["--epsilon", "1", "--delta", "1e-6"]
    quiet, told = (CliRunner().invoke(app, [*words, *more]) for more in ([], ["--show-lines"]))
    assert quiet.exit_code == told.exit_code == DATA_ERROR
    assert "42" not in quiet.stderr.replace(str(path), "")
    assert "line 42" in told.stderr
