"""Every file once: rows that are read from two files count twice, and are protected half."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import BinaryIO, TypeVar

from dpgp.private.csv_files import CsvFile
from dpgp.private.table_file import TableFile, opened_file
from dpgp.private.tables import STANDARD_INPUT, TableError

T = TypeVar("T")

_BLOCK = 2**20  # bytes that are read at a time


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
            if _has_rows(same[0][1]):
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
    def digest(stream: BinaryIO) -> bytes:
        found = hashlib.sha256()
        while block := stream.read(_BLOCK):
            found.update(block)
        return found.digest()

    return _read(named, digest)


def _read(named: tuple[str, TableFile], reading: Callable[[BinaryIO], Hashable]) -> Hashable:
    """Return something of a file's content, uncompressed; its path where that cannot be read."""
    path, file = named
    try:
        with file.stream() if isinstance(file, CsvFile) else opened_file(path, "") as stream:
            return reading(stream)
    except (OSError, EOFError, zlib.error):  # it is said when its rows are read
        return path


def _has_rows(file: TableFile) -> bool:
    return any(True for _ in file.pieces(file.names[:1]))
