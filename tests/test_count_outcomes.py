import numpy as np
import pytest

import dpgp
from dpgp.model.file.model import encode
from dpgp.outcomes.count import Counted, whole_numbers


def data(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    return X, rng.poisson(2.0 + X[:, 0])


def regressor(**options):
    defaults = {
        "epsilon": 3.0,
        "delta": 1e-5,
        "bounds": (-1, 1),
        "target_bounds": (0, 12),
        "counts": True,
        "random_state": 0,
        "n_jobs": 1,
    }
    return dpgp.PrivateGPRegressor(**(defaults | options))


@pytest.fixture(scope="module")
def fitted():
    return regressor().fit(*data())


def is_whole(values):
    return np.all(values == np.rint(values)) and np.all((values >= 0) & (values <= 12))


def test_quantiles_intervals_and_draws_are_whole_numbers(fitted):
    X, _ = data(200, seed=1)
    quantiles = fitted.predict_quantile(X, [0.03, 0.5, 0.97])
    assert is_whole(quantiles)
    assert np.all(np.diff(quantiles, axis=0) >= 0)
    assert is_whole(np.array(fitted.predict_interval(X)))
    assert is_whole(fitted.model_.sample_y(X, 3, latent=False))
    assert not is_whole(fitted.predict(X))


def test_intervals_hold_at_least_as_many_counts(fitted):
    X, y = data(4000, seed=1)
    lower, upper = fitted.predict_interval(X, 0.9)
    assert np.mean((lower <= y) & (y <= upper)) > 0.87


def test_a_model_of_counts_is_saved_and_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    model = dpgp.load(tmp_path / "model.json")
    assert model.outcome == Counted()
    assert encode(model)["format"] == 4
    assert is_whole(np.array(model.predict_interval(data(20)[0])))


@pytest.mark.parametrize("bounds", [(-1, 5), (0.2, 0.8)])
def test_bounds_of_counts_hold_whole_numbers_and_nothing_negative(bounds):
    with pytest.raises(ValueError, match="`target_bounds` of counts must not be negative"):
        regressor(target_bounds=bounds).fit(*data(20))


def test_counts_is_a_flag():
    with pytest.raises(TypeError, match="`counts` must be True or False"):
        regressor(counts="yes").fit(*data(20))


def test_the_nearest_whole_numbers_within_bounds():
    values = np.array([-0.4, 0.5, 1.49, 7.9, 8.6])
    assert whole_numbers(values, 0.5, 8.2).tolist() == [1, 1, 1, 8, 8]
