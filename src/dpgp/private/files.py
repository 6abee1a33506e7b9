"""Files, folders and patterns of files as one table, in the order of their paths."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dpgp.plain_text import is_name
from dpgp.private import office_files
from dpgp.private.arrow_files import (
    ARROW_FILE,
    ARROW_STREAM,
    PARQUET,
    ArrowFile,
    ParquetFile,
    read_whole,
)
from dpgp.private.csv_files import CsvFile
from dpgp.private.table_objects import HeldTable
from dpgp.private.tables import STANDARD_INPUT, TableError, TableFile, marked, opened_file

T = TypeVar("T")

_FEATHER_1 = b"FEA1"
_LONGEST_MAGIC = len(office_files.STATA)

KINDS: tuple[tuple[bytes, Callable[[str, str], TableFile]], ...] = (
    (PARQUET, ParquetFile.opened),
    (ARROW_FILE, lambda path, where: ArrowFile.opened(path, where, is_stream=False)),
    (ARROW_STREAM, lambda path, where: ArrowFile.opened(path, where, is_stream=True)),
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
    return marked(files, decimal)


def _paths(source: str) -> list[str]:
    if source == STANDARD_INPUT:
        return [source]
    if os.path.isdir(source):
        found = _files_in(Path(source))
    elif glob.has_magic(source) and not os.path.exists(source):
        # a pattern may match a folder and the files in it
        matches = map(Path, glob.glob(source, recursive=True))
        listed = (_files_in(path) if path.is_dir() else [str(path)] for path in matches)
        found = sorted({path for paths in listed for path in paths})
    else:
        return [source]
    if not found:
        raise TableError(f"there is no file in '{source}'; name one, or where some are.")
    return found


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
    if held.startswith(PARQUET):
        return HeldTable(read_whole(held))
    return CsvFile.opened(STANDARD_INPUT, "", held)


# --- every file once ------------------------------------------------------------------------------
#
# Rows that are read from two files count twice, and are protected half.


def check_named_once(paths: Sequence[str]) -> None:
    """Raise where a file is named twice, by whatever paths and links."""
    for same in (*_alike(paths, os.path.realpath), *_alike(paths, _inode)):
        raise TableError(
            f"'{same[1]}' is named twice, also as '{same[0]}', so that its rows would count "
            "twice; name every file once."
        )


def check_no_copies(paths: Sequence[str], files: Sequence[TableFile]) -> None:
    """Raise where a file with rows is a copy of another, compressed or not."""
    every = zip(paths, files, strict=True)
    named = [(path, file) for path, file in every if path != STANDARD_INPUT]
    for as_long in _alike(named, _length):
        for same in _alike(as_long, _digest):
            file = same[0][1]
            if any(True for _ in file.pieces(file.names[:1])):
                raise TableError(
                    f"'{same[1][0]}' holds the same as '{same[0][0]}', so that its rows would "
                    "count twice; leave one of them out. If they are about different people, put "
                    "them into one file."
                )


def _alike(items: Iterable[T], what: Callable[[T], Hashable]) -> list[list[T]]:
    """Return the groups of items, two at least, of which ``what`` is equal."""
    groups: defaultdict[Hashable, list[T]] = defaultdict(list)
    for item in items:
        groups[what(item)].append(item)
    return [group for group in groups.values() if len(group) > 1]


def _inode(path: str) -> Hashable:
    try:
        status = os.stat(path)
    except OSError:  # it is missed when it is opened
        return path
    return status.st_dev, status.st_ino


def _length(named: tuple[str, TableFile]) -> Hashable:
    return _read(named, lambda stream: stream.seek(0, os.SEEK_END))


def _digest(named: tuple[str, TableFile]) -> Hashable:
    return _read(named, lambda stream: hashlib.file_digest(stream, "sha256").digest())


def _read(named: tuple[str, TableFile], reading: Callable[[Any], Hashable]) -> Hashable:
    """Return something of a file's content, uncompressed; its path where that cannot be read."""
    path, file = named
    try:
        with file.stream() if isinstance(file, CsvFile) else opened_file(path, "") as stream:
            return reading(stream)
    except (OSError, EOFError, zlib.error):  # it is said when its rows are read
        return path


# --- the names of a table's columns, and nothing else of it ---------------------------------------
#
# A file without a header has somebody's row in its first line. What cannot be names is refused, in
# fixed words. No row is read.


_NO_NAME = re.compile(
    r"[\W\d]+"  # figures and marks: a number, a time, a telephone
    r"|[-+]?\d+[.,]?\d*e[-+]?\d+"
    r"|.*\d[-/.]\d+[-/.]\d.*"  # a date
    r"|[-+]?inf|nan|na|null|true|false",
    re.IGNORECASE,
)

NO_HEADER = (
    "the first line of the file does not name the columns: it must hold a name for each, no two "
    "alike, none a number or a date. Write one above the rows."
)


@dataclass(frozen=True)
class Header:
    """What columns are called; ``delimiter`` stands between them in a file of text."""

    names: tuple[str, ...]
    delimiter: str | None


def read_header(source: str) -> Header:
    """Read the names of the columns of a file."""
    file = open_files(source)[0]
    names = tuple(name for name in file.names if name)
    can_be_names = all(is_name(name) and not _NO_NAME.fullmatch(name) for name in names)
    if not names or len(set(names)) < len(names) or not can_be_names:
        raise TableError(f"{file.where}{NO_HEADER}")
    return Header(names, file.delimiter if isinstance(file, CsvFile) else None)
