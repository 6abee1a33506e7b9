"""Guarantees that promise little are said to."""

import pytest

from dpgp.cli.columns import Column
from dpgp.cli.consent import weak_points
from dpgp.cli.request import Request
from dpgp.report.guarantee import strength


def request(epsilon, delta=1e-6):
    return Request((Column("x", 0.0, 1.0),), (Column("y", 0.0, 1.0),), epsilon, delta)


@pytest.mark.parametrize(("epsilon", "factor"), [(50.0, "5.19e+21"), (1e9, "e+434294481")])
def test_a_huge_epsilon_gets_a_word(epsilon, factor):
    (sentence,) = weak_points(request(epsilon), None)
    assert "hardly any protection" in sentence
    assert factor in sentence


def test_usual_ones_get_none():
    assert weak_points(request(10.0), 1000) == []
    assert "1/rows" in weak_points(request(1.0, 1e-3), 1000)[0]


def test_strengths_in_order():
    words = [strength(epsilon) for epsilon in (0.1, 1, 3, 10, 11)]
    assert words == ["very strong", "strong", "moderate", "weak", "hardly any"]
