"""What events cost together, against dp-accounting and by hand."""

import math

import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.accounting import Spent, mu_of_guarantee
from dpgp.privacy.events import ApproximateRelease, GaussianRelease

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


def test_without_noise_nothing_is_promised():
    no_noise = GaussianRelease("exact", 1.0, 0.0, 10, 0.0)
    assert Spent.by([gaussian(0.1), no_noise]).epsilon_at(DELTA) == math.inf


def test_nothing_costs_nothing():
    assert Spent.by([]).epsilon_at(DELTA) == 0.0
