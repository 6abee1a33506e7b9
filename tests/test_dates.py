"""Dates as inputs: whatever holds them, a model counts the same days, and shows dates."""

import datetime
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer
from pyarrow import parquet

import dpgp
from dpgp import PrivateGPRegressor, export
from dpgp.checked_values import ModelFileError
from dpgp.dates import Days, date_of
from dpgp.domain import Box
from dpgp.missing_codes import Codes
from dpgp.report.html.browser import asset, payload
from dpgp.report.names import date_ticks
from dpgp.report.papers import statement
from dpgp.sites.roster import Key, Roster
from dpgp.sites.site import terms_of

ORIGIN, LAST = "2019-01-01", "2021-12-31"
DAYS = Days(datetime.date(2019, 1, 1))
BOUNDS = {"visit": (ORIGIN, LAST)}
BUDGET = {"epsilon": 3.0, "delta": 1e-6, "random_state": 0, "n_jobs": 1, "stages": 1}
ROWS = 300
_random = np.random.default_rng(0)
COUNTED = _random.integers(0, 1095, ROWS)
DATES = np.datetime64(ORIGIN) + COUNTED
Y = 20 + COUNTED / 100 + _random.normal(0, 2, ROWS)
NEW = ["2019-02-28", "2020-02-29T23:59", "2021-12-31"]
STAMPS = pd.Series(DATES).astype("datetime64[ns]") + pd.Timedelta("9h") + pd.Timedelta(7, "ns")
TEXTS = DATES.astype(str).tolist()


def fitted(X, y=Y, bounds=BOUNDS, **options):
    asked = BUDGET | {"bounds": bounds, "target_bounds": (0, 60)} | options
    return PrivateGPRegressor(**asked).fit(X, y)


@pytest.fixture(scope="module")
def model():
    return fitted(pd.DataFrame({"visit": TEXTS})).model_


def at_new(fit):
    return fit.model_.predict({"visit": NEW}).tolist()


def test_a_model_of_dates_is_that_of_their_days(model):
    counted = fitted(COUNTED[:, None].astype(float), bounds=(0, 1095))
    np.testing.assert_array_equal(
        model.predict({"visit": NEW}), counted.predict([[58.0], [424.0], [1095.0]])
    )


