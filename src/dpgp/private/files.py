"""Files, folders and patterns of files as one table, in the order of their paths."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dpgp.private import arrow_files, office_files, parquet_files
from dpgp.private.arrow_files import ArrowFile
from dpgp.private.csv_files import CsvFile
from dpgp.private.distinct_files import check_named_once, check_no_copies
from dpgp.private.parquet_files import ParquetFile
from dpgp.private.table_file import TableFile, opened_file
from dpgp.private.table_objects import HeldTable
from dpgp.private.tables import STANDARD_INPUT, TableError

_FEATHER_1 = b"FEA1"
_LONGEST_MAGIC = len(office_files.STATA)

KINDS: tuple[tuple[bytes, Callable[[str, str], TableFile]], ...] = (
    (parquet_files.MAGIC, ParquetFile.opened),
    (arrow_files.FILE, lambda path, where: ArrowFile.opened(path, where, is_stream=False)),
    (arrow_files.STREAM, lambda path, where: ArrowFile.opened(path, where, is_stream=True)),
    (office_files.ZIP, office_files.open_archive),
    (office_files.STATA, office_files.open_stata),
    (office_files.OLD_EXCEL, office_files.refuse_old_excel),
    (b"", CsvFile.opened),
)
"""How files of a kind begin, and how they are opened; whatever begins otherwise is CSV."""


def open_files(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    decimal: str = ".",
) -> list[TableFile]:
    """Open all files that a path, a folder, a pattern, or a list of these stands for.

    ``decimal`` is the mark in numbers of CSV files.
    """
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    paths = [path for one in given for path in _paths(os.fspath(one))]
    if not paths:
        raise TableError("no file was named; name a CSV, Excel, Stata, Parquet or Arrow file.")
    check_named_once(paths)
    files = [_open(path) for path in paths]
    check_no_copies(paths, files)
    return [replace(f, decimal=decimal) if isinstance(f, CsvFile) else f for f in files]


def _paths(source: str) -> list[str]:
    if source == STANDARD_INPUT:
        return [source]
    if os.path.isdir(source):
        found = _files_in(Path(source))
    elif glob.has_magic(source) and not os.path.exists(source):
        # a pattern may match a folder and the files in it
        matches = glob.glob(source, recursive=True)
        found = sorted({path for match in matches for path in _matched(Path(match))})
    else:
        return [source]
    if not found:
        raise TableError(f"there is no file in '{source}'; name one, or where some are.")
    return found


def _matched(path: Path) -> list[str]:
    return _files_in(path) if path.is_dir() else [str(path)]


def _files_in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if _is_data(path, folder))


def _is_data(path: Path, folder: Path) -> bool:
    """Leave out what is hidden, and what clusters write beside their tables.

    A link to a file that is gone stays in, to be missed.
    """
    is_there = path.is_file() or (path.is_symlink() and not path.exists())
    return is_there and not any(
        part.startswith((".", "_")) for part in path.relative_to(folder).parts
    )


def _open(path: str) -> TableFile:
    if path == STANDARD_INPUT:
        return _standard_input()
    where = f"'{path}': "
    with opened_file(path, where) as stream:
        start = stream.read(_LONGEST_MAGIC)
    if start.startswith(_FEATHER_1):
        raise TableError(f"{where}the file is Feather of version 1; write it as version 2.")
    if office_files.is_old_stata(start):
        return office_files.open_stata(path, where)
    return next(opened for magic, opened in KINDS if start.startswith(magic))(path, where)


def _standard_input() -> TableFile:
    """Read all of standard input, which can be gone through only once, into memory."""
    held = sys.stdin.buffer.read()
    if held.startswith(parquet_files.MAGIC):
        return HeldTable(parquet_files.read_whole(held))
    return CsvFile.opened(STANDARD_INPUT, "", held)
