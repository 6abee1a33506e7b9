"""Categorical columns of an estimator: what is fitted, predicted, refused, kept and shown."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF

import dpgp
from dpgp import PrivateGPRegressor, export
from dpgp.arithmetic import NUMPY
from dpgp.checked_values import ModelFileError
from dpgp.export.specify import Covariances
from dpgp.model.file.model import decode, encode
from dpgp.privacy import noise

REGIONS = {"north": 0.0, "south": 3.0, "east": -4.0, "west": 6.0}
CATEGORIES = {"sex": ["F", "M"], "region": list(REGIONS)}


def people(n, seed):
    """Age, sex and region, their mean pressure, and one that was measured."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, n)
    sex = rng.choice(["F", "M"], n)
    region = rng.choice(list(REGIONS), n, p=[0.4, 0.3, 0.2, 0.1])
    man, shift = (sex == "M") * 1.0, np.array([REGIONS[name] for name in region])
    f = 120 + 0.4 * (age - 50) + 8 * np.sin(age / 12) + man * (6 + 0.1 * (age - 50)) + shift
    return pd.DataFrame({"age": age, "sex": sex, "region": region}), f, f + rng.normal(0, 6, n)


def regressor(epsilon=1.0, **changes):
    settings = {"bounds": {"age": (20, 80)}, "target_bounds": (60, 180), "categories": CATEGORIES}
    return PrivateGPRegressor(epsilon, 1e-5, **{**settings, "random_state": 0, **changes})


TABLE, _, Y = people(1500, 0)
NEW, _, _ = people(40, 1)


@pytest.fixture(scope="module")
def fitted():
    return regressor(stages=2).fit(TABLE, Y)


def rmse(one, other):
    return float(np.sqrt(np.mean((one - other) ** 2)))


@pytest.mark.slow
def test_levels_are_worth_having_and_as_good_as_a_model_of_the_truth():
    """Five thousand rows at ε = 1: near a one-hot model without privacy, far from age alone."""
    (X, _, y), (new, f, observed) = people(5000, 3), people(3000, 4)
    gp = regressor().fit(X, y)
    alone = regressor(categories=None).fit(X[["age"]], y)
    error = rmse(gp.predict(new), f)
    assert error < 1.3  # seeds range from 0.7 to 0.9, where 0.4 is left without privacy
    assert error < 0.4 * rmse(alone.predict(new[["age"]]), f)
    assert rmse(gp.predict(new), observed) < 1.03 * rmse(one_hot_oracle(X, y, new), observed)
    lower, upper = gp.predict_interval(new)
    assert 0.92 <= np.mean((observed >= lower) & (observed <= upper)) <= 0.98


def one_hot_oracle(X, y, new):
    """Least squares on every level with a polynomial of age, without privacy."""

    def columns(frame):
        u = (frame["age"].to_numpy() - 50) / 30
        powers = np.polynomial.legendre.legvander(u, 7)
        man = (frame["sex"] == "M").to_numpy()[:, None]
        region = frame["region"].to_numpy()[:, None] == np.array(list(REGIONS))[1:]
        return np.hstack([powers, man * powers[:, :2], region])

    return columns(new) @ np.linalg.lstsq(columns(X), y, rcond=None)[0]


def test_everything_speaks_of_the_columns_that_were_given(fitted):
    assert list(fitted.feature_names_in_) == ["age", "sex", "region"]
    assert fitted.n_features_in_ == 3
    assert fitted.model_.input_names == ["age", "sex", "region"]
    assert repr(fitted.model_).startswith("FittedModel(target by age, sex, region;")
    assert ("region", "input", "levels north, south, east, west", "") in fitted.model_.column_rows()
    assert "levels north, south" in fitted._repr_html_()


def test_a_category_is_one_of_the_input_histograms(fitted):
    (histograms,) = [r for r in fitted.certificate_.releases if r.label == "input histograms"]
    assert histograms.sensitivity == pytest.approx(np.sqrt(2 * 3))


def test_synthetic_inputs_hold_numbers_of_levels(fitted):
    points = fitted.input_density_.points
    assert set(points[:, 1]) == {0.0, 1.0}
    assert set(points[:, 2]) == {0.0, 1.0, 2.0, 3.0}
    shares = np.bincount(points[:, 2].astype(int)) / len(points)
    np.testing.assert_allclose(shares, [0.4, 0.3, 0.2, 0.1], atol=0.08)


