"""Fits to rows that lack some inputs: ``missing="model"``."""

import numpy as np
import pandas as pd
import pytest

import dpgp
from dpgp import PrivateGPRegressor

pytestmark = pytest.mark.filterwarnings("ignore")

N = 1200
RNG = np.random.default_rng(0)
NORMAL = RNG.multivariate_normal(np.zeros(2), [[1.0, 0.7], [0.7, 1.0]], N)
X = 1.0 / (1.0 + np.exp(-NORMAL))
Y = np.sin(4 * X[:, 0]) + X[:, 1] + RNG.normal(0, 0.2, N)
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
NEW = X[:200]


def fitted(X, y=Y, missing="model", epsilon=3.0, **more):
    gp = PrivateGPRegressor(
        epsilon,
        1e-6,
        bounds=(0, 1),
        target_bounds=(-2, 3),
        missing=missing,
        random_state=0,
        n_jobs=1,
        **more,
    )
    return gp.fit(X, y)


@pytest.fixture(scope="module")
def model():
    return fitted(GAPS)


def test_rows_with_gaps_count(model):
    """The first release is how many have a target and some input, and not how many are complete."""
    usable = np.isfinite(GAPS).any(axis=1).sum()
    found = model.model_.findings["number of rows"]
    assert found["usable"] == pytest.approx(usable, abs=5 * found["noise"])
    assert usable > 1.3 * np.isfinite(GAPS).all(axis=1).sum()


def test_predictions_are_of_complete_rows(model):
    f = np.sin(4 * NEW[:, 0]) + NEW[:, 1]
    assert np.sqrt(np.mean((model.predict(NEW) - f) ** 2)) < 0.25 * f.std()
    with pytest.raises(ValueError, match="finite and complete to be predicted"):
        model.predict(GAPS)


def test_a_loaded_model_is_the_saved_one(model, tmp_path):
    model.model_.save(tmp_path / "model.json")
    loaded = dpgp.load(tmp_path / "model.json")
    assert loaded.options.missing == "model"
    assert loaded.id == model.model_.id
    np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))


def test_files_make_the_model_that_an_array_makes(model, tmp_path):
    table = pd.DataFrame(GAPS, columns=["a", "b"]).assign(y=Y)
    for k, part in enumerate(np.array_split(np.arange(N), 3)):
        table.iloc[part].to_csv(tmp_path / f"{k}.csv", index=False)
    options = model.get_params() | {"bounds": {"a": (0, 1), "b": (0, 1)}}
    of_files = PrivateGPRegressor(**options).fit(str(tmp_path / "*.csv"), target="y")
    np.testing.assert_array_equal(of_files.model_.mean(NEW), model.model_.mean(NEW))


def test_other_rows_and_their_order_change_no_sum():
    """Without noise a fit is a function of sums: rows in any order, and among any others."""
    order = np.random.default_rng(1).permutation(300)
    one, two = (
        fitted(GAPS[rows], Y[rows], epsilon=np.inf, inducing_points=20)
        for rows in (np.arange(300), order)
    )
    np.testing.assert_array_equal(one.predict(NEW), two.predict(NEW))


def test_without_gaps_or_noise_the_mean_is_that_of_complete_rows():
    columns = np.column_stack([X, X[:, ::-1].mean(axis=1)])[:300]  # three inputs: both learn alike
    one, two = (
        fitted(columns, Y[:300], how, np.inf, inducing_points=20) for how in ("ignore", "model")
    )
    np.testing.assert_allclose(two.predict(columns), one.predict(columns), rtol=0, atol=1e-6)


def test_one_input_that_is_missing_leaves_nothing():
    one, two = (fitted(GAPS[:, :1], missing=how, stages=1) for how in ("ignore", "model"))
    np.testing.assert_array_equal(one.predict(NEW[:, :1]), two.predict(NEW[:, :1]))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["random", "dependent"])
def test_gaps_that_count_make_errors_smaller_and_intervals_hold(how):
    """Six inputs, of five of which a quarter is missing; paired, at new complete rows."""
    found = np.array([of_a_table(how, seed) for seed in range(6)])
    ratio = found[:, 1, 0] / found[:, 0, 0]
    assert ratio.mean() + 2 * ratio.std(ddof=1) / np.sqrt(len(ratio)) < 1.0
    held, error = found[:, 1, 1], found[:, 1, 1].std(ddof=1) / np.sqrt(len(found))
    assert held.mean() > 0.95 - 2 * error
    # complete rows, which calibrate both, are elsewhere than new ones where an input decides
    less = found[:, 0, 2] - found[:, 1, 2]
    assert less.mean() < 2 * less.std(ddof=1) / np.sqrt(len(less)) + 0.01
    if how == "random":
        error = found[:, 1, 2].std(ddof=1) / np.sqrt(len(found))
        assert found[:, 1, 2].mean() > 0.95 - 2 * error - 0.005


def of_a_table(how, seed):
    """Return error of the mean, and coverage of f and of observations: ignored, averaged."""
    rng = np.random.default_rng(seed)
    correlation = 0.5 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    normal = rng.multivariate_normal(np.zeros(6), correlation, 5000)
    inputs = 1.0 / (1.0 + np.exp(-1.7 * normal))
    f = np.sin(5 * inputs[:, 0]) + 2 * inputs[:, 1] * inputs[:, 2] + inputs[:, 3]
    y = f + rng.normal(0, 0.5, 5000)
    chance = 0.25 if how == "random" else 0.5 * inputs[:, 5:]
    holes = rng.random(inputs.shape) < chance
    holes[:, 5] = False
    old, new = slice(3000), slice(3000, None)
    found = []
    for missing in ("ignore", "model"):
        rows = np.where(holes, np.nan, inputs)[old]
        gp = fitted(rows, y[old], missing, 1.0)
        low, high = gp.predict_interval(inputs[new], 0.95, latent=True)
        below, above = gp.predict_interval(inputs[new], 0.95)
        error = np.sqrt(np.mean((gp.predict(inputs[new]) - f[new]) ** 2))
        holds = (low <= f[new]) & (f[new] <= high), (below <= y[new]) & (y[new] <= above)
        found.append([error, *(np.mean(each) for each in holds)])
    return found
