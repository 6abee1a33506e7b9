"""CSV in which a line is a row: what one cell holds can never move another row.

A reader that lets cells run over line ends takes everything up to the next quotation mark for one
cell: one person's free text deletes other people. So every line is read on its own.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import TextIO

DELIMITERS = (",", ";", "\t")


class MalformedLineError(ValueError):
    """A line that is no row; says nothing of what it holds."""


def read_lines(text: TextIO) -> Iterator[list[str]]:
    """Return the cells of every line, the first of which decides on the delimiter."""
    lines = iter(text)
    header = next(lines, "")
    delimiter = find_delimiter(_without_end(header))
    for line in _without_blank_end(chain([header] if header else [], lines)):
        yield cells_of(line, delimiter)


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
    if "\0" in line or "\r" in line:
        raise MalformedLineError
    if '"' not in line:
        return line.split(delimiter)
    cell = rf'(?:"(?:[^"]|"")*"|[^"{delimiter}]*)'
    if not re.fullmatch(rf"{cell}(?:{delimiter}{cell})*", line):
        raise MalformedLineError
    return next(csv.reader([line], delimiter=delimiter, strict=True))


def _without_blank_end(lines: Iterable[str]) -> Iterator[str]:
    """Drop blank lines that nothing follows; any other is a row with one empty cell."""
    blank = 0
    for line in map(_without_end, lines):
        if not line:
            blank += 1
            continue
        yield from repeat("", blank)
        yield line
        blank = 0


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")
