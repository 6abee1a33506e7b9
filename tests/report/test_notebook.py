"""Cards of models, plans and certificates: complete, escaped, and nothing beyond the model file."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import sklearn

import dpgp
from dpgp import PrivateGPRegressor
from dpgp.cli.show import _learned as what_it_learned
from dpgp.privacy.books import ApproximateRelease
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.report.html.knowledge import learned
from dpgp.report.notebook import model_html

NASTY = '<script>alert("&")</script>'


def rows() -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(0)
    X = pd.DataFrame({NASTY: generator.uniform(0, 5, 200), "b": generator.uniform(-1, 1, 200)})
    return X, np.asarray(X[NASTY] + X["b"])


@pytest.fixture(scope="module")
def model() -> PrivateGPRegressor:
    gp = PrivateGPRegressor(2.0, 1e-5, bounds=[(0, 5), (-1, 1)], target_bounds=(-2, 7), stages=2)
    gp.fit(*rows())
    target_box = replace(gp.model_.options.target_box, names=("a & b",))
    gp.model_ = replace(gp.model_, options=replace(gp.model_.options, target_box=target_box))
    return gp


def cells(html: str) -> list[list[str]]:
    """The rows of all tables; fails where the HTML is not well-formed."""
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return [["".join(c.itertext()) for c in row] for row in ElementTree.fromstring(body).iter("tr")]


def test_card_of_a_fitted_model(model):
    html = model._repr_html_()
    assert "PrivateGPRegressor, fitted: (2, 1e-05)-differential privacy" in html
    assert "Replace any one row by any other" in html
    table = cells(html)
    assert [NASTY, "input", "0", "5"] in table
    assert ["b", "input", "-1", "1"] in table
    assert ["a & b", "target", "-2", "7"] in table
    assert ["stages", "2"] in table
    assert "<code>.plot()</code>" in html
    assert "<code>.certificate_</code>" in html


def test_names_are_escaped(model):
    html = model._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(&quot;&amp;&quot;)" in html


def test_noise_comes_with_its_range(model):
    (noise,) = [value for name, value in (r for r in cells(model._repr_html_()) if len(r) == 2)
                if name == "noise of a & b"]  # fmt: skip
    median, low, high = (float(number) for number in re.findall(r"\d+\.?\d*(?:e-?\d+)?", noise)[:3])
    draws = 4.5 * np.exp(model.posterior_.thetas[:, -1])
    assert [median, low, high] == pytest.approx(np.quantile(draws, [0.5, 0.05, 0.95]), rel=0.01)


def test_a_card_tells_no_more_than_the_model_file(model, tmp_path):
    model.save(tmp_path / "model.json")
    loaded = dpgp.load(tmp_path / "model.json")
    assert loaded._repr_html_() == model.model_._repr_html_()
    assert loaded.certificate._repr_html_() == model.certificate_._repr_html_()


def test_jupyter_shows_the_card_once_fitted(model):
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()
    unfitted = sklearn.base.clone(model)
    assert "dpgp-card" not in unfitted._repr_html_()
    assert "sk-" in unfitted._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_simulations_are_called_not_private():
    gp = PrivateGPRegressor(bounds=[(0, 5), (-1, 1)], target_bounds=(-2, 7), random_state=0)
    gp.set_params(stages=1).fit(*rows())
    for html in (gp._repr_html_(), gp.certificate_._repr_html_()):
        assert "NOT PRIVATE" in html
        assert "#D55E00" in html


def test_certificate_lists_every_release(model):
    certificate = model.certificate_
    html = certificate._repr_html_()
    head, *table = cells(html)
    assert head == ["release", "numbers", "sensitivity", "noise sd", "μ"]
    assert [row[0] for row in table] == [release.label for release in certificate.releases]
    assert float(table[0][4]) == pytest.approx(certificate.releases[0].mu, rel=1e-3)
    assert str(certificate).split("\n")[0] in html
    assert "Neighbours: replace one row." in html


def test_certificate_of_a_selection():
    selection = Certificate(
        1.0, 1e-6, Neighbours.REPLACE, None, (ApproximateRelease("<best> of", 1.0, 1e-6),), False
    )
    assert cells(selection._repr_html_())[1] == ["<best> of", "", "", "", ""]


def test_plan_has_the_same_look():
    plan = dpgp.plan(n=5000, bounds=(0, 1), target_bounds=(0, 1))
    html = plan._repr_html_()
    assert cells(html)[0] == ["rows", "5,000"]
    assert html.startswith("<style>\n.dpgp-card")
    assert html.count("<li>") == len(plan.why)


def test_text_takes_the_colour_of_the_page(model):
    html = model._repr_html_()
    colours = re.findall(r"(?<![-\w])(?:color|background):([^;}\"]+)", html)
    assert set(colours) <= {"inherit", "transparent!important", "rgba(128,128,128,.15)"}


def test_draws_that_are_equal_claim_no_interval():
    X = np.random.default_rng(0).uniform(0, 1, (200, 3))
    gp = dpgp.PrivateGPRegressor(
        3.0, 1e-5, bounds=[(0, 1)] * 3, target_bounds=(0, 2), stages=1, random_state=0
    )
    model = gp.fit(X, X[:, 0]).model_
    low, _, high = model.noise_quantiles(0)
    assert low == high
    assert what_it_learned(model, 0)["noise_std"]["low_90"] is None
    assert "with 90 % probability" not in model_html(model, "a model")
    assert "one value" in str(learned(model))