CONTAINERS = {
    "pandas categorical": lambda frame: frame.astype({"sex": "category", "region": "category"}),
    "pandas strings": lambda frame: frame.convert_dtypes(),
    "polars": lambda frame: pl.from_pandas(frame),
    "polars categorical": lambda frame: pl.from_pandas(frame).cast({"sex": pl.Categorical}),
    "arrow": lambda frame: pa.Table.from_pandas(frame),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_any_frame_predicts_the_same(fitted, container):
    expected = fitted.predict(NEW)
    same = CONTAINERS[container](NEW)
    np.testing.assert_array_equal(fitted.predict(same), expected)
    np.testing.assert_array_equal(fitted.model_.predict(same), expected)


def test_arrays_and_lists_count_their_columns():
    by_position = {1: CATEGORIES["sex"], 2: CATEGORIES["region"]}
    options = {"bounds": (20, 80), "categories": by_position, "stages": 1}
    rows = TABLE.to_numpy(dtype=object)
    one = regressor(**options).fit(rows, Y)
    other = regressor(**options).fit(rows.tolist(), Y)
    new = NEW.to_numpy(dtype=object)
    np.testing.assert_array_equal(one.predict(new), other.predict(new.tolist()))
    assert one.n_features_in_ == 3
    assert one.model_.input_names == ["input 1", "input 2", "input 3"]


def with_cell(table, row, column, value):
    changed = table.astype({column: object})
    changed.loc[row, column] = value
    return changed


@pytest.mark.parametrize("strange", ["SECRET", "North", None, np.nan, pd.NA, 7, ["north"]])
def test_strange_levels_stop_a_fit(strange, monkeypatch):
    refuse_noise(monkeypatch)
    table = with_cell(TABLE, 5, "region", [strange] if isinstance(strange, list) else strange)
    with pytest.raises(ValueError, match="'region' must hold its public levels alone") as caught:
        regressor().fit(table, Y)
    assert "north, south, east, west" in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_rows_of_strange_levels_are_ignored_as_incomplete_ones_are():
    tables = [with_cell(TABLE, 5, "region", "SECRET"), with_cell(TABLE, 5, "age", np.nan)]
    one, other = (regressor(missing="ignore", stages=1).fit(table, Y) for table in tables)
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))


@pytest.mark.parametrize("strange", ["SECRET", None])
def test_strange_levels_are_not_predicted(fitted, strange):
    new = NEW.copy()
    new.loc[3, "region"] = strange
    calls = (fitted.predict, fitted.predict_interval, fitted.sample_y, fitted.model_.predict)
    for call in calls:
        with pytest.raises(ValueError, match="column 'region' of `X` must hold") as caught:
            call(new)
        assert "north, south, east, west" in str(caught.value)
        assert "SECRET" not in str(caught.value)


def refuse_noise(monkeypatch):
    def draw(*_):
        raise AssertionError("noise was drawn")

    for source in (noise.SecureNoise, noise.SimulatedNoise):
        monkeypatch.setattr(source, "draw", draw)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bounds": {"age": (20, 80), "sex": (0, 1)}}, "'sex' is a category and has `bounds` too"),
        ({"bounds": {"age": (20, 80), "height": (0, 1)}}, "'height' that is not there"),
        ({"bounds": None}, "`bounds` must be given"),
        ({"categories": {**CATEGORIES, "height": ["a", "b"]}}, "'height' that is not there"),
        ({"categories": {**CATEGORIES, "sex": ["F"]}}, "2 to 64 levels, got 1"),
        ({"categories": {**CATEGORIES, "sex": []}}, "2 to 64 levels, got 0"),
        ({"categories": {**CATEGORIES, "sex": list(range(1000))}}, "got 1000"),
        ({"categories": {**CATEGORIES, "sex": ["F", "M", "F"]}}, "different levels"),
        ({"categories": {**CATEGORIES, "sex": ["F", None]}}, "NoneType"),
        ({"categories": "sex"}, "must be a mapping"),
        ({"categories": {"sex": ["F", "M"]}}, "must hold numbers"),
        ({"kernel": RBF()}, "`kernel` cannot be given together with `categories`"),
        ({"features": "linear"}, "`features` cannot be given together"),
        ({"inducing_points": 5}, "`inducing_points` cannot be given together"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_noise(changes, words, monkeypatch):
    refuse_noise(monkeypatch)
    with pytest.raises((ValueError, TypeError), match=words):
        regressor(**changes).fit(TABLE, Y)


def test_few_values_do_not_break_the_arithmetic():
    """Categories alone make a kernel of low rank, whose rounding errors have signs."""
    gp = regressor(bounds=None).fit(TABLE[["sex", "region"]], Y)
    means = gp.predict(NEW[["sex", "region"]])
    assert np.isfinite(means).all()
    west = pd.DataFrame({"sex": ["F", "F"], "region": ["west", "east"]})
    assert np.subtract(*gp.predict(west)) > 2.0


@pytest.mark.parametrize(
    "changes",
    [
        {"warp": False},
        {"epsilon": 0.05},
        pytest.param({"epsilon": float("inf")}, marks=pytest.mark.slow),
    ],
)
def test_without_a_model_of_the_inputs_and_without_noise(changes):
    gp = regressor(**changes, stages=1).fit(TABLE, Y)
    assert np.isfinite(gp.predict(NEW)).all()
    assert set(gp.input_density_.points[:, 2]) <= {0.0, 1.0, 2.0, 3.0}


def test_scikit_learn_copies_it_and_pickle_keeps_it(fitted):
    again = clone(fitted)
    assert again.get_params()["categories"] == CATEGORIES
    assert not hasattr(again, "model_")
    kept = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(kept.predict(NEW), fitted.predict(NEW))


def test_a_file_brings_the_levels_back(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    model = dpgp.load(tmp_path / "model.json")
    assert model.options.box.categories == fitted.model_.options.box.categories
    np.testing.assert_array_equal(model.predict(NEW), fitted.predict(NEW))
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert document["format"] == 3
    assert document["inputs"]["categories"] == [None, ["F", "M"], list(REGIONS)]
    assert document["settings"]["bounds"] == [[20.0, 80.0], None, None]


def test_levels_of_a_file_keep_their_types(tmp_path):
    rows = [[k % 3, bool(k % 2)] for k in range(200)]
    levels = {0: [0, 1, 2], 1: [False, True]}
    gp = regressor(bounds=None, categories=levels, stages=1).fit(rows, Y[:200])
    gp.save(tmp_path / "model.json")
    first, second = dpgp.load(tmp_path / "model.json").options.box.categories
    assert first.levels == (0, 1, 2)
    assert [type(level) for level in second.levels] == [bool, bool]


def broken(document, levels):
    inputs = {**document["inputs"], "categories": levels}
    return {**document, "inputs": inputs}


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (None, "must hold"),
        ([None, ["F", "M"]], "3 entries"),
        ([None, None, None], "one category at least"),
        ([None, ["F", "M"], ["north"]], "2 to 64 different levels"),
        ([None, ["F", "M"], list("abcde")], "numbers of its levels"),
        ([None, ["F", "F"], list("abcd")], "different levels"),
        ([None, ["F", "M "], list("abcd")], "blanks"),
        ([None, ["F", "M\n"], list("abcd")], "different levels|blanks"),
        ([None, ["F", "a\x1b[31mM"], list("abcd")], "different levels"),
        ([None, ["F", "x" * 201], list("abcd")], "200 characters"),
        ([None, ["F", 0.5], list("abcd")], "whole numbers"),
        ([None, ["F", ["M"]], list("abcd")], "whole numbers"),
        ([None, ["F", 10**30], list("abcd")], "different levels"),
        ([None, ["F", "M"], [str(k) for k in range(65)]], "1 to 64 items"),
        ([None, ["F", "M"], {"a": 1}], "1 to 64 items"),
    ],
)
def test_files_of_strangers_are_bounded(fitted, levels, words):
    with pytest.raises(ModelFileError, match=words):
        decode(broken(encode(fitted.model_), levels))


