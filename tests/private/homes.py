"""Everything that takes rows: how a table is put into it, and how some of its rows are.

A home that cannot hold a cell refuses it in :meth:`Home.build`, in words of its own library: then
there is nothing of ours to test.
"""

import gzip
import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import feather, parquet

from dpgp.private.source import Partial

INPUTS = ("age", "sex")
NAMES = (*INPUTS, "outcome", "weight", "who", "note")

Columns = dict[str, list[Any]]


class Fingerprints:
    """A question to any source: the sum of a hash of all bits of every row that is usable."""

    def partial(self, batches: Iterable[Any]) -> Partial:
        total = 0
        for batch in batches:
            for k in np.flatnonzero(batch.usable):
                bits = batch.inputs[k].tobytes() + batch.targets[:, k].tobytes()
                bits += b"" if batch.weights is None else batch.weights[k].tobytes()
                total += int.from_bytes(hashlib.sha256(bits).digest(), "big")
        return Partial(np.array([total], dtype=object), b"")


@dataclass(frozen=True)
class Given:
    """What an estimator's ``fit`` is given, and options of the estimator that go with it."""

    X: Any
    y: Any = None
    units: Any = None
    target: str | None = None
    by_position: bool = False
    engine: str | None = None
    decimal: str = "."
    of_a_site: bool = False


@dataclass(frozen=True)
class Home:
    """A way to hold a table: made of columns once, cut to some rows, and given to ``fit``."""

    build: Callable[[Columns], Any]
    pick: Callable[[Any, list[int]], Any]
    given: Callable[[Any, Path], Given]
    chooses_type: bool = False
    """Whether its library gives a column one type before we see it."""


def picked(columns: Columns, rows: list[int]) -> Columns:
    return {name: [column[k] for k in rows] for name, column in columns.items()}


# arguments of their own: X, y and units


def split(columns: Columns) -> tuple[list[list[Any]], list[Any], list[Any]]:
    X = [list(row) for row in zip(*(columns[name] for name in INPUTS), strict=True)]
    return X, columns["outcome"], columns["who"]


def objects(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    for k, cell in enumerate(cells):
        array[k] = cell
    return array


def object_arrays(columns: Columns) -> Columns:
    return {name: objects(column) for name, column in columns.items()}


def typed_arrays(columns: Columns) -> Columns:
    arrays = {name: np.array(column) for name, column in columns.items()}
    if any(array.ndim != 1 for array in arrays.values()):
        raise ValueError
    return arrays


def given_lists(columns: Columns, folder: Path) -> Given:
    return Given(*split(columns), by_position=True)


def given_by_a_site(columns: Columns, folder: Path) -> Given:
    return replace(given_lists(columns, folder), of_a_site=True)


def given_tuples(columns: Columns, folder: Path) -> Given:
    X, y, units = split(columns)
    return Given(tuple(map(tuple, X)), tuple(y), tuple(units), by_position=True)


def given_lists_of_lists(columns: Columns, folder: Path) -> Given:
    X, y, units = split(columns)
    return Given(X, [[cell] for cell in y], units, by_position=True)


def given_arrays(columns: Any, folder: Path) -> Given:
    X = np.empty((len(columns["age"]), len(INPUTS)), dtype=object)
    for k, name in enumerate(INPUTS):
        X[:, k] = columns[name]
    return Given(X, columns["outcome"], columns["who"], by_position=True)


def given_columns_of_arrays(columns: Any, folder: Path) -> Given:
    given = given_arrays(columns, folder)
    return Given(given.X, given.y.reshape(-1, 1), given.units, by_position=True)


def rows_of_array(columns: Any, rows: list[int]) -> Any:
    return {name: column[rows] for name, column in columns.items()}


# data frames, as X, y and units or as a table with a target


def frame(columns: Columns) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})


def object_frame(columns: Columns) -> pd.DataFrame:
    return pd.DataFrame({k: pd.Series(objects(v), dtype=object) for k, v in columns.items()})


def nullable_frame(columns: Columns) -> pd.DataFrame:
    return frame(columns).convert_dtypes()


def arrow_frame(columns: Columns) -> pd.DataFrame:
    return frame(columns).convert_dtypes(dtype_backend="pyarrow")


def categorical_frame(columns: Columns) -> pd.DataFrame:
    return object_frame(columns).astype("category")


def polars_frame(columns: Columns) -> pl.DataFrame:
    try:
        return pl.DataFrame(columns)
    except BaseException as error:  # a panic of polars is no Exception
        raise TypeError from error


