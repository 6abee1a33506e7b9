"""Files of offices: Excel and Stata through pandas, and archives of one file; held in memory."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pyarrow as pa

from dpgp.extras import install
from dpgp.private.csv_files import CsvFile
from dpgp.private.table_file import TableFile, opened_file
from dpgp.private.table_objects import HeldTable
from dpgp.private.tables import DAMAGED, TableError

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
                return _read(path, where, "openpyxl", "read_excel", dtype=object)
            held, message = _only_file(archive, files)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
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


def open_stata(path: str, where: str) -> TableFile:
    """Open a file of Stata; codes stay numbers, as their labels are not told apart reliably."""
    return _read(path, where, "pandas", "read_stata", convert_categoricals=False)


def refuse_old_excel(path: str, where: str) -> TableFile:
    """Say what the file is."""
    raise TableError(where + NOT_EXCEL)


def is_old_stata(start: bytes) -> bool:
    """Return whether a file begins like those of Stata before its version 13."""
    return start.startswith(_OLD_STATA) and start[1:2] in (b"\x01", b"\x02")


def _read(path: str, where: str, needed: str, function: str, **options: Any) -> HeldTable:
    try:
        import_module(needed)
        read: Callable[..., Any] = getattr(import_module("pandas"), function)
    except ImportError:
        raise TableError(
            f"{where}files of Excel and Stata need {install('office')}; or save the table as CSV."
        ) from None
    with opened_file(path, where) as stream:
        content = stream.read()
    try:
        frame = read(io.BytesIO(content), **options)
        columns = {str(name): _cells(frame[name]) for name in frame.columns}
        return HeldTable(pa.table(columns), where)
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(where + DAMAGED)


def _cells(column: Any) -> pa.Array:
    """Return a column of one type as it is, and of several as text: a cell decides on no other."""
    if column.dtype != object:
        return pa.array(column, from_pandas=True)
    cells = [None if cell != cell or cell is None else str(cell) for cell in column]
    return pa.array(cells, pa.large_string())
