"""Codes for missing values: a cell that is one is missing, whatever holds it."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpgp
from dpgp import PrivateGPClassifier, PrivateGPRegressor
from dpgp.missing_codes import NOWHERE, Codes
from dpgp.model.file.settings import settings_from_json, settings_to_json
from dpgp.study.codes import read_codes

BUDGET = {"epsilon": 3.0, "delta": 1e-6, "random_state": 0, "n_jobs": 1} | {
    "stages": 1,
    "warp": False,
}
NUMBERS = {"bounds": {"age": (-200, 100)}, "target_bounds": (0, 100), "missing": "ignore"}
CODES = {"age": [-99, "refused"], "income": [98.0, -98]}
ROWS = 400


def table(age=-99.0, income=-98.0):
    """Return rows, of which some have a code instead of an age or an income."""
    random = np.random.default_rng(1)
    ages = random.uniform(20, 80, ROWS)
    incomes = 20 + 0.5 * ages + random.normal(0, 3, ROWS)
    frame = pd.DataFrame({"age": ages, "income": incomes}, dtype=object)
    frame.loc[::10, "age"] = age
    frame.loc[5::10, "income"] = income
    return frame


def with_gaps():
    return table(None, None).astype(float)


def mean_of(fitted):
    return fitted.predict([[30.0], [60.0]]).tolist()


@pytest.fixture(scope="module")
def expected():
    """Return what a fit predicts where the same cells are empty."""
    frame = with_gaps()
    gp = PrivateGPRegressor(**BUDGET, **NUMBERS)
    return gp.fit(frame[["age"]], frame["income"]).model_.predict([[30.0], [60.0]]).tolist()


FRAMES = {
    "floats": lambda: table().astype(float),
    "whole numbers and texts": lambda: table("refused", "-98"),
    "objects": lambda: table("refused", -98),
    "texts of numbers": lambda: table("-99", 98),
    "decimals": lambda: table(Decimal(-99), Decimal("98.0")),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_codes_are_missing_in_frames_and_arrays(expected, kind):
    frame = FRAMES[kind]()
    by_name = PrivateGPRegressor(**BUDGET, **NUMBERS, missing_codes=CODES)
    assert mean_of(by_name.fit(frame[["age"]], frame["income"]).model_) == expected
    options = NUMBERS | {"bounds": (-200, 100)}
    codes = {0: CODES["age"], 1: CODES["income"]}
    by_position = PrivateGPRegressor(**BUDGET, **options, missing_codes=codes)
    X, y = frame[["age"]].to_numpy(), frame["income"].to_numpy()
    assert mean_of(by_position.fit(X, y).model_) == expected
    assert mean_of(by_position.fit(X.tolist(), y.tolist()).model_) == expected


def test_codes_are_missing_in_other_tables(expected, tmp_path):
    frame = FRAMES["floats"]()
    arrow = pa.table({name: frame[name].to_numpy() for name in frame})
    gp = PrivateGPRegressor(**BUDGET, **NUMBERS, missing_codes=CODES)
    with pytest.raises(ValueError, match="columns without names have positions from 0 to 1"):
        gp.fit(arrow.select(["age"]), arrow.column("income"))
    gp.set_params(missing_codes={"age": CODES["age"], 1: CODES["income"]})
    assert mean_of(gp.fit(arrow.select(["age"]), arrow.column("income")).model_) == expected
    gp.set_params(missing_codes=CODES)
    parquet.write_table(arrow, tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    texts = table(" refused ", "98.0")
    texts.to_csv(tmp_path / "texts.csv", index=False)
    commas = table("-99,0", "98")
    commas = commas.map(lambda cell: str(cell).replace(".", ","))
    commas.to_csv(tmp_path / "commas.csv", index=False, sep=";")
    held = (frame, arrow, pl.DataFrame(arrow), tmp_path / "rows.parquet", tmp_path / "rows.csv")
    for each in (*held, texts, tmp_path / "texts.csv"):
        assert mean_of(gp.fit(each, target="income").model_) == expected
    gp.fit(tmp_path / "commas.csv", target="income", decimal=",")
    assert mean_of(gp.model_) == expected


def test_a_code_may_be_copied_from_a_codebook():
    """Print has a minus where tables have a hyphen."""
    codes = Codes.of(["\u221299", "\u2212 refused \u2212"], "age")
    assert codes.has(-99)
    assert codes.has("-99.0")
    assert codes.has("\u2212 refused \u2212")
    assert codes == Codes.of(["-99", "\u2212 refused \u2212"], "age")


def test_a_code_stops_a_fit_as_a_gap_does():
    frame, asked = FRAMES["floats"](), NUMBERS | {"missing": "error"}
    PrivateGPRegressor(**BUDGET, **asked).fit(frame[["age"]], frame["income"])
    gp = PrivateGPRegressor(**BUDGET, **asked, missing_codes=CODES)
    with pytest.raises(ValueError, match="must be finite and complete") as arrays:
        gp.fit(frame[["age"]], frame["income"])
    with pytest.raises(ValueError, match="column 'age' has missing cells") as files:
        gp.fit(frame, target="income")
    for refusal in (arrays, files):
        assert "99" not in str(refusal.value)


def test_new_rows_with_a_code_are_missing():
    frame = FRAMES["floats"]()
    gp = PrivateGPRegressor(**BUDGET, **NUMBERS, missing_codes=CODES)
    gp.fit(frame[["age"]], frame["income"])
    for X in (pd.DataFrame({"age": [30, "refused"]}), pd.DataFrame({"age": [30.0, -99.0]})):
        for fitted in (gp, gp.model_):
            with pytest.raises(ValueError, match="finite and complete to be predicted"):
                fitted.predict(X)
    with pytest.raises(ValueError, match="`y` must be finite and complete"):
        gp.score(pd.DataFrame({"age": [30.0, 40.0]}), [35.0, -98.0])
    density = gp.log_predictive_density(pd.DataFrame({"age": [30.0, 40.0]}), [35.0, -98.0])
    z = gp.z_score(pd.DataFrame({"age": [30.0, 40.0]}), [35.0, -98.0])
    assert np.isfinite(z[0])
    assert np.isnan(z[1])
    assert np.isfinite(density).tolist() == [True, False]


def test_several_targets_have_codes_of_their_own(expected):
    frame = FRAMES["floats"]()
    frame["other"] = frame["income"].where(frame["income"] != -98.0, 50.0)
    asked = NUMBERS | {"target_bounds": (0, 100)}
    gp = PrivateGPRegressor(**BUDGET, **asked, missing_codes={"age": [-99], "income": [-98]})
    held = gp.fit(frame[["age"]], frame[["income", "other"]]).predict(frame[["age"]][1:5])
    codes = {0: [-99], 1: ["-98"]}
    gp = PrivateGPRegressor(**BUDGET, **asked | {"bounds": (-200, 100)}, missing_codes=codes)
    rows = frame.to_numpy()
    np.testing.assert_array_equal(gp.fit(rows[:, :1], rows[:, 1:]).predict(rows[1:5, :1]), held)


def test_categories_and_classes_have_codes():
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"sex": random.choice(["f", "m", "refused"], ROWS)})
    frame["age"] = random.uniform(0, 10, ROWS)
    asked = {"bounds": {"age": (0, 10)}, "categories": {"sex": ["f", "m"]}, "missing": "ignore"}
    labels = random.choice(["no", "yes", "unknown"], ROWS)
    codes = {"sex": ["refused"], "ill": ["unknown"]}
    gp = PrivateGPClassifier(**BUDGET, **asked, classes=("no", "yes"), missing_codes=codes)
    gp.fit(frame, pd.Series(labels, name="ill"))
    with pytest.raises(ValueError, match="must hold its public levels alone"):
        gp.predict(frame[frame["sex"] == "refused"])
    for column, code in (("sex", "f"), ("ill", " yes")):
        gp.set_params(missing_codes={column: [code]})
        with pytest.raises(ValueError, match="as a code for missing values and as a level"):
            gp.fit(frame, pd.Series(labels, name="ill"))


def test_files_keep_codes_and_older_ones_have_none(tmp_path):
    frame = FRAMES["floats"]()
    gp = PrivateGPRegressor(**BUDGET, **NUMBERS, missing_codes={"income": [-98, 98.5, "x"]})
    gp.fit(frame[["age"]], frame["income"]).save(tmp_path / "model.json")
    settings = json.loads((tmp_path / "model.json").read_text("utf-8"))["settings"]
    assert settings["missing_codes"] == [None, [-98, 98.5, "x"]]
    loaded = dpgp.load(tmp_path / "model.json")
    assert loaded.options.missing_codes == gp.model_.options.missing_codes
    del settings["missing_codes"]
    options = loaded.options
    older = settings_from_json(settings, options.box, options.target_box, False)
    assert older.missing_codes is NOWHERE
    assert "missing_codes" not in settings_to_json(older)
    for wrong in ("x", [], [["x"], None, ["y"]], [[True], None], [[float("inf")], None], [[]]):
        with pytest.raises((ValueError, TypeError)):
            settings_from_json(
                settings | {"missing_codes": wrong}, options.box, options.target_box, False
            )


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ({"agee": [-99]}, "'agee' that is neither input nor target; did you mean 'age'"),
        ({"weight": [-99]}, "name an input or a target"),
        ({2: [-99]}, "a column 2 that is neither"),
        ({0: [-99], "age": [-98]}, "'age' twice"),
        ([-99], "must be a mapping from columns"),
        ({"age": -99}, "of column 'age' must be a list"),
        ({"age": "-99"}, "of column 'age' must be a list"),
        ({"age": []}, "must hold 1 to 64 codes"),
        ({"age": [None]}, "texts or finite numbers"),
        ({"age": [float("nan")]}, "texts or finite numbers"),
        ({"age": [True]}, "texts or finite numbers"),
        ({"age": [10**400]}, "texts or finite numbers"),
        ({"age": ["\n"]}, "texts of 1 to 200 characters"),
    ],
)
def test_codes_that_cannot_be_meant_are_refused(codes, words):
    frame = FRAMES["floats"]()
    gp = PrivateGPRegressor(**BUDGET, **NUMBERS, missing_codes=codes)
    for given in ((frame[["age"]], frame["income"]), (frame, None, None)):
        with pytest.raises((ValueError, TypeError)) as refusal:
            gp.fit(*given, target=None if len(given) == 2 else "income")
        assert words in str(refusal.value)


def test_columns_without_names_have_positions():
    with pytest.raises(ValueError, match="have positions from 0 to 2"):
        read_codes({"age": [-99]}, [None, None], [None])
    assert read_codes({2: [-99]}, [None, None], [None]).of_target(0) == Codes((-99,))
    assert read_codes({}, ["age"], [None]) is read_codes(None, ["age"], [None]) is NOWHERE


@pytest.mark.parametrize("code", [-99, -99.0, "-99", " -99.0", "-9.9e1", np.int8(-99)])
def test_equal_numbers_are_equal_codes(code):
    codes = Codes.of([code], "age")
    assert all(map(codes.has, (-99, -99.0, "-99", "-99.00 ", Decimal(-99), np.float32(-99))))
    assert not any(map(codes.has, (-98.99, "99", "−99", None, float("nan"), b"-99", "")))
    numbers = np.array([-99.0, -98.99, np.nan, np.inf])
    np.testing.assert_array_equal(codes.without(numbers), [np.nan, -98.99, np.nan, np.inf])


def test_codes_with_decimals_are_found_in_narrow_floats():
    column = np.array([99.9, 99.8], dtype=np.float32).astype(np.float64)
    assert np.isnan(Codes.of([99.9], "age").without(column)).tolist() == [True, False]
