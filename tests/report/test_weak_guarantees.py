"""Guarantees that promise little are said to, in the same words wherever they are asked for."""

import math
import warnings

import numpy as np
import pytest

import dpgp
from dpgp.report.guarantee import WeakGuaranteeWarning, strength, weak_points

X = np.linspace(0.0, 1.0, 40)[:, None]
SMALL = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 1}


@pytest.mark.parametrize(("epsilon", "factor"), [(50.0, "5.19e+21"), (1e9, "e+434294481")])
def test_a_huge_epsilon_gets_a_word(epsilon, factor):
    (sentence,) = weak_points(epsilon, 1e-6, None)
    assert "hardly any protection" in sentence
    assert factor in sentence


def test_usual_ones_get_none():
    assert weak_points(10.0, 1e-6, 1000) == []
    assert "1/rows" in weak_points(1.0, 1e-3, 1000)[0]
    assert weak_points(1.0, 0.99e-3, 1000) == []


def test_strengths_in_order():
    words = [strength(epsilon) for epsilon in (0.1, 1, 3, 10, 11)]
    assert words == ["very strong", "strong", "moderate", "weak", "hardly any"]


@pytest.mark.parametrize("changes", [{"epsilon": 50.0}, {"delta": 1 / 40}], ids=str)
def test_python_warns_before_it_spends_in_the_same_words(changes):
    gp = dpgp.PrivateGPRegressor(**SMALL, random_state=0, **changes)
    (sentence,) = weak_points(gp.epsilon, gp.delta, len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakGuaranteeWarning)
        with pytest.raises(WeakGuaranteeWarning) as caught:
            gp.fit(X, X[:, 0])
    assert str(caught.value) == f"Weak guarantee: {sentence}"
    assert not hasattr(gp, "spent_")


@pytest.mark.parametrize(
    "changes",
    [{}, {"epsilon": math.inf}, {"delta": 1 / 40, "neighbours": "add-remove"}],
    ids=str,
)
def test_usual_fits_no_guarantee_at_all_and_private_counts_get_no_warning(changes):
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakGuaranteeWarning)
        dpgp.PrivateGPRegressor(**SMALL, random_state=0, **changes).fit(X, X[:, 0])
