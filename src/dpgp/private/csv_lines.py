"""CSV in which a line is a row: what one cell holds can never move another row.

A reader that lets cells run over line ends takes everything up to the next quotation mark for one
cell: one person's free text deletes other people. So lines are cut before cells are, and lines with
quotation marks are checked before they are parsed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from typing import BinaryIO

DELIMITERS = (",", ";", "\t")
CHUNK_BYTES = 2**22
"""Bytes that are parsed at a time: a few megabytes of cells for a thread."""
LONGEST_LINE = 2**24
"""Bytes of a line at most: memory must hold it."""


class MalformedLineError(ValueError):
    """A line that is no row; says nothing of what it holds."""


def find_delimiter(header: str) -> str:
    """Return the delimiter that finds most columns in the first line."""
    return max(DELIMITERS, key=lambda mark: _columns_found(header, mark))


def _columns_found(header: str, delimiter: str) -> int:
    try:
        return len(cells_of(header, delimiter))
    except MalformedLineError:
        return 0


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line without its end.

    A cell is enclosed in quotation marks, which are doubled inside, or has none at all.
    """
    check_lines(line.encode() + b"\n", delimiter)
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:  # a cell beyond all limits
        pass
    raise MalformedLineError


def check_lines(lines: bytes, delimiter: str) -> None:
    """Raise unless every line is a row of cells by itself."""
    if b"\0" in lines or b"\r" in lines:
        raise MalformedLineError
    if b'"' in lines and not _well_formed(delimiter).fullmatch(lines):
        raise MalformedLineError


@cache
def _well_formed(delimiter: str) -> re.Pattern[bytes]:
    mark = delimiter.encode()
    cell = rb'(?:"[^"\n]*+(?:""[^"\n]*+)*+"|[^"\n' + mark + rb"]*+)"
    return re.compile(rb"(?:" + cell + rb"(?:" + mark + cell + rb")*+\n)*+")


def first_line(stream: BinaryIO) -> bytes:
    """Return the first line without its end."""
    line = stream.readline(LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise MalformedLineError
    return line.removesuffix(b"\n").removesuffix(b"\r")


def chunks_of_lines(stream: BinaryIO, stop: int | None = None) -> Iterator[bytes]:
    r"""Yield whole lines, some megabytes at a time, each ended by ``\n``.

    Reads up to the byte ``stop``. Blank lines that nothing follows are dropped; any other is a row
    with one empty cell.
    """
    rest = b""
    while data := stream.read(_most(stream, stop)):
        rest += data
        cut = _end_of_lines(rest)
        if cut:
            yield _checked(rest[:cut])
            rest = rest[cut:]
        if len(rest.rstrip(b"\r\n")) > LONGEST_LINE:
            raise MalformedLineError
    if rest := rest.rstrip(b"\r\n"):
        yield _checked(rest + b"\n")


def _most(stream: BinaryIO, stop: int | None) -> int:
    return CHUNK_BYTES if stop is None else min(CHUNK_BYTES, stop - stream.tell())


def _end_of_lines(data: bytes) -> int:
    """Return where the last line that is known to be whole ends; blank ones wait for others."""
    content = len(data.rstrip(b"\r\n"))
    if not content:
        return 0
    end = data.find(b"\n", content)
    return (end if end >= 0 else data.rfind(b"\n", 0, content)) + 1


def _checked(lines: bytes) -> bytes:
    """Return lines with plain ends; an error where one is too long, wherever it was cut."""
    lines = lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines
    if len(lines) > LONGEST_LINE and max(map(len, lines.split(b"\n"))) > LONGEST_LINE:
        raise MalformedLineError
    return lines
