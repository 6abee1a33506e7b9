"""The page as a text: one file, nothing loaded, names escaped, words that fit the model."""

import base64
import hashlib
import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from report_models import AWKWARD, fitted, named

from dpgp.model.input_model import densities, representative_rows
from dpgp.report.html import report_html
from dpgp.report.html.browser import (
    ALL_DIGITS,
    FEWER_DIGITS,
    numbers_of,
    packed,
    payload,
)
from dpgp.report.html.knowledge import (
    achieved_over_box,
    achieved_where_data_are,
    expected,
    hyperparameters,
)


class Page(HTMLParser):
    """Tags with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.setdefault(self.tags[-1][0] if self.tags else "", []).append(data)

    def all(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.tags if name == tag]


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.S)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(found.group(1), parse_constant=refuse)


def test_page_loads_nothing():
    page = Page(report_html(fitted("two inputs")))
    loading = [a for _, a in page.tags if {"src", "href", "action", "data", "poster"} & a.keys()]
    (still,) = loading  # inside of the page
    assert still["src"].startswith("data:image/png;base64,")
    assert not {"link", "iframe", "object", "embed", "base", "form"} & {t for t, _ in page.tags}
    css = "".join(page.texts["style"])
    assert "url(" not in css
    assert "@import" not in css
    script = "".join(page.texts["script"])
    for word in (
        "eval(",
        "Function(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
        "innerHTML",
    ):
        assert word not in script


def test_policy_allows_this_script_and_style_alone():
    text = report_html(fitted("one input"))
    policy = next(a["content"] for a in Page(text).all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        content = re.search(f"<{tag}>(.*?)</{tag}>", text, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy


def test_names_are_escaped():
    text = report_html(named(AWKWARD), title=AWKWARD)
    assert "<b>" not in text
    page = Page(text)
    assert [a.get("type") for a in page.all("script")] == ["application/json", None]
    data = data_of(text)
    assert data["inputs"]["names"] == [AWKWARD, "b"]
    assert data["targets"][0]["name"] == AWKWARD
    assert AWKWARD in page.texts["h1"]


def test_payload_is_the_model_and_has_all_digits():
    gp = fitted("two inputs")
    data = data_of(report_html(gp))
    assert data["targets"][0]["m"] == gp.posteriors[0].moments.w.tolist()
    Q, d = data["targets"][0]["Q"], len(data["targets"][0]["m"])
    doubles = np.frombuffer(base64.b64decode(Q["doubles"]), "<f8")
    assert len(doubles) == d * (d + 1) // 2
    P, K_zz = gp.posteriors[0].features.projection, gp.posteriors[0]._K_zz
    lower = (gp.posteriors[0].moments.V + P @ K_zz @ P.T)[np.tril_indices(d)]
    np.testing.assert_allclose(doubles, lower, rtol=0, atol=1e-13)


def test_a_matrix_is_kept_whole_unless_it_is_symmetric():
    for matrix in (np.arange(6.0).reshape(2, 3), np.array([[1.0, 2.0], [3.0, 4.0]])):
        text = packed(matrix)
        found = np.frombuffer(base64.b64decode(text["doubles"]), "<f8")
        assert not text["symmetric"]
        np.testing.assert_array_equal(found.reshape(text["rows"], text["columns"]), matrix)


def of_bytes(text: dict) -> np.ndarray:
    """What Python reads of whole multiples."""
    size, content = text["size"], base64.b64decode(text["multiples"])
    whole = [
        int.from_bytes(content[k : k + size], "little", signed=True)
        for k in range(0, len(content), size)
    ]
    return np.array(whole) * text["unit"]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_fewer_digits_are_whole_multiples_of_a_unit(size):
    matrix = np.random.default_rng(0).normal(size=(4, 3))
    text = packed(matrix, size)
    assert text["unit"] * 2 ** (8 * size - 1) == pytest.approx(np.abs(matrix).max(), rel=1e-6)
    assert np.abs(of_bytes(text).reshape(4, 3) - matrix).max() <= text["unit"] / 2 * (1 + 1e-9)


def test_eight_hundred_features_of_thirty_inputs_and_two_targets_stay_below_four_megabytes():
    gp = fitted("five inputs")
    d = gp.posteriors[0].features.dimension
    # a symmetric covariance, with 4/3 characters a byte, and all else: points in decimals
    covariance = 4 / 3 * FEWER_DIGITS.covariance * d * (d + 1) / 2
    rest = len(json.dumps(numbers_of(gp, FEWER_DIGITS))) - covariance
    assert rest < 100_000 + 170 * d
    assert 2 * 800 * 801 / 2 * 4 / 3 * FEWER_DIGITS.covariance + 100_000 + 30 * 17_000 < 4e6


def test_only_what_is_large_has_fewer_digits(monkeypatch):
    gp = fitted("five inputs")
    assert "doubles" in payload(gp)["targets"][0]["Q"]
    assert written(payload(gp)) == written(numbers_of(gp, ALL_DIGITS))
    monkeypatch.setattr("dpgp.report.html.browser.MOST_CHARACTERS", written(payload(gp)) - 1)
    assert payload(gp)["targets"][0]["Q"]["size"] == FEWER_DIGITS.covariance


def test_the_projection_of_kernel_values_is_made_by_the_page():
    numbers = numbers_of(fitted("five inputs"), ALL_DIGITS)
    assert numbers["projection"] is None
    assert "projection" not in numbers["features"]
    assert numbers["features"]["root"]["jitter"] > 0.0
    assert numbers_of(fitted("two inputs"), ALL_DIGITS)["projection"] is not None


def written(numbers):
    return len(json.dumps(numbers, separators=(",", ":")))


def test_what_is_known_comes_first():
    gp = fitted("local scale of many")
    page = Page(report_html(gp))
    share = gp.explained()
    rows = representative_rows(gp)
    mean, (lower, upper) = gp.predict(rows), gp.predict_interval(rows, 0.95)
    widths = (upper - lower) / (2 * 1.96)  # about, where the law is about normal
    assert share.value == pytest.approx(np.var(mean) / (np.var(mean) + np.mean(widths**2)), abs=0.1)
    assert f"about {share}" in page.texts["dd"]
    first, *_ = gp.importance().inputs
    assert any(text.startswith(f"{first} (") for text in page.texts["dd"])
    headings = [text for text in page.texts["h2"] if text.strip()]
    assert headings[:2] == ["The guarantee", "In short"]


def test_a_page_without_scripts_has_a_still_picture():
    text = report_html(fitted("several targets"))
    inside = re.search("<noscript>(.*?)</noscript>", text, re.S).group(1)
    assert inside.count("data:image/png;base64,") == 2
    assert "data:image/png" in report_html(fitted("bessel"))
    more = re.search("<noscript>(.*?)</noscript>", report_html(fitted("five inputs")), re.S)
    assert "What matters" in more.group(1)


def test_names_tell_hyperparameters_apart_that_have_the_same_words():
    text = report_html(fitted("five inputs"))
    assert text.count("k1__k2__k1__constant_value") == 1
    assert "__" not in re.sub(r"<script.*?</script>", "", report_html(fitted("two inputs")))


def test_what_matters_is_shown_where_there_are_several_inputs():
    assert 'id="matters"' not in report_html(fitted("one input"))
    text = report_html(fitted("local scale of many"))
    page = Page(text)
    assert len([a for a in page.all("svg") if a["class"] == "panel"]) == 5
    assert len([a for a in page.all("rect") if a.get("class") == "bar"]) == 5
    order = data_of(text)["order"]
    assert order[0] == 0
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert "5 inputs" not in page.texts["h1"][0]


def test_what_matters_needs_no_kernel_that_the_page_knows():
    text = report_html(fitted("several targets"))
    assert 'id="matters"' not in text
    escaped = report_html(named(AWKWARD))
    assert 'id="matters"' in escaped
    assert "<b>x</b>" not in escaped


def test_simulations_cannot_be_overlooked():
    for name in ("one input", "without noise"):
        page = Page(report_html(fitted(name)))
        assert "NOT private" in page.texts["p"]
        assert page.texts["title"][0].startswith("NOT private")
        assert "no row of the data" not in "".join(page.texts["p"])
    assert "∞" in page.texts["dd"]


def test_private_model_says_what_it_promises():
    gp = named("a")
    gp = replace(gp, certificate=replace(gp.certificate, seeded=False))
    text = report_html(gp, title="Heights")
    words = re.sub(r"<script.*?</script>|base64,[^\"]*", "", text, flags=re.S)
    assert "NOT" not in words
    words = "".join(Page(text).texts["p"])
    assert "changes by a factor of at most 20.1, plus 1e-05" in words
    assert "no row of the data" in words


def test_headings_are_in_order_and_landmarks_exist():
    page = Page(report_html(fitted("one input")))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert {"header", "main", "footer"} <= {tag for tag, _ in page.tags}
    assert page.all("html")[0]["lang"] == "en"


def test_kernels_that_the_page_cannot_compute_are_named():
    text = report_html(fitted("bessel"))
    assert "There are no plots that answer" in text
    assert "Matern" in text
    assert 'id="model"' not in text


def test_certificate_lists_every_release():
    gp = fitted("one input")
    cells = Page(report_html(gp)).texts["th"]
    for release in gp.certificate.releases:
        assert release.label in cells


@pytest.mark.parametrize("name", ["one input", "two inputs", "five inputs"])
def test_densities_hold_all_rows(name):
    gp = fitted(name)
    for density in densities(gp):
        total = np.dot(density.heights, np.diff(density.edges))
        assert total == pytest.approx(gp.density.weights.sum())
        assert (density.edges[0], density.edges[-1]) == (0.0, 10.0)


def test_densities_without_atoms_are_those_of_the_warp():
    gp = fitted("additive")
    gp = replace(gp, density=None)
    heights = np.array([density.heights for density in densities(gp)])
    assert heights.mean(axis=1) == pytest.approx(np.ones(3))
    assert payload(gp)["atoms"] is None
    assert densities(replace(gp, inputs=replace(gp.inputs, warp=None))) is None


def test_own_error_is_an_average_of_what_python_predicts():
    gp = fitted("one input")
    X, weights = gp.density.points, gp.density.weights
    _, std = gp.predict(X, return_std=True, latent=True)
    lower, upper = gp.predict_interval(X, 0.95)
    found = achieved_where_data_are(gp, 0)
    assert found.error == pytest.approx(np.sqrt(np.average(std**2, weights=weights)))
    assert found.interval_width == pytest.approx(np.average(upper - lower, weights=weights))
    X = np.linspace(0, 10, 2001)[:, None]
    _, std = gp.predict(X, return_std=True, latent=True)
    assert achieved_over_box(gp, 0).error == pytest.approx(np.sqrt(np.mean(std**2)), rel=0.02)


def test_forecast_or_why_there_is_none():
    import dpgp

    found = expected(fitted("one input"))
    planned = dpgp.plan(
        n=400, bounds=(0, 10), target_bounds=(-2, 3), epsilon=3.0, delta=1e-5, stages=1
    )
    assert found.forecasts == planned.forecasts
    assert len(expected(fitted("several targets")).forecasts) == 2
    assert "There is no forecast" not in report_html(fitted("several targets"))


@pytest.mark.parametrize("missing", ["error", "ignore"])
@pytest.mark.parametrize("units", [None, np.arange(400)])
def test_the_forecast_knows_whether_the_fit_had_to_count_rows(missing, units):
    import dpgp

    about = {"bounds": (0, 10), "target_bounds": (-2, 3), "epsilon": 3.0, "delta": 1e-5}
    about |= {"features": "linear", "stages": 1, "missing": missing}
    X = np.random.default_rng(0).uniform(0, 10, (400, 1))
    gp = (
        dpgp.PrivateGPRegressor(random_state=0, **about).fit(X, np.sin(X[:, 0]), units=units).model_
    )
    counted = "number of rows" in {release.label for release in gp.certificate.releases}
    assert counted is (units is not None or missing == "ignore")
    found = expected(gp)
    planned = dpgp.plan(n=found.rows, units=units is not None, **about)
    assert found.forecasts == planned.forecasts
    assert (planned.design.count_share > 0.0) is counted


def test_hyperparameters_are_in_units_of_people():
    gp = fitted("matern 0.5")
    thetas = gp.posteriors[0].thetas
    noise, size, *lengths = hyperparameters(gp, 0)
    np.testing.assert_allclose(noise.draws, 2.5 * np.exp(thetas[:, 2 + 1]))
    np.testing.assert_allclose(size.draws, 2.5 * np.exp(thetas[:, 0] / 2))
    assert size.what == "size of the smooth part (sd)"
    assert [h.what for h in lengths] == [
        f"length of the smooth part along input {k}" for k in (1, 2)
    ]
    np.testing.assert_allclose(lengths[1].draws, np.exp(thetas[:, 2]))
