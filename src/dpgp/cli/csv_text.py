"""Columns as lines of CSV, many rows at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpgp.private.csv_files import DELIMITERS

if TYPE_CHECKING:
    from dpgp.private.cells import Cells

TEXT = pa.large_string()
_NUMBER_WITH_POINT = r"^\s*[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?\s*$"


@dataclass(frozen=True)
class Marks:
    """What stands between cells, and before the decimals of numbers."""

    delimiter: str = ","
    decimal: str = "."

    def header(self, names: Sequence[str]) -> bytes:
        """Return the first line, in which no other delimiter can be found."""
        special = _special("".join(DELIMITERS))
        quoted = (
            '"' + name.replace('"', '""') + '"' if re.search(special, name) else name
            for name in names
        )
        return (self.delimiter.join(quoted) + "\n").encode()

    def lines(self, cells: Cells, numbers: Sequence[NDArray[np.float64]]) -> bytes:
        """Return a line for every row: the cells, then numbers, empty where they are NaN."""
        texts = [self._marked(_text(column), cells.decimal) for column in cells.table.columns]
        texts += [self._marked(_number_text(column), ".") for column in numbers]
        quoted = [_quoted(text, self.delimiter) for text in texts]
        filled = [pc.if_else(pc.is_null(text), _scalar(""), text) for text in quoted]
        return _joined([*filled[:-1], _pasted(filled[-1], "\n")], self.delimiter)

    def _marked(self, text: Any, decimal: str) -> Any:
        """Return numbers of a table with another mark as this one writes them."""
        if decimal == self.decimal:
            return text
        is_number = pc.match_substring_regex(text, _NUMBER_WITH_POINT)
        return pc.if_else(is_number, pc.replace_substring(text, ".", self.decimal), text)


def _special(delimiters: str) -> str:
    """Return what a cell without quotation marks cannot hold."""
    return rf'["{delimiters}\r\n]'


def _number_text(values: NDArray[np.float64]) -> Any:
    """Return numbers as text, empty where they are NaN."""
    content = pa.py_buffer(np.ascontiguousarray(values, dtype=np.float64))
    column = pa.Array.from_buffers(pa.float64(), len(values), [None, content])
    return pc.if_else(pc.is_nan(column), _scalar(""), pc.cast(column, TEXT))


@cache
def _scalar(text: str) -> Any:
    """Return one text for Arrow, without its converters, which import pandas."""
    content, ends = text.encode(), np.array([0, len(text.encode())], np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(content)]
    return pa.Array.from_buffers(TEXT, 1, buffers)[0]


def _text(column: Any) -> Any:
    """Return the cells of an Arrow column, or of any objects, as text."""
    if isinstance(column, np.ndarray):
        return _each_text(column.tolist())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind):
        return pc.cast(column, TEXT)
    return _each_text(column.to_pylist())


def _each_text(cells: Sequence[Any]) -> Any:
    return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells], TEXT)


def _quoted(text: Any, delimiter: str) -> Any:
    """Enclose what needs it in quotation marks, doubling those inside."""
    special = pc.match_substring_regex(text, _special(delimiter))
    if not pc.any(special).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, _pasted(_pasted('"', doubled), '"'), text)


def _pasted(first: Any, second: Any) -> Any:
    parts = (_scalar(part) if isinstance(part, str) else part for part in (first, second))
    return pc.binary_join_element_wise(*parts, _scalar(""))


def _joined(columns: Sequence[Any], separator: str) -> bytes:
    """Return all rows one after the other, as Arrow holds them."""
    lines = pc.binary_join_element_wise(*columns, _scalar(separator))
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, np.int64)
    return data.to_pybytes()[ends[0] : ends[len(lines)]] if data is not None else b""
