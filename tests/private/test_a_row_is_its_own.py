"""What a row adds is a function of that row, of public choices and of nothing else.

A table is drawn, and a hostile cell is put into one of its rows. Whatever holds the table, all
other rows must add the same integers as without that row, and that row what it adds among others.
Where the table is refused, that row must be refused among other rows too, in the same words, which
do not repeat the cell.
"""

import contextlib
import re
import tempfile
import warnings
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import homes
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from homes import HOMES, LOCAL, NAMES, Fingerprints, Given
from hostile_cells import CELLS, CODES, NOBODY, PEOPLE, RECOGNISED
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpgp import PrivateGPClassifier, PrivateGPRegressor
from dpgp.dates import date_of
from dpgp.private import cells
from dpgp.sites import Site

SITE = Site("north", "roster.yaml", "north.key")
ROWS = 11
EDGES = (1, 7, 16, 33, 64, 2**22)
CASES, MANY_CASES = 8, 10**5 // len(LOCAL) + 1  # for every home


@dataclass(frozen=True)
class Case:
    """A table of five people with two rows each, and of a hostile one at some place."""

    home: str
    people: dict[str, list[Any]]
    column: str
    cell: Any
    place: int = 4
    labels: bool = False
    missing: str = "ignore"
    with_units: bool = True
    edge: int = 2**22
    second: Any = None
    codes: tuple[Any, ...] = ()

    @property
    def columns(self):
        """The table, with the hostile row at its place, and another at the end: cells in rows."""
        columns = {k: [cell for cell in cells for _ in "12"] for k, cells in self.people.items()}
        columns["note"] = [f"note {k}" for k in range(ROWS - 1)]
        hostile = {k: cells[0] for k, cells in columns.items()}
        kind = "text" if isinstance(hostile["who"], str) else "number"
        hostile["who"], other_one = NOBODY[kind]
        other = hostile | {"who": other_one, "note": "another"}
        other["age" if self.column == "who" else self.column] = self.second
        hostile[self.column] = self.cell
        at = self.place
        return {k: [*cells[:at], hostile[k], *cells[at:], other[k]] for k, cells in columns.items()}

    def estimator(self, said: Given):
        """Return an estimator that knows the levels, which are public."""
        options = {
            "epsilon": 1.0,
            "n_jobs": 1,
            "bounds": [self.bounds] if said.by_position else {"age": self.bounds},
            "categories": {1 if said.by_position else "sex": levels_of(self.people["sex"])},
            "missing": self.missing,
            "missing_codes": self.missing_codes(said),
            "weight_bound": 4.0,
            "engine": said.engine,
            "site": SITE if said.of_a_site else None,
        }
        if self.labels:
            return PrivateGPClassifier(classes=levels_of(self.people["outcome"]), **options)
        return PrivateGPRegressor(target_bounds=(0, 10), **options)

    @property
    def bounds(self):
        """Public bounds of ages, or of the dates that stand in their place."""
        return ("2018-12-31", "2019-04-30") if self.has_dates else (0, 100)

    @property
    def has_dates(self):
        return date_of(self.people["age"][0]) is not None

    def missing_codes(self, said: Given):
        """Return the same codes of ages and outcomes, as an estimator is told of them."""
        if not self.codes:
            return None
        outcome = "outcome" if column_is_named(said) else 2
        columns = [0 if said.by_position else "age", *([] if self.labels else [outcome])]
        return dict.fromkeys(columns, self.codes)


def is_huge(cell):
    return isinstance(cell, Decimal) and cell.adjusted() > 400


def column_is_named(said: Given):
    return said.target is not None or hasattr(said.y, "name") or hasattr(said.y, "columns")


def levels_of(cells):
    """Return the levels, which are no floats."""
    return sorted({int(cell) if isinstance(cell, float) else cell for cell in cells})


class AnswerError(Exception):
    """What a source answers, raised instead of a fit."""


def answer(site, rows, *others, **more):
    raise AnswerError(int(rows.total(Fingerprints(), 1)[0]))


def total(case, held):
    """Return the sum over all rows of a table, or why it is refused."""
    home = HOMES[case.home]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = home.given(held, Path(folder))
        units = said.units if case.with_units else None
        weights = held["weight"] if said.target is None else "weight"
        try:
            with mock.patch("dpgp.estimator.fit_alone_or_jointly", answer):
                case.estimator(said).fit(
                    said.X,
                    said.y,
                    units,
                    sample_weight=weights,
                    target=said.target,
                    decimal=said.decimal,
                )
        except AnswerError as found:
            return found.args[0]
        except (ValueError, TypeError) as refusal:
            check_repeats_nothing(refusal, folder)
            return re.sub(rf"{folder}/\d?", "", str(refusal))  # whichever file has the row
    raise AssertionError("a fit took place")


