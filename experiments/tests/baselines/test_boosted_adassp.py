"""Boosted AdaSSP: features of norm one at most, the whole budget and no more, a better line."""

import numpy as np
import pytest

from dpgp.privacy.calibration import compose, mu_of_epsilon_delta
from dpgp_experiments.baselines import adassp, boosted_adassp, standardise
from dpgp_experiments.baselines.interface import Problem


def line(epsilon, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, [0.5, 0.2, 0.5], (n, 3))
    y = 40.0 + X @ [3.0, -5.0, 0.0] + 0.3 * rng.standard_normal(n)
    return Problem(X, y, ((0.0, 6.0),) * 3, (20.0, 60.0), epsilon, 1e-5)


def test_features_have_norm_at_most_one():
    Z = np.random.default_rng(0).uniform(-3.0, 3.0, (500, 4))
    norms = np.linalg.norm(boosted_adassp.unit_features(Z), axis=1)
    assert norms.max() <= 1.0 + 1e-15
    assert norms.max() == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_all_releases_compose_to_the_budget(monkeypatch, epsilon):
    """Every release asks for its noise; their μ, from sensitivity over noise, are the guarantee."""
    mus = []

    def recorded(original):
        def gaussian_sigma(sensitivity, mu):
            mus.append(mu)
            return original(sensitivity, mu)

        return gaussian_sigma

    for module in (adassp, boosted_adassp, standardise):
        monkeypatch.setattr(module, "gaussian_sigma", recorded(module.gaussian_sigma))
    problem = line(epsilon, 100)
    boosted_adassp.fit_predict(problem, problem.X, np.random.default_rng(0))
    *once, one_round = mus
    assert len(once) == 4  # inputs, target, Gram matrix, eigenvalue
    spent = compose([*once, *[one_round] * boosted_adassp.ROUNDS])
    assert spent == pytest.approx(mu_of_epsilon_delta(epsilon, 1e-5))


def test_it_finds_a_line_and_with_noise_sooner_than_adassp():
    exact = line(np.inf)
    found = boosted_adassp.fit_predict(exact, exact.X, np.random.default_rng(0))
    assert found.distribution is None
    assert np.std(found.mean - exact.y) < 0.3 * np.std(exact.y)  # far rows are drawn in
    test = line(1.0, seed=1)
    boosted, plain = (
        np.mean([np.std(fit(line(1.0), test.X, np.random.default_rng(k)).mean - test.y)
                 for k in range(10)])
        for fit in (boosted_adassp.fit_predict, adassp.fit_linear)
    )  # fmt: skip
    assert boosted < 0.8 * plain