def rows_of_pandas(held: pd.DataFrame, rows: list[int]) -> pd.DataFrame:
    return held.iloc[rows]


def rows_of_others(held: Any, rows: list[int]) -> Any:
    return held[rows] if isinstance(held, pl.DataFrame) else held.take(rows)


def columns_apart(held: Any, folder: Path) -> Given:
    if isinstance(held, pa.Table):
        return Given(held.select(list(INPUTS)), held.column("outcome"), held.column("who"))
    return Given(held[list(INPUTS)], held["outcome"], held["who"])


def column_of_outcomes(held: Any, folder: Path) -> Given:
    return Given(held[list(INPUTS)], held[["outcome"]], held["who"])


def as_table(held: Any, folder: Path) -> Given:
    return Given(held, target="outcome", units="who")


class Stream:
    """A query: hands out its rows anew for every pass, two at a time."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        batches = self.table.to_batches(max_chunksize=2)
        reader = pa.RecordBatchReader.from_batches(self.table.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


def as_stream(held: pa.Table, folder: Path) -> Given:
    return Given(Stream(held), target="outcome", units="who")


def encoded(columns: Columns) -> pa.Table:
    table = pa.table(columns)
    return pa.table({name: table.column(name).dictionary_encode() for name in columns})


def partly_encoded(columns: Columns) -> pa.Table:
    return pa.table({**columns, "sex": pa.array(columns["sex"]).dictionary_encode()})


# files


def text_of(cell: Any) -> str:
    return "" if cell is None else str(cell)


def quoted(cell: Any) -> str:
    return '"' + text_of(cell).replace('"', '""') + '"'


def with_comma(cell: Any) -> str:
    return text_of(cell).replace(".", ",") if isinstance(cell, float) else text_of(cell)


def csv_lines(columns: Columns, write: Callable[[Any], str], mark: str, end: str) -> bytes:
    lines = [mark.join(columns)]
    lines += [mark.join(map(write, row)) for row in zip(*columns.values(), strict=True)]
    return "".join(line + end for line in lines).encode()


def csv_home(
    write: Callable[[Any], str] = text_of,
    mark: str = ",",
    end: str = "\n",
    pack: Callable[[bytes], bytes] = bytes,
    files: int = 1,
    engine: str | None = None,
    decimal: str = ".",
) -> Home:
    def build(columns: Columns) -> Columns:
        lines = csv_lines(columns, write, mark, end)  # what UTF-8 cannot hold no file can
        if write is not quoted and lines.count(b"\n") > 1 + len(columns["age"]):
            raise ValueError  # that is a table of more rows
        return columns

    def given(columns: Columns, folder: Path) -> Given:
        count = len(columns["age"])
        for number in range(files):
            part = picked(columns, list(range(number, count, files)))
            content = csv_lines(part, write, mark, end)
            (folder / f"{number}.csv").write_bytes(pack(content))
        return Given(str(folder), None, "who", "outcome", engine=engine, decimal=decimal)

    return Home(build, picked, given)


def parquet_given(held: pa.Table, folder: Path) -> Given:
    parquet.write_table(held, folder / "rows.parquet", row_group_size=3)
    return Given(str(folder / "rows.parquet"), target="outcome", units="who")


def parquet_on_dask(held: pa.Table, folder: Path) -> Given:
    return replace(parquet_given(held, folder), engine="dask")


def parquets_given(held: pa.Table, folder: Path) -> Given:
    for number in range(2):
        rows = list(range(number, held.num_rows, 2))
        parquet.write_table(held.take(rows), folder / f"{number}.parquet", row_group_size=2)
    return Given(str(folder), target="outcome", units="who")


def feather_given(held: pa.Table, folder: Path) -> Given:
    feather.write_feather(held, folder / "rows.feather", chunksize=2)
    return Given(str(folder / "rows.feather"), target="outcome", units="who")


def excel_given(held: pd.DataFrame, folder: Path) -> Given:
    held.to_excel(folder / "rows.xlsx", index=False)
    return Given(str(folder / "rows.xlsx"), target="outcome", units="who")


def stata_given(held: pd.DataFrame, folder: Path) -> Given:
    held.to_stata(folder / "rows.dta", write_index=False, version=118)
    return Given(str(folder / "rows.dta"), target="outcome", units="who")


def writable(build: Callable[[Columns], Any], write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builder that refuses what cannot be written to a file of this kind."""

    def checked(columns: Columns) -> Any:
        held = build(columns)
        write(held, io.BytesIO())
        return held

    return checked


