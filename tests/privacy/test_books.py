import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy import books as module
from dpgp.privacy.books import ETA_ALLOWANCE, Books, BudgetError, GaussianBooks, GaussianRelease
from dpgp.privacy.calibration import delta_of_mu
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SecureNoise, SimulatedNoise


def release(mu, label="a release"):
    return GaussianRelease(label, mu, 1.0, coordinates=10, smallest_scale=2.0**40)


def ledger(epsilon=1.0, delta=1e-5):
    return Books(epsilon, delta, Neighbours.REPLACE)


@given(
    st.floats(1e-3, 20),
    st.floats(1e-12, 0.1),
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=20),
)
def test_shares_add_up_to_the_budget_and_never_above(epsilon, delta, weights):
    books = Books(epsilon, delta, Neighbours.REPLACE)
    for weight in weights:
        mu = books.share(weight / math.fsum(weights))
        books.reserve(GaussianRelease("stage", 1.0, 1.0 / mu * (1 + 1e-15), 10, 2.0**40))
    assert books.spent_mu <= books.mu
    assert books.spent_epsilon() <= epsilon
    assert books.spent_epsilon() == pytest.approx(epsilon, abs=1e-9)
    assert delta_of_mu(books.spent_mu, epsilon) <= delta


def test_what_does_not_fit_is_refused_and_not_booked():
    books = ledger()
    books.reserve(release(books.share(0.9)))
    with pytest.raises(BudgetError, match="'second' does not fit"):
        books.reserve(release(books.share(0.2), "second"))
    assert [r.label for r in books.releases] == ["a release"]


def test_the_same_budget_cannot_be_spent_twice():
    books = ledger()
    books.reserve(release(books.share(1.0)))
    with pytest.raises(BudgetError):
        books.reserve(release(0.001))


def test_the_books_are_exact_where_doubles_are_not():
    books = GaussianBooks(1.0, Neighbours.REPLACE)
    books.reserve(GaussianRelease("tiny", 2.0**-30, 1.0, 10, 2.0**40))  # 1 − 2^−60 is left
    whole = GaussianRelease("whole", math.nextafter(1.0, 0.0), 1.0, 10, 2.0**40)
    assert whole.mu == 1.0
    with pytest.raises(BudgetError):
        books.reserve(whole)


def test_a_budget_may_be_spent_to_its_end():
    books = GaussianBooks(1.0, Neighbours.REPLACE)
    books.reserve(GaussianRelease("whole", math.nextafter(1.0, 0.0), 1.0, 10, 2.0**40))
    assert books.spent_mu == books.mu


def test_what_discrete_noise_may_cost_over_all_releases_is_bounded():
    books = ledger(epsilon=10.0)
    half = GaussianRelease("half", 1e-3, 1.0, coordinates=2_900_000, smallest_scale=2.0**30)
    assert ETA_ALLOWANCE / 2 < half.eta < ETA_ALLOWANCE
    books.reserve(half)
    with pytest.raises(BudgetError, match="'half' does not fit"):
        books.reserve(half)


def test_what_discrete_noise_may_cost_may_be_spent_to_its_end(monkeypatch):
    monkeypatch.setattr(module, "ETA_ALLOWANCE", release(0.1).eta)
    books = ledger()
    books.reserve(release(0.1))
    with pytest.raises(BudgetError):
        books.reserve(release(0.1))


def test_an_infinite_budget_takes_a_release_without_noise():
    books = ledger(epsilon=math.inf)
    books.reserve(GaussianRelease("no noise", 1.0, 0.0, 10, 0.0))
    books.reserve(GaussianRelease("no noise", 1.0, 0.0, 10, 0.0))
    assert books.spent_mu == math.inf
    assert [release.eta for release in books.releases] == [0.0, 0.0]
    assert "NOT PRIVATE: no noise" in str(Certificate.from_books(books, SecureNoise()))


def test_a_finite_budget_takes_no_release_without_noise():
    with pytest.raises(BudgetError):
        ledger().reserve(GaussianRelease("no noise", 1.0, 0.0, 10, 0.0))


def test_the_discrete_noise_is_booked():
    assert release(0.5).eta == pytest.approx((5 * 10 + 2000) / (24 * 2.0**80))
    assert ledger().mu < Books(1.0 + 1e-9, 1e-5, Neighbours.REPLACE).mu


def test_the_certificate_tells_what_was_released():
    books = ledger()
    books.reserve(release(books.share(1.0)))
    text = str(Certificate.from_books(books, SecureNoise()))
    assert "(1, 1e-05)-differential privacy" in text
    assert "a release: 10 numbers" in text
    assert "replace one row" in text


def test_a_certificate_is_closed():
    books = ledger()
    books.reserve(release(0.01))
    certificate = Certificate.from_books(books, SecureNoise())
    books.reserve(release(0.01))
    assert len(certificate.releases) == 1


def test_the_certificate_of_a_failure_tells_what_was_booked_by_then():
    books = ledger()
    books.reserve(release(books.share(0.5)))
    for unit in [(), (2, True)]:
        whole = Certificate.from_books(books, SecureNoise(), *unit)
        failed = whole.of_failure(books)
        assert failed.epsilon == books.spent_epsilon() < whole.epsilon == 1.0
        assert (failed.releases, failed.unit) == (whole.releases, whole.unit)


def test_the_certificate_of_a_simulation_says_so():
    certificate = Certificate.from_books(ledger(), SimulatedNoise(0))
    assert not certificate.is_private
    assert str(certificate).startswith("NOT PRIVATE: a seeded simulation")
