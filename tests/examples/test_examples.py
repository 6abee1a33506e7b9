"""The worked examples learn something at ε = 3; data and noise are seeded."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(params=["strings", "graphs"])
def example(request, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module(request.param)


@pytest.mark.filterwarnings("ignore::dpgp.privacy.noise.SeededNoiseWarning")
def test_beats_the_mean_at_epsilon_3(example):
    mean, private, exact = example.compare(
        example.simulate,
        lambda X, y, epsilon: example.fit(X, y, epsilon, random_state=1),
        repeats=3,
        epsilons=(3.0, math.inf),
    )
    assert np.all(private.rmse < 0.7 * mean.rmse)
    assert np.all(exact.rmse < 0.4 * mean.rmse)
    assert np.all(exact.rmse < private.rmse)


def test_is_really_private(example):
    train = example.simulate(200, np.random.default_rng(0))
    certificate = example.fit(train.X, train.y, epsilon=3.0).certificate
    assert certificate.is_private
    assert (certificate.epsilon, certificate.delta) == (3.0, 1e-5)


def test_table_shows_means_standard_errors_and_ratios(example, capsys):
    from comparison import Errors, print_table

    print_table([Errors("the mean", np.array([1.0, 2.0])), Errors("half", np.array([0.5, 1.0]))])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].split() == ["the", "mean", "1.500", "0.500", "1.000", "0.000"]
    assert lines[-1].split() == ["half", "0.750", "0.250", "0.500", "0.000"]
