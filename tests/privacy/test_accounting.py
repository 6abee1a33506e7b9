"""What events cost together, against dp-accounting and by hand."""

import math

import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.books import ApproximateRelease, GaussianRelease, Spent, mu_of_guarantee
from dpgp.privacy.calibration import delta_of_mu

DELTA = 1e-5


def gaussian(mu):
    return GaussianRelease("a release", mu, 1.0, coordinates=10, smallest_scale=2.0**40)


def test_gaussian_events_agree_with_an_independent_accountant():
    mus = [0.1, 0.25, 0.4]
    accountant = PLDAccountant()
    for mu in mus:
        accountant.compose(GaussianDpEvent(1.0 / mu))
    ours = Spent.by(map(gaussian, mus)).epsilon_at(DELTA)
    assert ours == pytest.approx(accountant.get_epsilon(DELTA), rel=2e-3)


@given(st.floats(1e-3, 50.0), st.floats(1e-12, 0.1))
def test_a_whole_budget_is_worth_what_it_promised(epsilon, delta):
    spent = Spent.by([gaussian(mu_of_guarantee(epsilon, delta))]).epsilon_at(delta)
    assert spent == pytest.approx(epsilon, abs=1e-8)


def test_other_events_add_their_own_epsilon_and_delta():
    alone = Spent.by([gaussian(0.3)])
    both = Spent.by([gaussian(0.3), ApproximateRelease("a selection", 0.5, 4e-6)])
    assert both.mu == alone.mu
    assert both.epsilon_at(DELTA) == pytest.approx(0.5 + alone.epsilon_at(6e-6), rel=1e-9)
    assert both.epsilon_at(DELTA) > alone.epsilon_at(DELTA) + 0.5


def test_only_other_events():
    spent = Spent.by([ApproximateRelease("one", 0.5, 1e-6), ApproximateRelease("two", 0.25, 1e-6)])
    assert spent.epsilon_at(DELTA) == pytest.approx(0.75)
    assert spent.epsilon_at(1.5e-6) == math.inf


def test_a_selection_alone_is_worth_its_own_epsilon_at_its_own_delta():
    spent = Spent.by([ApproximateRelease("a selection", 0.5, DELTA)])
    assert spent.epsilon_at(DELTA) == 0.5
    assert spent.epsilon_at(math.nextafter(DELTA, 0.0)) == math.inf


def test_gaussian_noise_needs_some_delta_of_its_own():
    both = Spent.by([gaussian(0.3), ApproximateRelease("a selection", 0.5, DELTA)])
    assert both.epsilon_at(DELTA) == math.inf
    assert both.epsilon_at(2 * DELTA) < math.inf


@pytest.mark.parametrize("eta", [1e-6, 0.1])
def test_what_discrete_noise_costs_comes_off_delta_and_onto_epsilon(eta):
    # δ' = e^η δ(ε), ε' = ε + η
    epsilon = Spent(mu=0.3, eta=eta, epsilon=0.0, delta=0.0).epsilon_at(DELTA)
    reached = math.exp(eta) * delta_of_mu(0.3, epsilon - eta)
    assert DELTA * (1 - 1e-9) < reached <= DELTA * (1 + 1e-15)


def test_nothing_is_promised_beyond_the_tail_of_discrete_noise():
    assert Spent.by([gaussian(60.0)]).epsilon_at(DELTA) == math.inf  # ε would be above 1800


def test_without_noise_nothing_is_promised():
    no_noise = GaussianRelease("exact", 1.0, 0.0, 10, 0.0)
    assert Spent.by([gaussian(0.1), no_noise]).epsilon_at(DELTA) == math.inf


def test_nothing_costs_nothing():
    assert Spent.by([]).epsilon_at(DELTA) == 0.0
