"""Columns as lines of CSV, many rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

TEXT = pa.large_string()
_SPECIAL = r'[",\r\n]'  # what a cell without quotation marks cannot hold


def csv_lines(cells: pa.Table, numbers: Sequence[NDArray[np.float64]]) -> bytes:
    """Return a line for every row: cells as text, then numbers, empty where they are NaN."""
    columns = [_quoted(_text(column.combine_chunks())) for column in cells.columns]
    columns += [pc.cast(pa.array(values, from_pandas=True), TEXT) for values in numbers]
    filled = [pc.fill_null(column, "") for column in columns]
    return _joined([*filled[:-1], _pasted(filled[-1], "\n")], ",")


def csv_line(cells: Sequence[str]) -> bytes:
    """Return one line."""
    return _joined([_quoted(pa.array([cell], TEXT)) for cell in cells], ",") + b"\n"


def _text(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind):
        return pc.cast(column, TEXT)
    texts = [None if cell is None else str(cell) for cell in column.to_pylist()]
    return pa.array(texts, TEXT)


def _quoted(text: Any) -> Any:
    """Enclose what needs it in quotation marks, doubling those inside."""
    special = pc.match_substring_regex(text, _SPECIAL)
    if not pc.any(special).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, _pasted(_pasted('"', doubled), '"'), text)


def _pasted(first: Any, second: Any) -> Any:
    parts = (pa.scalar(part, TEXT) if isinstance(part, str) else part for part in (first, second))
    return pc.binary_join_element_wise(*parts, pa.scalar("", TEXT))


def _joined(columns: Sequence[Any], separator: str) -> bytes:
    """Return all rows one after the other, as Arrow holds them."""
    lines = pc.binary_join_element_wise(*columns, pa.scalar(separator, TEXT))
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, np.int64)
    return data.to_pybytes()[ends[0] : ends[len(lines)]] if data is not None else b""
