"""A kernel of distance is a class with one formula: nothing else is written for it."""

import json
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from py_mini_racer import MiniRacer

from dpgp.checked_values import ModelFileError
from dpgp.kernels import given
from dpgp.kernels.formula import batch_gram, exported_tree
from dpgp.kernels.known import FORMULAS, KERNELS, as_sklearn, kernel_from_json, kernel_to_json
from dpgp.kernels.parameters import Measure, Parameter
from dpgp.kernels.stationary import LENGTHS, Radial
from dpgp.report.html.browser import kernel_formulas, plain, posterior_script


@dataclass(frozen=True, repr=False, eq=False)
class Twice(Radial):
    """(e⁻ᵇˢ + 1/(1 + s))/2, a mixture of Gaussians."""

    name = "Twice"

    beta: Annotated[float, Parameter("rate", Measure.NUMBER)]
    length_scale: Annotated[Any, LENGTHS]

    @classmethod
    def value(cls, tree, s, library):
        return (library.exp(-s * tree["beta"][:, :, None]) + 1.0 / (1.0 + s)) / 2.0


GENERATOR = np.random.default_rng(0)
X, Z = GENERATOR.uniform(-1, 1, (5, 2)), GENERATOR.uniform(-1, 1, (7, 2))
KERNEL = Twice(0.7, np.array([0.4, 0.9]))
THETAS = KERNEL.theta + GENERATOR.normal(0, 0.3, (3, 3))


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(KERNELS, "Twice", Twice)
    monkeypatch.setitem(FORMULAS, "Twice", Twice)


def expected(beta, lengths):
    s = (((X[:, None] - Z) / lengths) ** 2).sum(axis=-1)
    return (np.exp(-beta * s) + 1 / (1 + s)) / 2


def test_matrices_follow_from_the_formula():
    found = batch_gram(KERNEL, THETAS, X, Z)
    each = [expected(beta, lengths) for beta, *lengths in np.exp(THETAS)]
    assert_allclose(found, each, rtol=1e-13)
    assert_allclose(KERNEL(X, Z), expected(0.7, [0.4, 0.9]), rtol=1e-13)


def test_a_class_of_its_name_among_those_given_is_what_users_write(monkeypatch):
    with pytest.raises(ModelFileError, match="no kernel that can be given"):
        as_sklearn(KERNEL)
    monkeypatch.setattr(given, "Twice", dict, raising=False)
    found = as_sklearn(KERNEL)
    assert found["beta"] == 0.7
    assert list(found["length_scale"]) == [0.4, 0.9]


def test_the_page_computes_what_the_trace_says():
    tree = plain(exported_tree(KERNEL, THETAS))
    with closing(MiniRacer()) as engine:
        engine.eval(posterior_script())
        engine.eval(f"const k = gram({json.dumps(tree)}, {json.dumps(Z.tolist())});")
        found = engine.eval(f"JSON.stringify({X.tolist()}.map((x) => Array.from(k(x))))")
    grams = np.reshape(json.loads(found), (5, 3, 7)).swapaxes(0, 1)
    assert_allclose(grams, batch_gram(KERNEL, THETAS, X, Z), rtol=1e-13)


def test_files_words_and_priors_follow_from_the_fields():
    written = kernel_to_json(KERNEL)
    assert written == {"type": "Twice", "beta": 0.7, "length_scale": [0.4, 0.9], "fixed": []}
    assert kernel_from_json(json.loads(json.dumps(written)), "kernel", 2) == KERNEL
    assert repr(KERNEL) == "Twice(beta=0.7, length_scale=[0.4, 0.9])"
    assert [each.words for each in KERNEL.learned()] == [
        "rate of the smooth part",
        *["length of the smooth part"] * 2,
    ]
    assert len(KERNEL.log_priors(2)) == KERNEL.n_dims == 3


def test_formulas_are_written_as_they_are_computed():
    assert kernel_formulas()["RBF"] == "(s, tree, t) => Math.exp(((-0.5) * s))"
