"""Examples in the docstrings of public names run, and say what comes out."""

import doctest
import sys

import numpy as np
import pytest

import dpgp

DOCUMENTED = [
    dpgp.PrivateGPRegressor,
    dpgp.PrivateGPRegressor.predict_interval,
    dpgp.PrivateGPRegressor.predict_quantile,
    dpgp.PrivateGPRegressor.z_score,
    dpgp.PrivateGPClassifier,
    dpgp.Ledger,
    dpgp.load,
    dpgp.low_discrepancy_points,
    dpgp.plan,
    dpgp.regular_grid,
]


@pytest.fixture(scope="module")
def gp():
    """The fitted model that examples of methods speak of."""
    age = np.random.default_rng(0).uniform(2, 18, (2000, 1))
    fitted = dpgp.PrivateGPRegressor(bounds=(2, 18), target_bounds=(70, 190), random_state=0)
    return fitted.fit(age, 80 + 5 * age[:, 0])


@pytest.mark.parametrize("thing", DOCUMENTED, ids=lambda thing: thing.__qualname__)
def test_the_example_runs(thing, gp, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = vars(sys.modules[thing.__module__]) | {"gp": gp}
    example = doctest.DocTestParser().get_doctest(thing.__doc__, names, thing.__name__, None, 0)
    assert example.examples
    result = doctest.DocTestRunner().run(example)
    assert result.failed == 0, capsys.readouterr().out
