"""DP-SGD's accounting and sampling: replace neighbours, never less noise than is needed."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines.private_gradients import (
    OVERFLOW,
    PRECISION,
    batch_width,
    clip_weights,
    noise_multiplier,
    poisson_batches,
    total_delta,
)

DELTA = 1e-5


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_without_sampling_it_is_a_gaussian_of_sensitivity_two(epsilon):
    z = noise_multiplier(epsilon, DELTA, 16, 1.0)
    exact = 2.0 * math.sqrt(16) / mu_of_guarantee(epsilon, DELTA)
    assert exact <= z < exact * (1.0 + 2 * PRECISION)
    one_sided = noise_multiplier(epsilon, DELTA, 16, 1.0, Neighbours.ADD_REMOVE)
    assert one_sided == pytest.approx(z / 2.0, rel=2 * PRECISION)


def test_the_noise_is_enough_and_hardly_more():
    z = noise_multiplier(1.0, DELTA, 400, 0.05)
    assert total_delta(z, 1.0, 400, 0.05) <= DELTA
    assert total_delta(z / (1.0 + 2 * PRECISION), 1.0, 400, 0.05) > DELTA


def test_more_steps_rows_and_privacy_need_more_noise():
    z = noise_multiplier(1.0, DELTA, 400, 0.05)
    assert noise_multiplier(1.0, DELTA, 800, 0.05) > z
    assert noise_multiplier(1.0, DELTA, 400, 0.1) > z
    assert noise_multiplier(0.5, DELTA, 400, 0.05) > z
    assert noise_multiplier(1.0, DELTA / 10, 400, 0.05) > z


def test_replacing_a_row_needs_up_to_twice_the_noise_of_removing_it():
    z = noise_multiplier(1.0, DELTA, 400, 0.05)
    removed = noise_multiplier(1.0, DELTA, 400, 0.05, Neighbours.ADD_REMOVE)
    assert removed < z <= 2.0 * removed * (1.0 + PRECISION)


def test_accounting_agrees_with_a_numerical_divergence_of_one_step():
    # δ(ε) = ∫ max(p − e^ε p', 0) of the mixtures, by quadrature
    z, rate, epsilon = 1.3, 0.2, 0.4
    x = np.linspace(-20.0, 20.0, 400_001)
    p, p_dash = ((1 - rate) * norm.pdf(x, 0, z) + rate * norm.pdf(x, s, z) for s in (1, -1))
    delta = float(np.maximum(p - math.exp(epsilon) * p_dash, 0.0).sum() * (x[1] - x[0]))
    assert 1.0 - 1e-6 < total_delta(z, epsilon, 1, rate) / delta < 1.001


def test_releases_beside_training_are_composed_with_it():
    """Without sampling all is Gaussian: μ² of training and of the releases add up."""
    mu = mu_of_guarantee(1.0, DELTA)
    beside = 0.4 * mu
    z = noise_multiplier(1.0, DELTA, 16, 1.0, beside=beside)
    exact = 2.0 * math.sqrt(16) / math.sqrt(mu**2 - beside**2)
    assert exact <= z < exact * (1.0 + 2 * PRECISION)


def test_sampled_steps_and_releases_have_no_more_than_delta_together():
    beside = 0.3 * mu_of_guarantee(1.0, DELTA)
    z = noise_multiplier(1.0, DELTA, 400, 0.1, beside=beside)
    assert total_delta(z, 1.0, 400, 0.1, beside=beside) <= DELTA
    assert noise_multiplier(1.0, DELTA, 400, 0.1) < z


def test_no_privacy_no_noise():
    assert noise_multiplier(math.inf, DELTA, 400, 0.05) == 0.0


def test_width_is_hardly_ever_exceeded():
    width = batch_width(2594, 1 / 40)
    assert binom.sf(width, 2594, 1 / 40) <= OVERFLOW < binom.sf(width - 5, 2594, 1 / 40)


@pytest.mark.baselines
def test_poisson_batches_hold_each_row_independently_and_at_most_once():
    torch = pytest.importorskip("torch")
    rows, rate, count = 50, 0.2, 20_000
    chosen = poisson_batches(rows, rate, (count,), torch.Generator().manual_seed(0))
    member = torch.zeros(count, rows + 1).scatter_add_(1, chosen, torch.ones(chosen.shape))
    member = member[:, :rows]  # the last column counts places that are left over
    assert member.max() == 1
    error = math.sqrt(rate * (1 - rate) / count)
    assert (member.mean(0) - rate).abs().max() < 5 * error
    off_diagonal = torch.corrcoef(member.T) - torch.eye(rows)
    assert off_diagonal.abs().max() < 6 / math.sqrt(count)


@pytest.mark.baselines
def test_every_row_is_taken_at_rate_one():
    torch = pytest.importorskip("torch")
    assert poisson_batches(4, 1.0, (2,), torch.Generator()).tolist() == [[0, 1, 2, 3]] * 2


@pytest.mark.baselines
def test_clipping_shortens_long_gradients_only():
    torch = pytest.importorskip("torch")
    norms = torch.tensor([0.0, 0.1, 4.0])
    assert (norms * clip_weights(norms**2, 0.5)).tolist() == pytest.approx([0.0, 0.1, 0.5])
