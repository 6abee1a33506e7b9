"""A certificate says what is protected, by which releases, and where nothing is."""

import math

import pytest

from dpgp import markup as cards
from dpgp.privacy.books import ApproximateRelease, GaussianRelease
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.neighbours import Neighbours

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
