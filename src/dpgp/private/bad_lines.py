"""Where the cells are that an error complains of: about people, for a curator who asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from dpgp.private.cells import Cells
from dpgp.private.csv_files import CsvFile
from dpgp.private.table_file import TableFile
from dpgp.private.table_rows import Wanted
from dpgp.private.tables import TableError
from dpgp.study.errors import Face, Words

MOST_PLACES = 20


def with_lines(error: TableError, files: Sequence[TableFile], wanted: Wanted) -> TableError:
    """Return the error with the first places it is about; as it is where they cannot be told."""
    try:
        places = list(islice(_places(files, wanted, str(error)), MOST_PLACES + 1))
    except TableError:  # some line is no row at all
        return error
    if not places:
        return error
    listed = ", ".join(places[:MOST_PLACES]) + (", …" if len(places) > MOST_PLACES else "")
    note = (
        f"These cells are in {listed}. Which lines they are is about people: show it to nobody who "
        "may not see the table."
    )
    return TableError(Words(f"{error} {note}", command=f"{error.on(Face.COMMAND)} {note}"))


def _places(files: Sequence[TableFile], wanted: Wanted, message: str) -> Iterator[str]:
    for file in files:
        # the first line of a CSV file names the columns
        word, before = ("line", 2) if isinstance(file, CsvFile) else ("row", 1)
        for piece in file.pieces(wanted.names):
            cells = piece()
            yield from (f"{word} {before + k}" for k in _refused(cells, wanted, message))
            before += len(cells)


def _refused(cells: Cells, wanted: Wanted, message: str, first: int = 0) -> Iterator[int]:
    """Yield the rows that are refused in these words, by halving what is refused."""
    complaint = _complaint(cells, wanted)
    if complaint is None:
        return
    if len(cells) == 1:
        yield from [first] if complaint == message else []
        return
    half = len(cells) // 2
    for start, size in ((0, half), (half, len(cells) - half)):
        part = replace(cells, table=cells.table.slice(start, size))
        yield from _refused(part, wanted, message, first + start)


def _complaint(cells: Cells, wanted: Wanted) -> str | None:
    try:
        wanted.rows(cells)
        if wanted.unit is not None:
            cells.identifiers(wanted.unit)
    except TableError as error:
        return str(error)
    return None
