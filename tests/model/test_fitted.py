"""The fitted model: what a file gives back, and that nothing near it can see rows."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import dpgp
from dpgp import PrivateGPRegressor
from dpgp.model.fitted import FittedModel, fitted_model

NEW = pd.DataFrame({"age": [3.0, 12.0], "weight": [15.0, 40.0]})


@pytest.fixture(scope="module")
def estimator():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(2, 18, 400), "weight": rng.uniform(5, 90, 400)})
    gp = PrivateGPRegressor(
        5.0,
        1e-5,
        bounds={"age": (2, 18), "weight": (5, 90)},
        target_bounds=(70, 190),
        stages=2,
        random_state=0,
    )
    return gp.fit(X, 80 + 5 * X["age"])


@pytest.fixture(scope="module")
def loaded(estimator, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    estimator.save(path)
    return dpgp.load(path)


def test_a_file_gives_back_the_model_itself(estimator, loaded):
    assert isinstance(loaded, FittedModel)
    mine = estimator.model_
    assert_array_equal(loaded.predict(NEW, return_std=True), mine.predict(NEW, return_std=True))
    assert_array_equal(loaded.predict_interval(NEW, 0.5), mine.predict_interval(NEW, 0.5))
    assert_array_equal(loaded.sample_y(NEW, 3), mine.sample_y(NEW, 3))
    assert_array_equal(
        loaded.log_predictive_density(NEW, [95.0, 140.0]),
        mine.log_predictive_density(NEW, [95.0, 140.0]),
    )
    assert loaded.certificate == mine.certificate
    assert loaded.health == mine.health
    assert loaded.input_names == ["age", "weight"]
    assert loaded.target_names == ["age"]


def test_the_estimator_predicts_what_its_model_predicts(estimator):
    assert_array_equal(estimator.predict(NEW), estimator.model_.predict(NEW))
    assert fitted_model(estimator) is estimator.model_
    assert fitted_model(estimator.model_) is estimator.model_


def test_the_noise_is_told_in_units_of_the_target(loaded):
    low, median, high = loaded.noise_quantiles(0)
    draws = 60.0 * np.exp(loaded.posteriors[0].thetas[:, -1])
    assert_array_equal(loaded.noise_draws(0), draws)
    assert [low, median, high] == np.quantile(draws, [0.05, 0.5, 0.95]).tolist()
    assert loaded.column_rows()[2] == ("age", "target", "70", "190")


def test_a_model_says_what_it_is_in_a_line(loaded):
    assert repr(loaded).startswith("FittedModel(age by age, weight; NOT PRIVATE: a seeded")


def test_a_loaded_model_can_be_saved_again(loaded, tmp_path):
    loaded.save(tmp_path / "again.json")
    again = dpgp.load(tmp_path / "again.json")
    assert_array_equal(again.predict(NEW), loaded.predict(NEW))


def test_loading_imports_nothing_that_sees_rows_and_nothing_slow(estimator, tmp_path):
    path = tmp_path / "model.json"
    estimator.save(path)
    code = (
        "import sys, dpgp\n"
        "model = dpgp.load(sys.argv[1])\n"
        "model.predict([[3.0, 15.0]], return_std=True)\n"
        "rooms = ('dpgp.private', 'dpgp.regressor', 'sklearn', 'pandas', 'scipy.stats')\n"
        "seen = [name for name in sys.modules if name.startswith(rooms)]\n"
        "sys.exit(f'imported {seen}' if seen else 0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (NEW[["age"]], "no column 'weight'; its columns are 'age'"),
        (NEW.to_numpy()[:, :1], "must have 2 columns"),
        ([[1.0, np.nan]], "finite and complete"),
        ([1.0, 2.0], "two dimensions"),
    ],
    ids=["name", "columns", "missing", "shape"],
)
def test_new_rows_must_be_the_models_own(loaded, rows, words):
    with pytest.raises(ValueError, match=words):
        loaded.predict(rows)
