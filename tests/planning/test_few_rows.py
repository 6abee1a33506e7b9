"""Few rows are told in the words of a plan, where a plan would tell them."""

import warnings

import numpy as np
import pytest

import dpgp
from dpgp.planning.setting import FEWEST, FewRowsWarning, are_few, nothing_better
from dpgp.privacy.books import mu_of_guarantee

ABOUT = {"bounds": (0, 1), "target_bounds": (0, 1), "delta": 1e-6}


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_rule_is_that_of_plans(epsilon):
    few, enough = (int(share * FEWEST / mu_of_guarantee(epsilon, 1e-6)) for share in (0.9, 1.6))
    assert are_few(few, epsilon, 1e-6)
    assert not are_few(enough, epsilon, 1e-6)
    with pytest.raises(ValueError, match="no choice beats predicting the mean") as caught:
        dpgp.plan(n=few, epsilon=epsilon, **ABOUT)
    assert str(caught.value) == str(nothing_better(few, epsilon))
    assert dpgp.plan(n=enough, epsilon=epsilon, **ABOUT).n == enough


@pytest.mark.parametrize(
    ("rows", "options", "told"),
    [
        (40, {}, True),
        (80, {}, False),
        (40, {"neighbours": "add-remove"}, False),
        (40, {"epsilon": float("inf")}, False),
    ],
    ids=str,
)
def test_a_fit_of_few_rows_warns_where_their_number_is_public(rows, options, told):
    X = np.linspace(0.0, 1.0, rows)[:, None]
    gp = dpgp.PrivateGPRegressor(
        **ABOUT, random_state=0, features="linear", stages=1, **{"epsilon": 1.0, **options}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FewRowsWarning)
        gp.fit(X, X[:, 0])
    found = [str(each.message) for each in caught if each.category is FewRowsWarning]
    assert found == ([str(nothing_better(rows, 1.0))] if told else [])