def to_excel(held: pd.DataFrame, file: io.BytesIO) -> None:
    held.to_excel(file, index=False)


def to_stata(held: pd.DataFrame, file: io.BytesIO) -> None:
    held.to_stata(file, write_index=False, version=118)


LOCAL = {
    "lists": Home(dict, picked, given_lists),
    "lists of a site": Home(dict, picked, given_by_a_site),
    "tuples": Home(dict, picked, given_tuples),
    "lists of lists": Home(dict, picked, given_lists_of_lists),
    "object arrays": Home(object_arrays, rows_of_array, given_arrays),
    "typed arrays": Home(typed_arrays, rows_of_array, given_arrays, chooses_type=True),
    "columns of arrays": Home(object_arrays, rows_of_array, given_columns_of_arrays),
    "pandas": Home(frame, rows_of_pandas, columns_apart, chooses_type=True),
    "pandas, objects": Home(object_frame, rows_of_pandas, columns_apart),
    "pandas, nullable": Home(nullable_frame, rows_of_pandas, columns_apart, chooses_type=True),
    "pandas, Arrow": Home(arrow_frame, rows_of_pandas, columns_apart, chooses_type=True),
    "pandas, categorical": Home(categorical_frame, rows_of_pandas, columns_apart),
    "pandas, a frame of outcomes": Home(object_frame, rows_of_pandas, column_of_outcomes),
    "polars": Home(polars_frame, rows_of_others, columns_apart, chooses_type=True),
    "polars, a frame of outcomes": Home(
        polars_frame, rows_of_others, column_of_outcomes, chooses_type=True
    ),
    "Arrow": Home(pa.table, rows_of_others, columns_apart, chooses_type=True),
    "table of pandas": Home(frame, rows_of_pandas, as_table, chooses_type=True),
    "table of pandas, objects": Home(object_frame, rows_of_pandas, as_table),
    "table of pandas, nullable": Home(nullable_frame, rows_of_pandas, as_table, chooses_type=True),
    "table of pandas, Arrow": Home(arrow_frame, rows_of_pandas, as_table, chooses_type=True),
    "table of pandas, categorical": Home(categorical_frame, rows_of_pandas, as_table),
    "table of polars": Home(polars_frame, rows_of_others, as_table, chooses_type=True),
    "table of Arrow": Home(pa.table, rows_of_others, as_table, chooses_type=True),
    "table of Arrow, encoded": Home(encoded, rows_of_others, as_table, chooses_type=True),
    "stream": Home(pa.table, rows_of_others, as_stream, chooses_type=True),
    "stream, encoded": Home(encoded, rows_of_others, as_stream, chooses_type=True),
    "CSV": csv_home(),
    "CSV, quoted": csv_home(quoted),
    "CSV of Windows": csv_home(quoted, ";", "\r\n"),
    "CSV with tabs": csv_home(mark="\t"),
    "CSV with decimal commas": csv_home(with_comma, ";", decimal=","),
    "CSV, gzip": csv_home(pack=gzip.compress),
    "CSV, several files": csv_home(quoted, files=2),
    "Parquet": Home(pa.table, rows_of_others, parquet_given, chooses_type=True),
    "Parquet, encoded": Home(encoded, rows_of_others, parquet_given, chooses_type=True),
    "Parquet, partly encoded": Home(
        partly_encoded, rows_of_others, parquet_given, chooses_type=True
    ),
    "Parquet, several files": Home(pa.table, rows_of_others, parquets_given, chooses_type=True),
    "Feather": Home(pa.table, rows_of_others, feather_given, chooses_type=True),
    "Feather, encoded": Home(encoded, rows_of_others, feather_given, chooses_type=True),
    "Excel": Home(writable(object_frame, to_excel), rows_of_pandas, excel_given, chooses_type=True),
    "Stata": Home(writable(frame, to_stata), rows_of_pandas, stata_given, chooses_type=True),
}

CLUSTERS = {
    "CSV, Dask": csv_home(quoted, files=2, engine="dask"),
    "Parquet, Dask": Home(encoded, rows_of_others, parquet_on_dask, chooses_type=True),
    "CSV, Spark": csv_home(quoted, files=2, engine="spark"),
}
HOMES = LOCAL | CLUSTERS