def check_repeats_nothing(refusal, folder):
    """Assert that neither an error nor any behind it repeats a cell."""
    said = refusal
    while said is not None:
        words = str(said).replace(folder, "")
        assert not any(cell in words for cell in RECOGNISED), said
        said = said.__cause__ or (None if said.__suppress_context__ else said.__context__)


@contextlib.contextmanager
def edges(size):
    """Let chunks and batches end everywhere."""
    rows = 2 if size < 2**22 else 2**16
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch("dpgp.private.csv_files.CHUNK_BYTES", size))
        for place in ("arrow_files", "table_objects", "rows"):
            stack.enter_context(mock.patch(f"dpgp.private.{place}.BATCH_ROWS", rows))
        yield


def built(case):
    """Return what holds the table, None where it has no room for the cell."""
    if case.has_dates and any(map(is_huge, (case.cell, case.second))):
        return None  # Arrow tries for minutes to make a date of it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return HOMES[case.home].build(case.columns)
        except Exception:
            return None


def check(case):
    """Assert that the hostile row is its own; return whether its home could hold it."""
    held, home = built(case), HOMES[case.home]
    if held is None:
        return False
    others = [k for k in range(ROWS) if k != case.place]  # the row at the end is left out
    filler = others[-2:]  # one person: a table has two rows at least
    tables = (range(ROWS), [case.place, *filler], others, filler)
    with edges(case.edge):
        whole, alone, rest, few = (total(case, home.pick(held, list(rows))) for rows in tables)
    if isinstance(rest, str) or isinstance(few, str):
        # its home made everybody's cells something else, or takes no texts for numbers
        assert home.chooses_type or isinstance(case.people["age"][0], str), rest
        return False
    if not few:  # nobody's row counts, as texts of truth values are none of the levels 0 and 1
        return False
    if isinstance(whole, str) or isinstance(alone, str):
        assert whole == alone
    else:
        assert whole - rest == alone - few
    return True


def check_two(case):
    """Assert that two hostile rows do not meet, neither in what they add nor where refused."""
    held, home = built(case), HOMES[case.home]
    if held is None:
        return False
    rows, last = range(ROWS + 1), ROWS
    without = ([], [case.place], [last], [case.place, last])
    with edges(case.edge):
        both, second, first, none = (
            total(case, home.pick(held, [k for k in rows if k not in left])) for left in without
        )
    if not isinstance(none, int) or not none:
        return False
    if isinstance(first, str) or isinstance(second, str):
        assert both in (first, second)
    else:
        assert both - first == second - none
    return True


@st.composite
def cases(draw, homes):
    """Draw a home, people, and a hostile cell."""
    labels, column = draw(st.booleans()), draw(st.sampled_from(NAMES))
    written = PEOPLE | {"outcome": PEOPLE["label" if labels else "outcome"]}
    return Case(
        home=draw(st.sampled_from(homes)),
        people={k: draw(st.sampled_from(written[k])) for k in NAMES if k != "note"},
        column=column,
        cell=draw(CELLS),
        second=draw(CELLS),
        place=draw(st.integers(0, 8)),
        labels=labels,
        missing=draw(st.sampled_from(["error", "ignore", "model"])),
        with_units=column == "who" or draw(st.booleans()),
        edge=draw(st.sampled_from(EDGES)),
        codes=draw(st.sampled_from(CODES)),
    )


@pytest.mark.parametrize("home", LOCAL)
@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_row_is_its_own(home, data):
    assume(check(data.draw(cases([home]))))


