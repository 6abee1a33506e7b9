"""DP-SGD on a network: gradients as autograd has them, clipped row by row; learns; repeatable."""

import math

import numpy as np
import pytest

from dpgp_experiments.baselines import network
from dpgp_experiments.baselines.interface import Problem
from dpgp_experiments.baselines.standardise import standardised

pytestmark = pytest.mark.baselines
torch = pytest.importorskip("torch")


def _problem(rng, epsilon, rows=3000):
    X = rng.uniform(-2.0, 2.0, (rows, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] / 4 + 0.1 * rng.standard_normal(rows)
    return Problem(X, y, ((-2.0, 2.0),) * 3, (-3.0, 3.0), epsilon, 1e-5)


@pytest.mark.parametrize("clip", [0.1, 2.0, 1e6])
def test_clipped_gradients_are_those_of_autograd(clip):
    generator = torch.Generator().manual_seed(0)
    layers = network.initial_layers((3, 32, 32, 1), generator)
    layers[-1].normal_(generator=generator)
    X, y = torch.randn(9, 3, generator=generator), torch.randn(9, generator=generator)

    def loss(parameters, x, target):
        return 0.5 * (network.activations(parameters, x[None])[-1][0] - target) ** 2

    rows = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(layers, X, y)
    norms = torch.sqrt(sum((row**2).sum((1, 2)) for row in rows))
    factors = (clip / norms).clamp_max(1.0)[:, None, None]
    found = network.clipped_gradients(layers, X, y, clip)
    for total, row in zip(found, rows, strict=True):
        assert torch.allclose(total, (factors * row).sum(0), rtol=1e-4, atol=1e-5)


METHODS = pytest.mark.parametrize("method", [network.fit_predict, network.fit_standardised])


@METHODS
def test_it_learns_and_more_so_with_a_larger_epsilon(method):
    rng = np.random.default_rng(0)
    test = _problem(rng, 1.0)
    errors = [
        np.sqrt(np.mean((method(_problem(np.random.default_rng(1), epsilon), test.X,
                                rng).mean - test.y) ** 2))
        for epsilon in (0.05, 1.0, math.inf)
    ]  # fmt: skip
    assert errors == sorted(errors, reverse=True)
    assert errors[1] < 0.7 * np.std(test.y)
    assert errors[2] < 0.2


@METHODS
def test_same_seed_same_predictions(method):
    problem = _problem(np.random.default_rng(0), 1.0, rows=200)
    first, second, other = (
        method(problem, problem.X[:5], np.random.default_rng(seed)).mean for seed in (7, 7, 8)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_standardisation_is_paid_for(monkeypatch):
    """What is released beside training is all that training leaves of the budget."""
    asked = {}

    def recorded(epsilon, delta, steps, rate, neighbours, beside):
        asked.update(steps=steps, rate=rate, beside=beside)
        return 1.0

    monkeypatch.setattr(network, "noise_multiplier", recorded)
    problem = _problem(np.random.default_rng(0), 1.0, rows=50)
    network.fit_standardised(problem, problem.X[:5], np.random.default_rng(0))
    spent = standardised(problem, problem.X[:5], np.random.default_rng(0)).spent
    assert asked == {"steps": 400, "rate": 0.1, "beside": spent}


def test_units_of_inputs_and_targets_do_not_matter_where_rows_are_many():
    """A narrow column and a wide one: standardised, both are learned from."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (6000, 2)) * [0.02, 1.0]
    y = 3.0 + 0.1 * np.sin(150.0 * X[:, 0])
    problem = Problem(X, y, ((-1.0, 1.0),) * 2, (0.0, 10.0), 10.0, 1e-5)
    errors = [
        np.std(fit(problem, X, np.random.default_rng(1)).mean - y) / np.std(y)
        for fit in (network.fit_predict, network.fit_standardised)
    ]
    assert errors[1] < 0.5 < errors[0]


def test_more_noise_shorter_steps():
    assert network.learning_rate(1.0) < network.learning_rate(0.2) < network.learning_rate(0.0)
