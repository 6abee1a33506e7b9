"""Rows of tables: the same integers from any source, and nothing spent on what cannot be read."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from heard import Heard
from pyarrow import feather, parquet

from dpgp import PrivateGPRegressor
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.private.files import open_files
from dpgp.private.row_reader import RowReader
from dpgp.private.rows import scaled_rows
from dpgp.private.sums import exact_count, exact_gram
from dpgp.private.table_objects import HeldTable, StreamedTable, open_object
from dpgp.private.table_rows import TableRows
from dpgp.private.tables import TableError
from dpgp.progress import watching
from dpgp.study.errors import Face

BOX = Box.from_bounds([(0, 1), (-1, 1)], 2, ["age", "dose"])
TARGET_BOX = Box.from_bounds((0, 2), 1, ["height"])
FEATURES = BoxFeatures(UnitInputs(BOX), LinearFeatures(2))


def options(per_person=False, missing="error", most=1, rule="random"):
    return Options.parse(
        box=BOX, target_box=TARGET_BOX, per_person=per_person, missing=missing,
        max_rows_per_unit=most, rows_of_unit=rule,
    )  # fmt: skip


def people(n=500):
    rng = np.random.default_rng(0)
    return {
        "note": ["secret"] * n,
        "age": rng.uniform(0, 1, n),
        "dose": rng.uniform(-1, 1, n),
        "height": rng.uniform(0, 2, n),
        "who": [str(k) for k in rng.integers(0, 100, n)],
    }


TABLE = people()


def wanted(unit=None, **asked):
    return RowReader(("age", "dose"), ("height",), unit, options(unit is not None, **asked))


def held_gram(unit=None, **asked):
    X, y = np.column_stack([TABLE["age"], TABLE["dose"]]), TABLE["height"][None]
    rows = scaled_rows(X, y, options(unit is not None, **asked), unit and TABLE[unit], 7)
    return exact_gram(rows, FEATURES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One table in files of different kinds."""
    folder, table = tmp_path_factory.mktemp("people"), pa.table(TABLE)
    pd.DataFrame(TABLE)[:100].to_csv(folder / "1.csv", index=False)
    pd.DataFrame(TABLE)[100:250].to_csv(folder / "2.csv.gz", index=False)
    parquet.write_table(table.slice(250, 150), folder / "3.parquet", row_group_size=60)
    table.slice(400).to_pandas().to_feather(folder / "4.feather")
    return folder


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rule", ["random", "first"])
@pytest.mark.parametrize(("unit", "most"), [(None, 1), ("who", 1), ("who", 4)])
def test_files_have_the_integers_of_arrays(folder, unit, most, rule, threads):
    asked = {"most": most, "rule": rule}
    rows = TableRows.opened(open_files(folder), wanted(unit, **asked), threads, seed=7)
    assert len(rows) == 500
    assert np.array_equal(exact_gram(rows, FEATURES, n_jobs=threads), held_gram(unit, **asked))


def test_rows_of_people_are_drawn_once_for_all_passes_of_a_fit(folder):
    """And anew for every fit, from the operating system's generator."""
    one, other = (TableRows.opened(open_files(folder), wanted("who")) for _ in range(2))
    assert np.array_equal(exact_gram(one, FEATURES), exact_gram(one, FEATURES))
    assert not np.array_equal(exact_gram(one, FEATURES), exact_gram(other, FEATURES))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_watcher_hears_of_the_first_reading(folder, threads):
    heard = Heard()
    with watching(heard):
        TableRows.opened(open_files(folder), wanted(), threads)
    assert heard == [(None, None)] + [None] * 4  # one batch a file


def streamed():
    import duckdb

    frame = pa.table(TABLE)  # noqa: F841 - the query names it
    return duckdb.sql("select * from frame")


OBJECTS = {
    "pyarrow": lambda: pa.table(TABLE),
    "pandas": lambda: pd.DataFrame(TABLE),
    "pandas with an index": lambda: pd.DataFrame(TABLE).set_index("note"),
    "polars": lambda: pl.DataFrame(TABLE),
    "duckdb": streamed,
    "interchange": lambda: type(
        "Frame", (), {"__dataframe__": lambda self, *a, **k: pa.table(TABLE).__dataframe__()}
    )(),
}


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("source", OBJECTS.values(), ids=OBJECTS)
def test_objects_have_the_integers_of_arrays(source, unit):
    table = open_object(source(), hold=unit is not None)
    rows = TableRows.opened([table], wanted(unit, most=2 if unit else 1), seed=7)
    assert np.array_equal(exact_gram(rows, FEATURES), held_gram(unit, most=2 if unit else 1))
    assert "secret" not in repr(table) + repr(rows) + repr(rows.files[0])


