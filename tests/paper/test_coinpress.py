"""CoinPress: its price, its sensitivity, and how fast its error falls."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpgp.paper import coinpress
from dpgp.paper.coinpress import STEPS, coinpress_mean, step_mus, step_shares, tail_width
from dpgp.privacy import mechanism
from dpgp.privacy.books import BudgetError, GaussianBooks
from dpgp.privacy.calibration import rho_of_mu
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import DrawnNoise, SimulatedNoise


class Zeros(DrawnNoise):
    """A source without noise, so that a step returns its clipped mean."""

    is_private = False

    def draw(self, scale, count):
        return [0] * count


def books(mu=1.0, neighbours=Neighbours.REPLACE):
    return GaussianBooks(mu, neighbours)


def mean_of(values, source=None, mu=1.0, radius=10.0, ledger=None, **options):
    ledger = books(mu) if ledger is None else ledger
    defaults = {"centre": 0.0, "radius": radius, "scale": 1.0, "mu": ledger.share(1.0)}
    return coinpress_mean(
        np.asarray(values), books=ledger, source=source or SimulatedNoise(0), **defaults | options
    )


@given(st.floats(1e-3, 100.0))
def test_the_rho_of_all_steps_adds_up_to_the_budget(mu):
    ledger = books(mu)
    mean_of(np.zeros(10), ledger=ledger)
    assert len(ledger.releases) == STEPS
    spent = math.fsum(rho_of_mu(release.mu) for release in ledger.releases)
    assert spent <= rho_of_mu(mu)
    assert spent == pytest.approx(rho_of_mu(mu), rel=1e-12)


def test_three_quarters_go_to_the_last_step_and_the_rest_is_even():
    shares = step_shares(STEPS)
    assert shares[-1] == 0.75
    assert shares[:-1] == pytest.approx([0.25 / 11] * 11)
    assert math.fsum(mu**2 for mu in step_mus(2.0)) == pytest.approx(4.0)
    assert step_shares(1) == [1.0]


def test_the_budget_cannot_be_spent_twice():
    ledger = books()
    mean_of(np.zeros(10), ledger=ledger)
    with pytest.raises(BudgetError):
        mean_of(np.zeros(10), ledger=ledger)


def test_the_width_is_that_of_the_method():
    log = math.log(100.0)
    assert tail_width() == pytest.approx(math.sqrt(1 + 2 * math.sqrt(log) + 2 * log))


@pytest.fixture
def released_sums(monkeypatch):
    """Record every exact sum on its way into the mechanism, in units of one."""
    sums = []
    original = mechanism.publish

    def spy(totals, *arguments, **options):
        sums.append((int(totals[0]), arguments[1]))
        return original(totals, *arguments, **options)

    monkeypatch.setattr("dpgp.private.wall.publish", spy)
    return sums


def one_step(values, interval):
    coinpress._step(np.asarray(values, float), interval, 1.0, "step", books(2.0), Zeros())


values = arrays(np.float64, 5, elements=st.floats(-1e6, 1e6))


@given(values, st.floats(allow_nan=True), st.integers(0, 4), st.floats(0.1, 100.0))
def test_no_replaced_value_moves_a_step_by_more_than_its_sensitivity(data, value, place, radius):
    interval, sums = coinpress.Interval(0.3, radius), []
    neighbour = data.copy()
    neighbour[place] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpgp.private.wall.publish", lambda totals, stds, sensitivity, *rest, **_: (
            sums.append((int(totals[0]), sensitivity)), np.zeros(1))[1])  # fmt: skip
        for rows in (data, neighbour):
            one_step(rows, interval)
    (first, sensitivity), (second, _) = sums
    assert sensitivity == 2.0
    assert abs(first - second) <= sensitivity * UNIT**2


def test_the_sensitivity_of_every_step_is_attained(released_sums):
    interval = coinpress.Interval(0.3, 2.0)
    one_step([0.0, -1e9], interval)
    one_step([0.0, 1e9], interval)
    (first, sensitivity), (second, _) = released_sums
    assert second - first == sensitivity * UNIT**2


def test_noise_is_the_sensitivity_over_the_steps_mu():
    ledger = books(0.5)
    mean_of(np.zeros(10), ledger=ledger)
    for release, mu in zip(ledger.releases, step_mus(0.5), strict=True):
        assert release.sensitivity == 2.0
        assert release.noise_std == pytest.approx(2.0 / mu)


def test_without_noise_it_is_the_mean():
    sample = np.random.default_rng(0).normal(3.0, 1.0, 2000)
    assert mean_of(sample, Zeros()) == pytest.approx(sample.mean(), abs=0.02)


def test_a_scale_and_a_centre_only_move_the_answer():
    sample = np.random.default_rng(0).normal(3.0, 1.0, 2000)
    plain = mean_of(sample, SimulatedNoise(1))
    moved = mean_of(50.0 + 10.0 * sample, SimulatedNoise(1), centre=50.0, radius=100.0, scale=10.0)
    assert moved == pytest.approx(50.0 + 10.0 * plain, abs=1e-4)


@pytest.mark.parametrize("too_wide", [10.0, 100.0, 1000.0])
def test_a_wide_interval_hardly_costs_anything(too_wide):
    """The error is that of the last step, s = 2(r + γ)/(nμ), whatever the first interval was."""
    n, mu, errors = 2000, 1.0, []
    for seed in range(100):
        sample = np.random.default_rng(seed).normal(0.5, 1.0, n)
        found = mean_of(sample, SimulatedNoise(10_000 + seed), mu, radius=too_wide)
        errors.append(found - sample.mean())
    gamma, early, last = tail_width(), step_mus(mu)[0], step_mus(mu)[-1]
    # r of the last step but one, from an interval that has settled at about 1.2γ
    r = gamma * math.sqrt(1 / n + (2 * 1.2 * gamma / (n * early)) ** 2)
    rms = math.sqrt(np.mean(np.square(errors)))
    assert rms == pytest.approx(2 * (r + gamma) / (n * last), rel=0.4)  # five standard errors
    clipped_once = 2 * (too_wide + gamma) / (n * mu)
    assert rms < clipped_once * min(0.7, 10.0 / too_wide)


def test_the_error_falls_as_one_over_n():
    errors = {}
    for n in (500, 5000):
        samples = [np.random.default_rng(seed).normal(0.5, 1.0, n) for seed in range(60)]
        found = [mean_of(x, SimulatedNoise(seed), radius=100.0) for seed, x in enumerate(samples)]
        differences = [a - x.mean() for a, x in zip(found, samples, strict=True)]
        errors[n] = math.sqrt(np.mean(np.square(differences)))
    assert errors[500] / errors[5000] == pytest.approx(10.0, rel=0.6)


def test_values_far_outside_cost_accuracy_and_nothing_else():
    sample = np.append(np.random.default_rng(0).normal(0.0, 1.0, 999), 1e12)
    assert abs(mean_of(sample)) < 0.1


def test_only_replaced_rows_have_a_public_count():
    with pytest.raises(ValueError, match="only replace neighbours"):
        mean_of(np.zeros(10), ledger=books(neighbours=Neighbours.ADD_REMOVE))


@pytest.mark.parametrize("mu", [1e-3, 1e-2, 1e-1])
def test_a_small_budget_does_not_widen_the_interval(mu, released_sums):
    """Every step at a widened interval would multiply its radius by more than a hundred."""
    mean_of(np.full(100, 3.0), Zeros(), mu=mu)
    offsets = [total / UNIT**2 for total, _ in released_sums]
    # 3 in the first interval 0 ± (10 + γ) is what every step sums, not 0 in ever wider ones
    assert offsets == pytest.approx([100 * 3.0 / (10.0 + tail_width())] * len(offsets), rel=1e-6)
