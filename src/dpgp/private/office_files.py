"""Files of offices: Excel and Stata through pandas, and archives of one file; held in memory."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from dpgp.categories import FIRST_UNSAFE_FLOAT
from dpgp.package import install
from dpgp.private.csv_files import CsvFile
from dpgp.private.rows import object_array
from dpgp.private.table_objects import HeldTable, MixedTable
from dpgp.private.tables import DAMAGED, TableError, TableFile, opened_file, or_refused

ZIP, OLD_EXCEL, STATA = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"<stata_dta>"
_OLD_STATA = tuple(bytes([version]) for version in (113, 114, 115))
_MOST_BYTES = 4 * 2**30  # of an archive, when it is open: more is no table that fits memory

NOT_EXCEL = "the file is an old Excel workbook; save it as .xlsx or as CSV."
SEVERAL_FILES = "the archive must hold one CSV file and nothing else; unpack it, and name the file."
TOO_LARGE = "the archive is too large to be read into memory; unpack it, and name the file."


def open_archive(path: str, where: str) -> TableFile:
    """Open what begins like a ZIP archive: an Excel workbook, or an archive of one CSV file."""
    try:
        with zipfile.ZipFile(path) as archive:
            files = [entry for entry in archive.infolist() if not entry.is_dir()]
            if any(entry.filename == "xl/workbook.xml" for entry in files):
                return _open_excel(path, where)
            held, message = _only_file(archive, files)
    except TableError:
        raise
    except Exception:  # zipfile has errors of all the libraries that it unpacks with
        held, message = None, DAMAGED
    if held is None:
        raise TableError(where + message)
    return CsvFile.opened(path, where, held)


def _only_file(archive: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> tuple[bytes | None, str]:
    """Return the content of the one file in an archive, or why there is none to be had."""
    if len(files) != 1:
        return None, SEVERAL_FILES
    if files[0].file_size > _MOST_BYTES:
        return None, TOO_LARGE
    return archive.read(files[0]), ""


def _open_excel(path: str, where: str) -> TableFile:
    """Open a workbook, in which every number is a float: long ones are not read as integers."""
    table = _read(path, where, "openpyxl", "read_excel", dtype=object)
    columns = (object_array([_excel_cell(cell) for cell in column]) for column in table.columns)
    return HeldTable(replace(table, columns=tuple(columns)), where)


def _excel_cell(cell: Any) -> Any:
    return float(cell) if type(cell) is int and abs(cell) >= FIRST_UNSAFE_FLOAT else cell


def open_stata(path: str, where: str) -> TableFile:
    """Open a file of Stata; codes stay numbers, as their labels are not told apart reliably."""
    return HeldTable(_read(path, where, "pandas", "read_stata", convert_categoricals=False), where)


def refuse_old_excel(path: str, where: str) -> TableFile:
    """Say what the file is."""
    raise TableError(where + NOT_EXCEL)


def is_old_stata(start: bytes) -> bool:
    """Return whether a file begins like those of Stata before its version 13."""
    return start.startswith(_OLD_STATA) and start[1:2] in (b"\x01", b"\x02")


def _read(path: str, where: str, needed: str, function: str, **options: Any) -> MixedTable:
    try:
        import_module(needed)
        read: Callable[..., Any] = getattr(import_module("pandas"), function)
    except ImportError:
        raise TableError(
            f"{where}files of Excel and Stata need {install('office')}; or save the table as CSV."
        ) from None
    with opened_file(path, where) as stream:
        content = stream.read()
    return or_refused(
        lambda: MixedTable.of_pandas(read(io.BytesIO(content), **options)), where + DAMAGED
    )