def test_a_query_is_not_held_unless_units_need_its_order():
    assert isinstance(open_object(streamed(), hold=False), StreamedTable)
    assert isinstance(open_object(streamed(), hold=True), HeldTable)


def test_a_reader_that_is_read_once_is_refused():
    reader = pa.RecordBatchReader.from_batches(pa.table(TABLE).schema, pa.table(TABLE).to_batches())
    with pytest.raises(TableError, match="only once"):
        open_object(reader, hold=False)


@pytest.mark.parametrize("cell", ["F", date(2020, 1, 2)])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("age", ("`categories`", "--category", "“predict from it: a category”")),
        ("height", ("PrivateGPClassifier", "--classes", "“yes or no”")),
    ],
)
def test_a_column_of_text_or_dates_is_told_what_it_may_be_meant_for(cell, name, words):
    table = pa.table({**{each: [1.0, 2.0] for each in ("age", "dose", "height")}, name: [cell] * 2})
    with pytest.raises(TableError, match=f"column '{name}' holds") as caught:
        TableRows.opened([open_object(table, hold=False)], wanted())
    for face, own in zip(Face, words, strict=True):
        said = caught.value.on(face)
        assert own in said
        assert all(other not in said for other in words if other != own)
        assert said.endswith(".")


def test_cells_that_no_type_fits_are_not_repeated():
    frame = pd.DataFrame({"age": ["secret", 1.5], "dose": 0.0, "height": 1.0})
    with pytest.raises(TableError, match="'age' holds cells that are not numbers") as caught:
        TableRows.opened([open_object(frame, hold=False)], wanted())
    assert caught.value.__context__ is None
    with pytest.raises(TableError, match="cannot be read as Arrow data") as caught:
        open_object(frame.assign(age=np.array([1j, 2j])), hold=False)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("rows", [100, 400, 600])
def test_a_table_that_changes_before_its_units_are_read_is_noticed(tmp_path, rows):
    path = tmp_path / "people.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)

    class Changing(RowReader):
        """The first to read all rows leaves another table behind."""

        def rows(self, cells):
            pd.DataFrame(people(rows)).to_csv(path, index=False)
            return super().rows(cells)

    with pytest.raises(TableError, match="the table changed while it was read"):
        TableRows.opened(
            open_files(path), Changing(("age", "dose"), ("height",), "who", options(True)), 1
        )


