"""Every kind of bad input: a clear error before any noise is drawn, without a private value."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct, ExpSineSquared

from dpgp.kernels.counts import SpectrumKernel
from dpgp.kernels.given import NormalizedKernel
from dpgp.paper import dp_gp_inference
from dpgp.privacy import noise

SECRET = 0.123456789
X = np.full((20, 2), SECRET)
Y = np.full(20, SECRET)
Z = np.array([[0.0, 0.0], [1.0, 1.0]])


STRINGS = NormalizedKernel(SpectrumKernel(1))


def holed(array, value):
    array = array.copy()
    array[3] = value
    return array


CASES = {
    "X has one dimension": ({"X": X[:, 0]}, ValueError, "`X` must have two dimensions"),
    "X has three dimensions": ({"X": X[None]}, ValueError, "`X` must have two dimensions"),
    "X is a number": ({"X": SECRET}, ValueError, "`X` must have two dimensions"),
    "X has no columns": ({"X": X[:, :0]}, ValueError, "at least one column"),
    "X has other columns than Z": ({"X": X[:, :1]}, ValueError, "as many columns"),
    "X is empty": ({"X": X[:0], "y": Y[:0]}, ValueError, "at least two rows"),
    "X has one row": ({"X": X[:1], "y": Y[:1]}, ValueError, "at least two rows"),
    "X holds objects": (
        {"X": holed(X.astype(object), {})},
        TypeError,
        "`X` must hold numbers",
    ),
    "X holds strings": ({"X": X.astype(str)}, TypeError, "`X` must hold numbers"),
    "X holds complex numbers": ({"X": X.astype(complex)}, ValueError, "Complex data not supp"),
    "a frame holds strings": (
        {"X": pd.DataFrame(X).assign(name="a").iloc[:, 1:]},
        TypeError,
        "`X` must hold numbers",
    ),
    "y has two dimensions": ({"y": Y[:, None]}, ValueError, "`y` must have one dimension"),
    "y has another length": ({"y": Y[:7]}, ValueError, "one value for each of the rows"),
    "y holds objects": ({"y": holed(Y.astype(object), {})}, TypeError, "`y` must hold"),
    "NaN in X": ({"X": holed(X, np.nan)}, ValueError, "finite and complete"),
    "inf in X": ({"X": holed(X, np.inf)}, ValueError, "finite and complete"),
    "-inf in y": ({"y": holed(Y, -np.inf)}, ValueError, "finite and complete"),
    "NaN in y": ({"y": holed(Y, np.nan)}, ValueError, "finite and complete"),
    "missing is unknown": ({"missing": "drop"}, ValueError, "`missing` must be one of"),
    "epsilon is zero": ({"epsilon": 0.0}, ValueError, "`epsilon` must be positive"),
    "epsilon is negative": ({"epsilon": -1.0}, ValueError, "`epsilon` must be positive"),
    "epsilon is NaN": ({"epsilon": math.nan}, ValueError, "`epsilon` must be positive"),
    "epsilon is text": ({"epsilon": "1"}, TypeError, "`epsilon` must be a number"),
    "delta is zero": ({"delta": 0.0}, ValueError, "`delta` must be"),
    "delta is one": ({"delta": 1.0}, ValueError, "`delta` must be"),
    "delta is text": ({"delta": None}, TypeError, "`delta` must be a number"),
    "bounds are reversed": ({"bounds": (2, 1)}, ValueError, "low < high"),
    "bounds are infinite": ({"bounds": (0, math.inf)}, ValueError, "must be finite"),
    "bounds are too few": ({"bounds": [(0, 1)]}, ValueError, "`bounds` must hold one"),
    "bounds by name without names": ({"bounds": {"a": (0, 1)}}, ValueError, "no column names"),
    "inducing points outside": ({"bounds": (0, 0.5)}, ValueError, "must lie within `bounds`"),
    "inducing points in one dimension": (
        {"inducing_points": Z[:, 0]},
        ValueError,
        "`inducing_points` must be numbers",
    ),
    "no inducing points": ({"inducing_points": Z[:0]}, ValueError, "at least one point"),
    "inducing points not finite": (
        {"inducing_points": np.full((2, 2), np.nan)},
        ValueError,
        "`inducing_points` must be finite",
    ),
    "inducing points are objects": (
        {"inducing_points": Z.astype(object)},
        ValueError,
        "`inducing_points` must be numbers",
    ),
    "an unbounded kernel": ({"kernel": DotProduct()}, ValueError, "bound"),
    "a periodic kernel without a box": ({"kernel": ExpSineSquared()}, ValueError, "bound"),
    "a kernel of unknown bound": ({"kernel": lambda A, B=None: A @ A.T}, ValueError, "bound"),
    "an unknown norm bound": ({"norm_bound": "loose"}, ValueError, "`norm_bound`|`rule`"),
    "a negative norm bound": ({"norm_bound": -1.0}, ValueError, "positive"),
    "noise_std is zero": ({"noise_std": 0.0}, ValueError, "`noise_std` must be positive"),
    "target_bound is infinite": (
        {"target_bound": math.inf},
        ValueError,
        "`target_bound` must be finite",
    ),
    "ratio is negative": ({"ratio": -1.0}, ValueError, "`ratio` must be positive"),
    "neighbours is unknown": ({"neighbours": "swap"}, ValueError, "`neighbours` must be"),
    "covariance is unknown": ({"covariance": "full"}, ValueError, "`covariance` must be one of"),
    "sensitivity is unknown": ({"sensitivity": "x"}, ValueError, "`sensitivity` must be one of"),
    "prior mean is text": ({"prior_mean": "median"}, TypeError, "`prior_mean` must be a number"),
    "prior mean takes everything": (
        {"prior_mean": "coinpress", "prior_mean_share": 1.0},
        ValueError,
        "`prior_mean_share` must be",
    ),
    "prior mean needs a public count": (
        {"prior_mean": "coinpress", "neighbours": "add-remove"},
        ValueError,
        "needs neighbours",
    ),
    "X has one dimension, with bounds": (
        {"X": X[:, 0], "bounds": (0, 1)},
        ValueError,
        "`X` must have two dimensions",
    ),
    "bounds for strings": (
        {"kernel": STRINGS, "X": ["a"] * 20, "bounds": (0, 1)},
        ValueError,
        "`bounds` must be left out",
    ),
    "no inducing strings": (
        {"kernel": STRINGS, "X": ["a"] * 20, "inducing_points": []},
        ValueError,
        "`inducing_points` must be a list",
    ),
    "one inducing string": (
        {"kernel": STRINGS, "X": ["a"] * 20, "inducing_points": "abc"},
        ValueError,
        "`inducing_points` must be a list",
    ),
    "inducing strings with nothing to count": (
        {"kernel": STRINGS, "X": ["a"] * 20, "inducing_points": ["", ""]},
        ValueError,
        "variance 0",
    ),
    "a missing string": (
        {"kernel": STRINGS, "X": ["a"] * 19 + [None], "inducing_points": ["a"]},
        ValueError,
        "finite and complete",
    ),
    "a string instead of rows": (
        {"kernel": STRINGS, "X": "a" * 20, "inducing_points": ["a"]},
        TypeError,
        "`X` must be a sequence",
    ),
    "a number among strings, found before the prior mean is released": (
        {
            "kernel": STRINGS,
            "X": ["a"] * 19 + [SECRET],
            "inducing_points": ["a"],
            "prior_mean": "coinpress",
        },
        TypeError,
        "`X` must hold objects that the kernel takes",
    ),
    "a budget beyond all noise": ({"epsilon": 1e12}, ValueError, "scale|sigma_min|epsilon"),
}


@pytest.fixture(autouse=True)
def no_noise_is_drawn(monkeypatch):
    def fail(self, scale, count):
        noise.check_scale(scale)
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(noise.SecureNoise, "draw", fail)


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_bad_input_is_refused_in_clear_words(case):
    changes, error, text = CASES[case]
    arguments = {
        "X": X,
        "y": Y,
        "inducing_points": Z,
        "kernel": RBF(1.0),
        "noise_std": 0.1,
        "target_bound": 1.0,
        "epsilon": 1.0,
        "delta": 1e-5,
    }
    with pytest.raises(error, match=text) as caught:
        dp_gp_inference(**(arguments | changes))
    assert "123456" not in str(caught.value)
    assert not re.search(r"row(s)? \d", str(caught.value))
    assert caught.value.__cause__ is None
    assert "123456" not in repr(caught.value.__context__)