def test_a_file_whose_density_has_other_levels_is_refused(fitted):
    document = encode(fitted.model_)
    document["input_density"]["points"][0][2] = 1.5
    with pytest.raises(ModelFileError, match="numbers of levels"):
        decode(document)


def test_older_versions_refuse_the_file_by_its_format(fitted):
    document = encode(fitted.model_)
    with pytest.raises(ModelFileError, match="has fields that are not among"):
        decode({**document, "format": 1})


def test_exports_take_numbers_of_levels(fitted):
    rows = export.rows(fitted, NEW)
    np.testing.assert_array_equal(rows[:, 1], (NEW["sex"] == "M") * 1.0)
    specification = export.specification(fitted)
    covariances = Covariances(specification, NUMPY)
    phi = covariances.evaluate(covariances.unit_inputs(rows))
    mean = specification["centre"] + specification["scale"] * phi @ specification["m"]
    np.testing.assert_allclose(mean, fitted.predict(NEW), rtol=1e-9)


def test_onnx_takes_numbers_of_levels(fitted):
    runtime = pytest.importorskip("onnxruntime")
    model = export.to_onnx(fitted)
    session = runtime.InferenceSession(model.SerializeToString())
    mean, std = session.run(["mean", "std"], {"X": export.rows(fitted, NEW)})
    ours, our_std = fitted.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, ours, atol=1e-7)
    np.testing.assert_allclose(std, our_std, atol=1e-7)
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(facts["inputs"])[1] == {"name": "sex", "levels": ["F", "M"]}


def test_a_plan_counts_categories_as_inputs():
    public = {"n": 5000, "target_bounds": (60, 180), "epsilon": 1.0, "delta": 1e-5}
    planned = dpgp.plan(bounds={"age": (20, 80)}, categories=CATEGORIES, **public)
    assert planned.question.options.columns == 3
    assert any("features are learned" in reason for reason in planned.why)
    listed = dpgp.plan(bounds=[(20, 80)], categories={1: ["F", "M"], 2: list(REGIONS)}, **public)
    assert listed.forecast == planned.forecast
    assert dpgp.plan(categories=CATEGORIES, **public).question.options.columns == 2
    with pytest.raises(ValueError, match="'age' is a category"):
        dpgp.plan(bounds={"age": (20, 80)}, categories={"age": ["old", "young"]}, **public)


def test_rows_of_persons_and_several_targets_work_with_categories():
    units = np.repeat(np.arange(750), 2)
    targets = np.column_stack([Y, 200 - Y])
    gp = regressor(stages=1, target_bounds=(20, 180)).fit(TABLE, targets, units=units)
    assert gp.predict(NEW).shape == (40, 2)