def test_incomplete_rows_stay_in_the_count(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("age,dose,height\n0.5,0,1\n,0,1\n0.5,0,inf\n0.5,0,2\n")
    with pytest.raises(TableError, match=r"holes.csv': column 'age' has missing cells"):
        TableRows.opened(open_files(path), wanted())
    rows = TableRows.opened(open_files(path), wanted(missing="ignore"))
    assert (len(rows), exact_count(rows).tolist()) == (4, [2 * 2**40])


@pytest.mark.parametrize("content", ["age,dose,height\n0.5,0,1\n", "age,dose,height\n0.5,0\n"])
def test_a_table_that_changes_between_passes_is_noticed(tmp_path, content):
    path = tmp_path / "live.csv"
    path.write_text("age,dose,height\n0.5,0,1\n0.5,0,1\n")
    rows = TableRows.opened(open_files(path), wanted())
    path.write_text(content)
    with pytest.raises(TableError, match=r"changed while it was read|more or fewer cells"):
        exact_gram(rows, FEATURES)


@pytest.mark.parametrize("write", [parquet.write_table, feather.write_feather])
def test_columns_that_change_between_passes_are_noticed(tmp_path, write):
    names = ["age", "dose", "height"]
    table, path = pa.table(TABLE).select(names), tmp_path / "live"
    write(table, path)
    rows = TableRows.opened(open_files(path), wanted())
    write(table.rename_columns(["dose", "age", "height"]), path)
    with pytest.raises(TableError, match="live': the table changed while it was read"):
        exact_gram(rows, FEATURES)
    path.unlink()
    with pytest.raises(TableError, match=r"cannot read '.*live': no such file"):
        exact_gram(rows, FEATURES)


def estimator(**asked):
    bounds = {"age": (0, 1), "dose": (-1, 1)}
    return PrivateGPRegressor(
        1.0, 1e-6, bounds=bounds, target_bounds=(0, 2), random_state=0, stages=1, **asked
    )


@pytest.fixture(scope="module")
def fitted_to_arrays():
    frame = pd.DataFrame(TABLE)
    return estimator().fit(frame[["age", "dose"]], frame["height"])


def test_the_estimator_fits_files_as_it_fits_a_frame(folder, fitted_to_arrays):
    for source in (str(folder / "*"), folder, sorted(folder.iterdir())):
        gp = estimator().fit(source, target="height")
        assert gp.certificate_.releases == fitted_to_arrays.certificate_.releases
        new = pd.DataFrame({"age": [0.2, 0.9], "dose": [0.0, 1.0]})
        assert np.array_equal(gp.predict(new), fitted_to_arrays.predict(new))
        assert gp.model_.input_names == ["age", "dose"]
        assert gp.model_.target_names == ["height"]


def test_decimal_commas_are_read_in_csv_files_and_nothing_else_is_changed(
    tmp_path, fitted_to_arrays
):
    frame = pd.DataFrame(TABLE)
    frame[:200].to_csv(tmp_path / "1.csv", sep=";", decimal=",", index=False)
    frame[200:].to_parquet(tmp_path / "2.parquet")
    gp = estimator().fit(tmp_path, target="height", decimal=",")
    assert gp.certificate_.releases == fitted_to_arrays.certificate_.releases
    new = pd.DataFrame({"age": [0.2, 0.9], "dose": [0.0, 1.0]})
    assert np.array_equal(gp.predict(new), fitted_to_arrays.predict(new))


def test_columns_are_all_others_where_bounds_name_none():
    table = pa.table({k: TABLE[k] for k in ("age", "dose", "height", "who")})
    gp = estimator().set_params(bounds=[(0, 1), (-1, 1)])
    gp.fit(table, target=["height"], units="who")
    assert gp.model_.input_names == ["age", "dose"]
    assert gp.certificate_.rows_per_unit == 1


BAD = {
    "a missing column": ({"age": "years"}, "no column 'age'"),
    "text in a column of numbers": ("text", "column 'dose' holds cells that are not numbers"),
    "a missing identifier": ("hole", "column 'who' must say for every row whose it is"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_in_the_last_file_spends_nothing(
    folder, tmp_path, monkeypatch, change, message
):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(Books, "reserve", never)
    frame = pd.DataFrame(TABLE)
    if change == "text":
        frame["dose"] = frame["dose"].astype(str)
        frame.loc[400, "dose"] = "secret"
    elif change == "hole":
        frame.loc[400, "who"] = None
    else:
        frame = frame.rename(columns=change)
    pd.DataFrame(TABLE).to_parquet(tmp_path / "1.parquet")
    frame.to_parquet(tmp_path / "2.parquet")
    with pytest.raises(TableError, match=rf"2.parquet': .*{message}") as caught:
        estimator().fit(tmp_path, units="who", target="height")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": "x.csv", "y": [1.0], "target": "y"}, "`y` must be left out"),
        ({"X": np.zeros((3, 2)), "target": "y"}, "`X` must be a path"),
        ({"X": pa.table(TABLE), "target": 3}, "`target` must be the name of a column"),
        ({"X": pa.table(TABLE), "target": []}, "`target` must name at least one column"),
        ({"X": pa.table(TABLE), "target": "height", "units": [1]}, "`units` must be the name"),
        (
            {"X": pa.table(TABLE), "target": "height", "decimal": "·"},
            "`decimal` must be '.' or ','",
        ),
        ({"X": pa.table(TABLE), "target": "height", "decimal": None}, "`decimal` must be"),
        ({"X": np.zeros((3, 2)), "y": np.zeros(3), "decimal": ","}, "`decimal` needs files"),
        ({"X": pa.table(TABLE), "target": "age"}, "must be input or target, not both"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        estimator().fit(**arguments)
