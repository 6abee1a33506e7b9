"""A certificate says what is protected, by which releases, and where nothing is."""

import math
from dataclasses import replace

import pytest

from dpgp import markup as cards
from dpgp.privacy.books import ApproximateRelease, GaussianRelease
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.parts import RowPart

GRAM = GaussianRelease("stage 1", 1.23456, 7.65432, 1234, 2.0**40)
SELECTION = ApproximateRelease("best of a secret number of runs", 1.0, 1e-6)


def certificate(epsilon=1.0, mu=0.2, releases=(GRAM,), seeded=False, **unit):
    return Certificate(epsilon, 1e-6, Neighbours.REPLACE, mu, releases, seeded, **unit)


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ({}, "one row"),
        ({"rows_per_unit": 1, "per_person": True}, "one person, of whom one row counts"),
        ({"rows_per_unit": 2}, "one person, of whom at most 2 rows count"),
        ({"rows_per_unit": 3, "per_person": True}, "one person, of whom at most 3 rows count"),
    ],
)
def test_what_is_protected(unit, words):
    made = certificate(**unit)
    assert made.protects_persons is bool(unit)
    kept = " Those that came first in the table counted." if unit else ""
    assert made.relation == f"Neighbours: replace {words}.{kept}"
    assert made.relation in str(made)


@pytest.mark.parametrize(
    ("epsilon", "seeded", "statement"),
    [
        (1.0, False, "(1, 1e-06)-differential privacy, mu = 0.2."),
        (1.0, True, "NOT PRIVATE: a seeded simulation of (1, 1e-06)-differential privacy"),
        (math.inf, False, "NOT PRIVATE: no noise was added"),
        (math.inf, True, "NOT PRIVATE: no noise was added"),
    ],
)
def test_only_secret_noise_is_private(epsilon, seeded, statement):
    made = certificate(epsilon, seeded=seeded)
    assert made.is_private is statement.startswith("(")
    assert str(made).startswith(statement)
    page = made._repr_html_()
    assert statement in page
    assert (cards.GOOD in page, cards.BAD in page) == (made.is_private, not made.is_private)


def test_nothing_but_gaussian_noise_has_a_mu():
    assert "mu =" not in str(certificate(mu=None, releases=(SELECTION,)))


def test_every_release_has_a_line_and_a_row():
    made = certificate(releases=(GRAM, SELECTION))
    assert str(made).splitlines()[2:] == [f"  {GRAM}", f"  {SELECTION}"]
    assert made.rows() == [
        ["stage 1", "1,234", "1.235", "7.654", "0.1613"],
        [SELECTION.label, "", "", "", ""],
    ]
    page = made._repr_html_()
    assert all(text in page for text in (*made.HEADINGS, GRAM.label, SELECTION.label))


def test_what_was_spent_is_noted_on_whatever_fails():
    spent = certificate(releases=(GRAM, SELECTION))
    with pytest.raises(KeyboardInterrupt) as caught, spending_noted(lambda: spent):
        raise KeyboardInterrupt
    assert caught.value.spent is spent
    (note,) = caught.value.__notes__
    assert note.startswith("Spent by then: (1, 1e-06)-differential privacy, mu = 0.2. Booked: ")
    assert f"{GRAM.label}, {SELECTION.label}. It counts against the budget" in note


def test_where_nothing_was_spent_nothing_is_noted():
    with pytest.raises(ValueError, match=r"^no$") as caught:  # noqa: SIM117
        with spending_noted(lambda: certificate(releases=())):
            raise ValueError("no")
    assert not hasattr(caught.value, "__notes__")
    assert not hasattr(caught.value, "spent")


def test_of_somebody_in_all_of_several_releases_the_squares_of_mu_add_up():
    one, other = certificate(mu=0.3), certificate(mu=0.4)
    both = Certificate.of_pool([one, other])
    assert both.mu == pytest.approx(0.5, rel=1e-14)
    assert both.mu >= 0.5
    assert both.neighbours is Neighbours.REPLACE
    assert both.members == (one, other)
    assert [each.label for each in both.releases] == ["release 1: stage 1", "release 2: stage 1"]
    assert Certificate.of_pool([one]).mu == pytest.approx(0.3, rel=1e-14)
    unknown = Certificate.of_pool([one, replace(other, mu=None)])
    assert unknown.mu == unknown.epsilon == math.inf


def test_where_relations_differ_those_added_or_removed_cost_twice():
    one, other = certificate(mu=0.3), replace(certificate(mu=0.2), neighbours=Neighbours.ADD_REMOVE)
    both = Certificate.of_pool([one, other])
    assert both.neighbours is Neighbours.REPLACE
    assert both.mu == pytest.approx(math.hypot(0.3, 0.4), rel=1e-14)
    assert both.epsilon > Certificate.of_pool([one, certificate(mu=0.2)]).epsilon
    alike = Certificate.of_pool([other, other])
    assert alike.neighbours is Neighbours.ADD_REMOVE
    assert alike.mu == pytest.approx(math.hypot(0.2, 0.2), rel=1e-14)


def test_the_noise_of_a_name_is_the_largest_and_that_of_a_part_stands_for_all_rows():
    of_part = replace(GRAM, noise_std=5.0, part=RowPart(1, 4))
    made = certificate(releases=(GRAM, of_part, replace(GRAM, label="other", noise_std=99.0)))
    assert made.noise_of("stage 1") == 20.0
    assert made.noise_of("nothing") is None
