"""The text of an estimator: what it guarantees is never left to be guessed."""

import pytest

import dpgp

BOTH = [dpgp.PrivateGPRegressor, dpgp.PrivateGPClassifier]


@pytest.mark.parametrize("kind", BOTH)
def test_the_guarantee_is_shown_though_it_is_the_default(kind):
    assert repr(kind()) == f"{kind.__name__}(epsilon=1.0, delta=1e-06)"
    text = repr(kind(2.0, bounds=(0, 1)))
    assert text == f"{kind.__name__}(epsilon=2.0, delta=1e-06, bounds=(0, 1))"


def test_it_is_shown_though_the_rest_is_cut_short():
    names = {f"epsilon={k}": ["a" * 50, "b" * 50] for k in range(40)}
    text = repr(dpgp.PrivateGPRegressor(3.0, 1e-9, categories=names))
    assert text.startswith("PrivateGPRegressor(epsilon=3.0, delta=1e-09, ")
    assert len(text) < 1500
