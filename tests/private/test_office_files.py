"""Excel, Stata and archives are read like the CSV that they could be, or named."""

import zipfile

import numpy as np
import pandas as pd
import pytest

from dpgp.private.files import open_files
from dpgp.private.tables import TableError
from dpgp.study.errors import Face

TABLE = pd.DataFrame({"age": [3.5, np.nan, 7.0], "name": ["Zoë", "b", None], "n": [1, 2, 3]})


def column(path, name, kind="numbers"):
    (file,) = open_files(str(path))
    (piece,) = file.pieces([name])
    return getattr(piece(), kind)(name)


@pytest.mark.parametrize("suffix", ["xlsx", "dta", "zip", "old.dta"])
def test_offices_are_read(tmp_path, suffix):
    path = tmp_path / f"people.{suffix}"
    if suffix == "xlsx":
        TABLE.to_excel(path, index=False)
    elif suffix == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("people.csv", TABLE.to_csv(index=False))
    else:
        version = 118 if suffix == "dta" else 114
        TABLE.assign(name="x").to_stata(path, write_index=False, version=version)
    assert open_files(str(path))[0].names == ("age", "name", "n")
    np.testing.assert_array_equal(column(path, "age"), [3.5, np.nan, 7.0])
    np.testing.assert_array_equal(column(path, "n"), [1.0, 2.0, 3.0])


def refused(path, *words):
    with pytest.raises(TableError) as caught:
        open_files(str(path))
    assert all(word in str(caught.value) for word in words), caught.value
    assert "CANARY" not in str(caught.value).replace(str(path), "")
    assert caught.value.__cause__ is None


def test_what_is_no_table_is_named(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xd0\xcf\x11\xe0CANARY")
    refused(path, "old Excel workbook", ".xlsx")
    for content in (b"PK\x03\x04CANARY", b"<stata_dta>CANARY"):
        path.write_bytes(content)
        refused(path, "damaged")
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("CANARY.csv", "b.csv"):
            archive.writestr(name, "a\n1\n")
    refused(path, "one CSV file", "unpack")


def test_cells_of_several_kinds_are_each_by_itself(tmp_path):
    path = tmp_path / "mixed.xlsx"
    pd.DataFrame({"id": [1, "x", "12345678901234567", 2**53 - 1]}).to_excel(path, index=False)
    _, keys = column(path, "id", "identifiers")
    assert keys == ["1", "x", "12345678901234567", str(2**53 - 1)]


@pytest.mark.parametrize("cell", [2**53, 12345678901234567, float(2**60), 1.5, True, None])
def test_identifiers_that_excel_cannot_hold_are_refused(tmp_path, cell):
    path = tmp_path / "ids.xlsx"
    pd.DataFrame({"id": [cell, 1, "x"]}, dtype=object).to_excel(path, index=False)
    with pytest.raises(TableError, match="store long numbers as integers or text"):
        column(path, "id", "identifiers")


def test_decimal_commas(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('age;x\n1,5;1.5\n;2\n"-3,25";3\n.;4\n', encoding="utf-8")
    (file,) = open_files(str(path), ",")
    (piece,) = file.pieces(["age", "x"])
    cells = piece()
    np.testing.assert_array_equal(cells.numbers("age"), [1.5, np.nan, -3.25, np.nan])
    with pytest.raises(TableError, match=r"'x' holds cells that are not numbers; .* decimal comma"):
        cells.numbers("x")
    (piece,) = open_files(str(path))[0].pieces(["age"])
    with pytest.raises(TableError, match='decimal=","') as caught:
        piece().numbers("age")
    assert "--decimal ," in caught.value.on(Face.COMMAND)
    assert "--" not in caught.value.on(Face.PAGE)


@pytest.mark.parametrize("cell", [".", "#N/A", " NA ", ""])
def test_missing_cells_in_every_spelling(tmp_path, cell):
    path = tmp_path / "people.csv"
    path.write_text(f"age,x\n1,2\n{cell},2\n", encoding="utf-8")
    np.testing.assert_array_equal(column(path, "age"), [1.0, np.nan])
