"""DP-BBB: gradients as autograd has them, clipped row by row; learns; repeatable."""

import math

import numpy as np
import pytest

from dpgp_experiments.baselines import bayes_by_backprop
from dpgp_experiments.baselines.bayes_by_backprop import Settings, clip_norm, fit_predict_all
from dpgp_experiments.baselines.interface import Problem
from dpgp_experiments.baselines.mean_field import MeanField

pytestmark = pytest.mark.baselines
torch = pytest.importorskip("torch")

SMALL = Settings(hidden=16, epochs=20, batches=10, samples=20)


def _problem(rng, epsilon, rows=600):
    X = rng.uniform(0.0, 10.0, (rows, 2))
    y = 100.0 + 4.0 * X[:, 0] - 2.0 * X[:, 1] + rng.standard_normal(rows)
    return Problem(X, y, ((0.0, 10.0), (0.0, 10.0)), (70.0, 150.0), epsilon, 1e-5)


def _log_likelihood(network, theta, x, y, draws):
    mu, rho, log_std = network.parts(theta[None])
    weights = mu + torch.nn.functional.softplus(rho) * draws
    output = network.output(weights, torch.nn.functional.pad(x, (0, 1), value=1.0)[None, :, None])
    variance = torch.exp(2.0 * log_std[0, 0])
    return -0.5 * (y - output[0, 0]) ** 2 / variance - log_std[0, 0]


@pytest.mark.parametrize("with_noise", [True, False])
@pytest.mark.parametrize("clip", [0.5, 3.0, 1e6])
def test_clipped_gradients_are_those_of_autograd(with_noise, clip):
    generator = torch.Generator().manual_seed(1)
    network = MeanField(3, 7)
    X = torch.randn(2, 11, 3, generator=generator)
    y = torch.randn(2, 11, generator=generator)
    draws = torch.randn(2, network.weights, generator=generator)
    theta = torch.randn(2, 2 * network.weights + 1, generator=generator)
    theta[:, -1] = math.log(0.7)
    found = network.clipped_gradients(
        theta, network.features(X), y, draws, torch.tensor([[clip], [clip]]), with_noise
    )
    gradient = torch.func.grad(_log_likelihood, argnums=1)
    for n in range(2):
        rows = torch.stack(
            [gradient(network, theta[n], *row, draws[n]) for row in zip(X[n], y[n], strict=True)]
        )
        if not with_noise:
            rows[:, -1] = 0.0
        norms = rows.norm(dim=1, keepdim=True)
        expected = (rows * (clip / norms).clamp_max(1.0)).sum(0)
        assert torch.allclose(found[n], expected, rtol=1e-4, atol=1e-4)
    if clip < 1.0:
        assert (found.norm(dim=1) <= 11 * clip).all()


def test_padding_counts_for_nothing():
    generator = torch.Generator().manual_seed(2)
    network = MeanField(2, 5)
    X, y = torch.randn(1, 6, 2, generator=generator), torch.randn(1, 6, generator=generator)
    draws = torch.randn(1, network.weights, generator=generator)
    theta = torch.randn(1, 2 * network.weights + 1, generator=generator)
    padded = bayes_by_backprop.padded_rows(network, X, y)
    clip = torch.ones(1, 1)
    alone = network.clipped_gradients(theta, network.features(X), y, draws, clip, True)
    with_padding = network.clipped_gradients(
        theta, padded[:, :-1], padded[:, -1], draws, clip, True
    )
    assert torch.allclose(alone, with_padding)


def test_prior_gradient_is_that_of_the_divergence():
    network = MeanField(2, 3)
    theta = torch.randn(1, 2 * network.weights + 1, generator=torch.Generator().manual_seed(0))

    def divergence(parameters):
        mu, rho, _ = network.parts(parameters)
        posterior = torch.distributions.Normal(mu, torch.nn.functional.softplus(rho))
        prior = torch.distributions.Normal(torch.zeros_like(mu), network.prior_std)
        return torch.distributions.kl_divergence(posterior, prior).sum()

    assert torch.allclose(network.prior_gradient(theta), torch.func.grad(divergence)(theta))


def test_it_learns_and_its_noise_falls_with_epsilon():
    rng = np.random.default_rng(0)
    problem = _problem(rng, 1.0)
    test = _problem(rng, 1.0)
    problems = [Problem(problem.X, problem.y, problem.bounds, problem.target_bounds, e, 1e-5)
                for e in (0.05, math.inf)]  # fmt: skip
    rough, exact = fit_predict_all(problems, test.X, rng, Settings(hidden=32, epochs=40))
    errors = [np.sqrt(np.mean((p.mean - test.y) ** 2)) for p in (rough, exact)]
    assert errors[1] < 0.35 * np.std(test.y)
    assert errors[1] < errors[0]
    assert exact.distribution.log_density(test.y).mean() > -4.0


def test_same_seed_same_predictions_alone_or_in_company():
    problem = _problem(np.random.default_rng(0), 1.0)
    first, second = (
        fit_predict_all([problem], problem.X[:5], np.random.default_rng(7), SMALL)[0].mean
        for _ in range(2)
    )
    assert np.array_equal(first, second)
    other = fit_predict_all([problem], problem.X[:5], np.random.default_rng(8), SMALL)[0].mean
    assert not np.array_equal(first, other)


def test_targets_beyond_their_bounds_count_as_the_bound():
    problem = _problem(np.random.default_rng(0), 1.0)
    wild = problem.y.copy()
    wild[:5] = 1e9
    clipped = np.where(wild > 150.0, 150.0, wild)
    means = [
        fit_predict_all(
            [Problem(problem.X, y, problem.bounds, problem.target_bounds, 1.0, 1e-5)],
            problem.X[:5], np.random.default_rng(7), SMALL,
        )[0].mean
        for y in (wild, clipped)
    ]  # fmt: skip
    assert np.array_equal(*means)


def test_more_noise_shorter_steps():
    assert clip_norm(2.0) < clip_norm(0.2) < clip_norm(0.0) == 1.0
