"""Disjoint parts: every row is in one of them, and pays for no other."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.books import BudgetError, GaussianBooks, GaussianRelease
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SecureNoise, SimulatedNoise
from dpgp.privacy.parts import BLOCK, Dealing, PaidByUnit, RowPart, dearest

DEALING = Dealing.drawn(SimulatedNoise(0))
SOME = st.integers(1, 5).flatmap(lambda of: st.builds(RowPart, st.integers(1, of), st.just(of)))
PARTS = st.one_of(st.none(), SOME)
PRICED = st.lists(st.tuples(PARTS, st.floats(1e-3, 0.5)), min_size=1, max_size=12)


def release(mu, part=None):
    return GaussianRelease("a release", mu, 1.0, 10, 2.0**40, part=part)


def test_every_row_is_in_one_part():
    found = np.array([DEALING.holds(RowPart(number, 7), 0, 5000) for number in range(1, 8)])
    assert (found.sum(axis=0) == 1).all()


@given(st.integers(0, 3 * BLOCK), st.integers(0, 2 * BLOCK))
def test_a_row_is_in_its_part_however_the_table_is_cut(start, rows):
    part = RowPart(2, 3)
    whole = DEALING.holds(part, 0, start + rows)
    np.testing.assert_array_equal(DEALING.holds(part, start, rows), whole[start:])


def test_parts_are_equally_likely_and_draws_are_independent():
    rows = 200_000
    first, second = (DEALING.holds(RowPart(k, 4), 0, rows) for k in (1, 2))
    sd = np.sqrt(rows * 3 / 16)
    assert abs(first.sum() - rows / 4) < 5 * sd
    assert abs(second.sum() - rows / 4) < 5 * sd
    after = first[1:] & first[:-1]
    assert after.mean() == pytest.approx(1 / 16, abs=5 * np.sqrt(1 / 16 / rows))


def test_every_fit_deals_anew_but_simulations_repeat():
    one, other = Dealing.drawn(SecureNoise()), Dealing.drawn(SecureNoise())
    assert one != other
    assert Dealing.drawn(SimulatedNoise(0)) == DEALING
    assert Dealing.drawn(SimulatedNoise(1)) != DEALING
    assert repr(one) == "Dealing(...)"


@pytest.mark.parametrize(("number", "of"), [(0, 3), (4, 3), (1, 0)])
def test_parts_that_do_not_exist_are_refused(number, of):
    with pytest.raises(ValueError, match="does not exist"):
        RowPart(number, of)


def paid_by(priced, dealt):
    """What a unit pays that is in part ``dealt[P]`` of every dealing into P parts."""
    return sum(
        Fraction(mu) ** 2 for part, mu in priced if part is None or dealt[part.of] == part.number
    )


@given(PRICED, st.lists(st.integers(0, 10**6), min_size=5, max_size=5))
def test_nobody_pays_more_than_is_counted(priced, luck):
    dealt = {of: 1 + luck[of - 1] % of for of in range(1, 6)}
    counted = dearest((part, Fraction(mu) ** 2) for part, mu in priced)
    assert paid_by(priced, dealt) <= counted


@given(PRICED)
def test_somebody_pays_what_is_counted(priced):
    def of_part(part):
        return sum(Fraction(mu) ** 2 for other, mu in priced if other == part)

    dealt = {
        of: max((RowPart(k, of) for k in range(1, of + 1)), key=of_part).number
        for of in range(1, 6)
    }
    counted = dearest((part, Fraction(mu) ** 2) for part, mu in priced)
    assert paid_by(priced, dealt) == counted


@given(PRICED)
def test_a_price_that_is_asked_for_is_the_one_that_is_booked(priced):
    paid, booked = PaidByUnit(), []
    for part, mu in priced:
        asked = paid.with_one_more(part, Fraction(mu) ** 2)
        assert paid.total == dearest(booked)  # asking books nothing
        booked.append((part, Fraction(mu) ** 2))
        paid.add(*booked[-1])
        assert asked == paid.total == _by_definition(booked)


def _by_definition(booked):
    """What all rows were asked, and of every dealing its dearest part."""
    spent = {part: sum(price for other, price in booked if other == part) for part, _ in booked}
    everybody = spent.pop(None, 0)
    dealings = {part.of for part in spent}
    most = (max(price for part, price in spent.items() if part.of == of) for of in dealings)
    return everybody + sum(most)


@given(PRICED)
def test_books_let_nobody_pay_more_than_the_budget(priced):
    books = GaussianBooks(0.6, Neighbours.REPLACE)
    for part, mu in priced:
        before = books.spent_mu
        try:
            books.about(part).reserve(release(mu))
        except BudgetError:
            assert books.spent_mu == before
    assert books.spent_mu <= 0.6
    booked = [(each.part, each.mu) for each in books.releases]
    for luck in range(60):
        dealt = {of: 1 + luck % of for of in range(1, 6)}
        assert paid_by(booked, dealt) <= Fraction(0.6) ** 2


def test_every_part_has_the_whole_share_and_no_part_more():
    books = GaussianBooks(1.0, Neighbours.REPLACE)
    books.reserve(release(books.share(0.7)))
    for number in range(1, 6):
        books.about(RowPart(number, 5)).reserve(release(books.share(0.3)))
    assert books.spent_mu == pytest.approx(1.0)
    assert [each.part.number for each in books.releases[1:]] == [1, 2, 3, 4, 5]
    for part in (RowPart(3, 5), None, RowPart(1, 6)):  # parts of another dealing are not disjoint
        with pytest.raises(BudgetError):
            books.about(part).reserve(release(0.1))