@settings(max_examples=10 * CASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_two_hostile_rows_do_not_meet(data):
    assume(check_two(data.draw(cases(list(LOCAL)))))


@pytest.mark.slow
@pytest.mark.parametrize("home", LOCAL)
@settings(max_examples=MANY_CASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_row_is_its_own_in_many_cases(home, data):
    drawn = data.draw(cases([home]))
    assume(check(drawn) and check_two(drawn))


# on clusters


@pytest.fixture(scope="module")
def dask():
    """Workers that are threads of this process, which see the edges that a case asks for."""
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"):
        yield


@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_row_is_its_own_on_dask(dask, data):
    assume(check(data.draw(cases(["CSV, Dask", "Parquet, Dask"]))))


@pytest.fixture(scope="module")
def spark():
    """Two workers, which are given the question by value: they know nothing of these tests."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(homes)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    yield
    session.stop()


@pytest.mark.slow
@settings(max_examples=CASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_row_is_its_own_on_spark(spark, data):
    assume(check(data.draw(cases(["CSV, Spark"]))))


# each repair undone: what the tests above would find


def case(home, column, cell, labels=False, **other):
    """Return a case with people whose columns are texts and floats; others by their names."""
    written = PEOPLE | {"outcome": PEOPLE["label" if labels else "outcome"]}
    style = {k: other.pop(k, 0) for k in NAMES if k != "note"}
    people = {k: written[k][number] for k, number in style.items()}
    return Case(home, people, column, cell, labels=labels, **other)


def one_array(y):
    return [np.asarray(y)[:, 0]]


def one_type_a_column(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def as_they_come(batches):
    return (pa.Table.from_batches([batch]) for batch in batches)


@pytest.mark.parametrize("second", [None, np.longdouble(5.0), 2**70, 5.0, "x"])
@pytest.mark.parametrize("cell", [np.ma.masked, np.array(1.0), np.float16(3), Decimal("3")])
@pytest.mark.parametrize("column", ["age", "outcome"])
def test_cells_of_a_list_are_typed_by_nobody(column, cell, second):
    """NumPy reads a masked cell as NaN among floats, and as 0 among long ones."""
    for home in ("lists", "lists of lists", "object arrays"):
        assert check_two(case(home, column, cell, second=second))


@pytest.mark.parametrize("cell", ["refused", " refused ", -99, -99.0, "-99", "-99.0", "-9.9e1"])
@pytest.mark.parametrize("column", ["age", "outcome"])
@pytest.mark.parametrize("home", ["CSV", "CSV, quoted", "lists", "table of pandas, objects"])
def test_a_code_is_missing_whoever_has_it(home, column, cell):
    told = case(home, column, cell, codes=("refused", -99))
    held, rows = built(told), list(range(ROWS))
    others = [k for k in rows if k != told.place]
    assert total(told, HOMES[home].pick(held, rows)) == total(told, HOMES[home].pick(held, others))
    refused = total(replace(told, missing="error"), HOMES[home].pick(held, rows))
    assert isinstance(refused, str)
    assert "-99" not in refused


@pytest.mark.parametrize("cell", [-1, -0.5, float("nan"), float("inf"), -float("inf"), None])
@pytest.mark.parametrize("home", ["CSV", "lists", "pandas", "table of Arrow"])
def test_what_is_no_weight_adds_nothing(home, cell):
    told = case(home, "weight", cell)
    held, rows = built(told), list(range(ROWS))
    others = [k for k in rows if k != told.place]
    assert total(told, HOMES[home].pick(held, rows)) == total(told, HOMES[home].pick(held, others))
    assert isinstance(total(replace(told, missing="error"), HOMES[home].pick(held, rows)), str)


@pytest.mark.parametrize("cell", [4.0, 4.5, 1e300])
@pytest.mark.parametrize("home", ["CSV", "lists", "table of Arrow"])
def test_weights_above_the_bound_count_as_it(home, cell):
    told, whole = case(home, "weight", cell), case(home, "weight", 4.0)
    rows = list(range(ROWS))
    assert total(told, HOMES[home].pick(built(told), rows)) == total(
        whole, HOMES[home].pick(built(whole), rows)
    )


def test_labels_of_a_list_are_typed_by_nobody():
    """NumPy cannot hold these two texts in one array, and either of them among numbers."""
    for home in ("lists", "tuples", "lists of lists"):
        told = case(home, "outcome", np.array("x"), labels=True, outcome=1, second=b"\x80")
        assert check_two(told)


MUTANTS = {
    "Arrow drops a byte order mark where a chunk begins": (
        {"dpgp.private.csv_files.BOM_UTF8": b"\0"},
        [case("CSV", "age", "\ufeff1", edge=edge) for edge in EDGES],
    ),
    "labels that are lists become one array": (
        {"dpgp.outcomes.labels.columns_of": one_array},
        [case("lists of lists", "outcome", b"unknown", labels=True, outcome=3)],
    ),
    "so do long numbers": (
        {"dpgp.outcomes.labels.columns_of": one_array},
        [case("lists of lists", "outcome", 0.5, labels=True, outcome=4)],
    ),
    "a column of objects has one type": (
        {"dpgp.private.table_objects.MixedTable.of_pandas": one_type_a_column},
        [case("table of pandas, objects", "sex", b"zz", with_units=False)],
    ),
    "Arrow is trusted with what it calls NaN": (
        {"dpgp.private.cells._plain_floats": lambda column: cells._floats(column)},
        [case("CSV", "age", "nan(1)", age=2)],
    ),
    "batches end where a library ends them": (
        {"dpgp.private.arrow_files.even_batches": as_they_come},
        [case("Parquet, partly encoded", "note", "x")],
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_repair_is_needed(mutant):
    undone, hostile = MUTANTS[mutant]
    assert all(map(check, hostile))
    with contextlib.ExitStack() as stack:
        for what, instead in undone.items():
            stack.enter_context(mock.patch(what, instead))
        with pytest.raises((AssertionError, RuntimeError)):
            assert all(map(check, hostile))


def test_a_table_that_pandas_read_from_csv_is_not_covered(tmp_path):
    """Why fits open files themselves: an open quotation mark swallows other people."""
    lines = ["age,note", *(f"{k},-" for k in range(20))]
    lines[3] = '2,"never closed'
    lines[15] = '14,"'
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    assert len(pd.read_csv(tmp_path / "people.csv")) < 20