FRAMES = {
    "texts": lambda: pd.DataFrame({"visit": TEXTS}),
    "texts with times": lambda: pd.DataFrame({"visit": [f" {t}T23:59:59.5-08:00" for t in TEXTS]}),
    "dates": lambda: pd.DataFrame({"visit": DATES.tolist()}),
    "times": lambda: pd.DataFrame({"visit": STAMPS}),
    "times of a zone": lambda: pd.DataFrame({"visit": STAMPS.dt.tz_localize("Asia/Tokyo")}),
    "polars": lambda: pl.DataFrame({"visit": DATES.tolist()}),
    "polars, times": lambda: pl.DataFrame({"visit": STAMPS.tolist()}),
    "Arrow": lambda: pa.table({"visit": pa.array(DATES)}),
    "Arrow, milliseconds": lambda: pa.table({"visit": pa.array(DATES).cast(pa.date64())}),
    "Arrow, a zone": lambda: pa.table(
        {
            "visit": pa.array(
                STAMPS.dt.tz_localize("America/Lima"), pa.timestamp("ns", "America/Lima")
            )
        }
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_whatever_holds_dates(name, model, tmp_path):
    expected = model.predict({"visit": NEW}).tolist()
    held = FRAMES[name]()
    assert at_new(fitted(held)) == expected
    table = pa.table(held) if isinstance(held, pl.DataFrame) else held
    if isinstance(held, pd.DataFrame):
        assert at_new(_of_table(held.assign(y=Y))) == expected
        table = pa.Table.from_pandas(held, preserve_index=False)
    parquet.write_table(table.append_column("y", pa.array(Y)), tmp_path / "rows.parquet")
    assert at_new(_of_table(tmp_path / "rows.parquet")) == expected


def _of_table(table, **options):
    asked = BUDGET | {"bounds": BOUNDS, "target_bounds": (0, 60)} | options
    return PrivateGPRegressor(**asked).fit(table, target="y")


def test_files_of_other_programs(model, tmp_path):
    expected, frame = (
        model.predict({"visit": NEW}).tolist(),
        pd.DataFrame({"visit": STAMPS, "y": Y}),
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_excel(tmp_path / "rows.xlsx", index=False)
    frame.to_stata(tmp_path / "rows.dta", write_index=False, version=118)
    for name in ("rows.csv", "rows.xlsx", "rows.dta"):
        assert at_new(_of_table(tmp_path / name)) == pytest.approx(expected, rel=1e-9), name


@pytest.mark.parametrize(
    "ends",
    [
        (datetime.date(2019, 1, 1), datetime.date(2021, 12, 31)),
        (np.datetime64(ORIGIN), pd.Timestamp(LAST)),
        (datetime.datetime(2019, 1, 1, 12), LAST),
    ],
)
def test_bounds_are_dates_of_any_library(ends):
    for bounds in (ends, [ends], {"visit": ends}, np.array([ends], dtype="datetime64[s]")):
        names = ["visit"] if isinstance(bounds, dict) else None
        box = Box.from_bounds(bounds, 1, names)
        assert (box.low, box.high, box.dates) == (0.0, 1095.0, (DAYS,))
    assert dpgp.plan(n=5000, bounds=ends, target_bounds=(0, 1)).forecast.rmse > 0


NO_DATES = (
    *("", "NA", "2019-02-29", "19-02-28", "28/02/2019", "02/03/2019", "28.2.2019", "20190228"),
    *("2019-2-28", "2019-02", "2019", "0000-01-01", "\ufeff2019-02-28", "２０１９-02-28", "43524"),
    *("2019-02-28T24:00", "2019-02-28T10", "2019-02-28T", "2019-02-28 UTC", "2019-W09-4", "today"),
    *(43524, 43524.0, True, None, datetime.time(3), datetime.timedelta(3), b"2019-02-28"),
    *(pd.NaT, pd.NA, pd.Period("2019-02-28"), np.datetime64("NaT"), np.datetime64("2019-02")),
    *(np.datetime64(2**62, "s"), np.timedelta64(3, "D"), ["2019-02-28"]),
)


@pytest.mark.parametrize("cell", NO_DATES, ids=repr)
def test_nothing_is_guessed(cell, model):
    assert date_of(cell) is None
    cells = [*TEXTS[:5], cell, *TEXTS[5:]]
    X = pd.DataFrame({"visit": pd.Series(cells, dtype=object)})
    with pytest.raises(
        ValueError, match="column 'visit' must hold dates alone: they are written"
    ) as refusal:
        fitted(X, np.insert(Y, 5, 0.0))
    assert "28" not in str(refusal.value)
    with pytest.raises(
        ValueError, match="must hold dates alone to be predicted: they are written as 2019-01-31"
    ):
        model.predict(X)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.sampled_from("Dhmsn"))
def test_an_array_is_read_as_its_cells_are(numbers, unit):
    array = np.array(numbers, dtype="int64").astype(f"datetime64[{'ns' if unit == 'n' else unit}]")
    codes = Codes.of(["1970-01-01", "refused"], "visit")
    for own in (codes, Codes()):
        np.testing.assert_array_equal(DAYS.of_array(array, own), DAYS.numbers(array, own))


def test_codes_are_missing_before_bounds_are_looked_at(tmp_path):
    cells, codes = list(TEXTS), {"visit": ["9999-12-31", "refused", "2019-02-03"]}
    cells[::10] = ["9999-12-31", "refused", "9999-12-31T10:00"] * 10
    rest = [k for k in range(ROWS) if k % 10]
    asked = {"missing": "ignore", "missing_codes": codes, "neighbours": "add-remove"}
    kept = fitted(pd.DataFrame({"visit": np.array(TEXTS)[rest]}), Y[rest], **asked)
    told = pd.DataFrame({"visit": cells})
    assert at_new(fitted(told, **asked)) == at_new(kept)
    typed = [None if cell == "refused" else date_of(cell) for cell in cells]
    parquet.write_table(pa.table({"visit": typed, "y": Y}), tmp_path / "rows.parquet")
    told.assign(y=Y).to_csv(tmp_path / "rows.csv", index=False)
    for name in ("rows.parquet", "rows.csv"):
        assert at_new(_of_table(tmp_path / name, **asked)) == at_new(kept)
    for code in codes["visit"]:
        with pytest.raises(ValueError, match="must hold dates"):
            kept.predict(pd.DataFrame({"visit": [code]}))


@pytest.mark.parametrize(
    ("bounds", "rule"),
    [
        ((ORIGIN, 5), "pairs of numbers, or of dates"),
        ((LAST, ORIGIN), "low < high"),
        (("2019-02-29", LAST), "pairs of numbers, or of dates"),
        ((0, 1095), "give `bounds` that are dates"),
    ],
)
def test_bounds_that_cannot_be_meant(bounds, rule):
    with pytest.raises((TypeError, ValueError), match=rule):
        fitted(pd.DataFrame({"visit": DATES}), bounds={"visit": bounds})
    with pytest.raises(ValueError, match="`target_bounds` must be numbers, got dates"):
        fitted(COUNTED[:, None], bounds=(0, 1095), target_bounds=(ORIGIN, LAST))


def test_a_file_keeps_dates_and_refuses_what_are_none(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = dpgp.load(tmp_path / "model.json")
    assert again.predict({"visit": NEW}).tolist() == model.predict({"visit": NEW}).tolist()
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["inputs"]["dates"] == [ORIGIN]
    for wrong in ([None, ORIGIN], [], ["x"], [7], ["2019-02-29"], "2019"):
        document["inputs"]["dates"] = wrong
        (tmp_path / "hostile.json").write_text(json.dumps(document))
        with pytest.raises(ModelFileError):
            dpgp.load(tmp_path / "hostile.json")
    del document["inputs"]["dates"]  # days as numbers, as older files have them
    (tmp_path / "hostile.json").write_text(json.dumps(document))
    assert dpgp.load(tmp_path / "hostile.json").predict([[58.0]]) == model.predict([[NEW[0]]])


def test_effects_are_of_dates(model):
    along = model.partial_dependence("visit")
    assert along.at["visit"][0] == np.datetime64(ORIGIN)
    assert along.to_dict()["visit"][-1] == datetime.date(2021, 12, 31)
    assert repr(along).splitlines()[2].strip().startswith(ORIGIN)
    one = model.average({"visit": datetime.date(2020, 1, 1)}, {"visit": [ORIGIN]})
    assert one.to_dict()["visit before"] == [datetime.date(2019, 1, 1)]
    for wrong in ("2022-01-01", 5.0, ["x"], []):
        with pytest.raises(ValueError, match=f"between its public bounds {ORIGIN} and {LAST}"):
            model.average({"visit": wrong})
    assert "along visit, per day" in model.slope("visit").title


@pytest.mark.parametrize(
    ("last", "names"),
    [
        (6, ["2019-01-01", "2019-01-03", "2019-01-05", "2019-01-07"]),
        (120, ["2019-01", "2019-02", "2019-03", "2019-04", "2019-05"]),
        (1095, ["2019", "2020", "2021"]),
        (40_000, ["2020", "2040", "2060", "2080", "2100", "2120"]),
    ],
)
def test_axes_name_days_months_or_years(last, names):
    ticks = date_ticks(DAYS, float(last), 50)
    assert [name for _, name in ticks] == names
    for place, name in ticks:
        assert str(DAYS.dates(np.array([place]))[0]).startswith(name)


def test_figures_and_pages_show_dates(model):
    axis = model.plot()
    assert [text.get_text() for text in axis.get_xticklabels()][:3] == [
        "2019-01",
        "2019-07",
        "2020-01",
    ]
    inputs = json.dumps(payload(model)["inputs"])
    with closing(MiniRacer()) as engine:
        engine.eval(f"{asset('scales.js')}; const inputs = {inputs};")
        assert engine.eval("inputFormatter(inputs, 0)(424.3)") == "2020-02-29"
        ticks = engine.eval("JSON.stringify(namedTicks([0, 1095], 5, datesOf(inputs, 0)))")
    assert json.loads(ticks)[1] == [365.0, "2020"]
    assert "a date from 2019-01-01 to 2021-12-31, counted in days since" in statement(model)


def test_every_panel_of_several_inputs_shows_dates(tmp_path):
    X = pd.DataFrame({"visit": TEXTS, "age": _random.uniform(0, 9, ROWS)})
    bounds = BOUNDS | {"age": (0, 9)}
    map_of_two = fitted(X, bounds=bounds).model_.plot()
    assert map_of_two.get_xticklabels()[1].get_text() in ("2019-07", "2020")
    X["sex"] = _random.choice(["f", "m"], ROWS)
    three = fitted(X, bounds=bounds, categories={"sex": ["f", "m"]}).model_
    assert three.plot()[0].get_xticklabels()[1].get_text() == "2020"
    assert "visit = 20" in three.plot(centiles=True)[0].figure.texts[-1].get_text()
    three.report(tmp_path / "report.html")
    assert ">2020</text>" in (tmp_path / "report.html").read_text()


def test_onnx_takes_days_and_says_since_when(model):
    session = onnxruntime.InferenceSession(export.to_onnx(model).SerializeToString())
    days = export.rows(model, {"visit": NEW})
    assert days.tolist() == [[58.0], [424.0], [1095.0]]
    facts = session.get_modelmeta().custom_metadata_map
    assert json.loads(facts["inputs"])[0]["unit"] == f"days since {ORIGIN}"
    found = session.run(None, {session.get_inputs()[0].name: days})[0]
    np.testing.assert_allclose(np.ravel(found), model.predict({"visit": NEW}), rtol=1e-6)


def test_custodians_agree_on_the_origin(model):
    later = Box.from_bounds([("2020-01-01", "2022-12-31")], 1, ["visit"])  # as many days
    one, north, south = (Key.new().public for _ in range(3))
    roster = Roster(("127.0.0.1", 7000), one, {"north": north, "south": south}, 1)
    moved = replace(model.options, box=later)
    assert terms_of(model.options, roster) != terms_of(moved, roster)
