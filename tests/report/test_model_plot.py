"""gp.plot() draws what gp.predict says, with the names of the columns."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import dpgp
from dpgp import PrivateGPRegressor
from dpgp.model.input_model import typical_inputs
from dpgp.report.html.browser import payload
from dpgp.report.model_map import Surface, draw_map, little_known, surface
from dpgp.report.model_plot import CURVE_POINTS, RUG_HEIGHT
from dpgp.report.style import shown_style

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    pyplot.close("all")


def fitted(columns: int, targets: int = 1, names: list[str] | None = None, **options):
    generator = np.random.default_rng(columns)
    X = 10.0 * generator.uniform(size=(1000, columns)) ** 2
    y = 150.0 + 30.0 * np.sin(X[:, 0] / 2) + generator.standard_normal(1000)
    y = y if targets == 1 else np.column_stack([y, 300.0 - y])
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(100, 220), stages=1)
    rows = X if names is None else pd.DataFrame(X, columns=names)
    return gp.set_params(random_state=0, **options).fit(rows, y)


def curve(axis) -> tuple[np.ndarray, np.ndarray]:
    (line,) = [line for line in axis.lines if line.get_label() == "mean"]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def ends(axis, label: str) -> tuple[float, float]:
    """Smallest and largest value of a band."""
    (band,) = [each for each in axis.collections if each.get_label() == label]
    heights = band.get_paths()[0].vertices[:, 1]
    return heights.min(), heights.max()


def rugs(axis) -> list:
    return [patch for patch in axis.patches if patch.get_label() == "where the rows are"]


def test_one_input_is_a_curve_with_bands():
    gp = fitted(1, names=["age"])
    axis = gp.plot()
    x, y = curve(axis)
    X = pd.DataFrame({"age": x})
    assert (x[0], x[-1]) == (0.0, 10.0)
    assert_allclose(y, gp.predict(X))
    for label, latent in (("95 % of new observations", False), ("95 % band of the mean", True)):
        lower, upper = gp.predict_interval(X, 0.95, latent=latent)
        assert_allclose(ends(axis, label), (lower.min(), upper.max()))
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("age", "target")


def test_the_rug_is_the_private_density_and_leaves_the_scale_alone():
    gp = fitted(1)
    axis = gp.plot()
    (rug,) = rugs(axis)
    extent = rug.get_window_extent().transformed(axis.transAxes.inverted())
    assert_allclose((extent.y0, extent.y1), (0.0, RUG_HEIGHT), atol=1e-9)
    values, edges, _ = rug.get_data()
    assert (edges[0], edges[-1]) == (0.0, 10.0)
    mass = values * np.diff(edges)
    x, weights = gp.model_.density.points[:, 0], gp.model_.density.weights
    assert mass[edges[1:] <= 5].sum() / mass.sum() == pytest.approx(
        weights[x <= 5].sum() / weights.sum(), abs=0.02
    )
    lowest, highest = ends(axis, "95 % of new observations")
    bottom, top = axis.get_ylim()
    assert lowest - 0.2 * (highest - lowest) < bottom < lowest
    assert highest <= top < highest + 0.2 * (highest - lowest)


def test_two_inputs_are_a_map():
    gp = fitted(2, names=["age", "weight"])
    axis = gp.plot()
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("age", "weight")
    assert "Mean of target (pale: its sd is above" in axis.get_title(loc="left")
    (dots,) = [c for c in axis.collections if len(c.get_offsets()) > 1]
    assert_allclose(dots.get_offsets(), gp.model_.density.points)
    colourbar = axis.figure.axes[1]
    assert colourbar.get_ylabel() == "target"


def test_a_map_holds_what_the_model_predicts():
    gp = fitted(2)
    x, y = np.linspace(0, 10, 60), np.linspace(0, 10, 50)
    drawn = surface(gp.model_, 0, x, y)
    X = np.array([[x[7], y[3]], [x[59], y[49]]])
    mean, std = gp.predict(X, return_std=True, latent=True)
    assert_allclose([drawn.mean[3, 7], drawn.mean[49, 59]], mean)
    assert_allclose([drawn.std[3, 7], drawn.std[49, 59]], std)


@pytest.mark.parametrize("std", [0.01, 10.0])
def test_a_map_may_be_flat_and_known_everywhere_or_nowhere(std):
    axis, x = Figure().subplots(), np.linspace(0.0, 1.0, 5)
    drawn = Surface(x, x, np.full((5, 5), 3.0), np.full((5, 5), std))
    draw_map(axis, drawn, np.array([2.0, 3.5, 4.0]), 1.0, "height")
    axis.figure.savefig(BytesIO())
    assert len(axis.collections) == 2  # two filled maps, and no lines


def test_three_inputs_are_slices_through_the_private_medians():
    gp = fitted(3)
    axes = gp.plot()
    middle = typical_inputs(gp.model_)
    assert len(axes) == 3
    assert np.all((middle > 1.0) & (middle < 4.5))  # the median of 10·U² is 2.5
    for column, axis in enumerate(axes):
        x, y = curve(axis)
        X = np.tile(middle, (CURVE_POINTS, 1))
        X[:, column] = x
        assert_allclose(y, gp.predict(X))
        (held,) = [line for line in axis.lines if line.get_label() == "value in the other panels"]
        assert held.get_xdata()[0] == middle[column]
        assert len(rugs(axis)) == 1
        assert axis.get_xlabel() == f"input {column + 1}"


def test_more_inputs_are_averages_along_the_most_important():
    gp = fitted(4, names=["dose", "age", "time", "size"])
    axes = gp.plot()
    assert len(axes) == 4
    assert axes[0].get_xlabel() == "dose"
    assert "% of the variance (" in axes[0].get_title(loc="left")
    effect = gp.partial_dependence("dose")
    (line,) = [line for line in axes[0].lines if line.get_label() == "average"]
    assert_allclose(line.get_ydata(), effect.mean)
    found = ends(axes[0], "95 % band of the average")
    assert_allclose(found, (effect.lower.min(), effect.upper.max()))
    assert all(len(rugs(axis)) == 1 for axis in axes)
    assert "most important input first" in axes[0].figure.get_supxlabel()


def test_inputs_that_matter_less_are_summed_up():
    X = np.random.default_rng(0).uniform(0.0, 10.0, (1000, 7))
    gp = PrivateGPRegressor(30.0, 1e-5, bounds=(0, 10), target_bounds=(0, 10), features="linear")
    axes = gp.set_params(random_state=0, stages=1).fit(X, X.mean(axis=1)).plot()
    assert len(axes) == 6
    assert all("of the variance" in axis.get_title(loc="left") for axis in axes)
    assert "One more input has a part" in axes[0].figure.get_supxlabel()


def test_without_any_density_there_is_no_rug():
    gp = fitted(4, warp=False, features="linear")
    gp.model_ = replace(gp.model_, density=None)  # as a file may say
    assert_allclose(typical_inputs(gp.model_), 5.0)
    assert not any(rugs(axis) for axis in gp.plot())


def test_given_axes_are_drawn_into():
    one, several = Figure().subplots(), Figure().subplots(2, 2)
    assert fitted(1).plot(one) is one
    gp = fitted(4)
    assert gp.plot(ax=several) == list(several.ravel())
    assert pyplot.get_fignums() == []
    with pytest.raises(ValueError, match="`ax` must hold 4 axes for this model, got 1"):
        gp.plot(ax=one)


def test_one_of_several_targets():
    gp = fitted(1, targets=2)
    target_box = replace(gp.model_.options.target_box, names=("first", "second"))
    gp.model_ = replace(gp.model_, options=replace(gp.model_.options, target_box=target_box))
    with pytest.raises(ValueError, match="`target` must say which of the 2 targets"):
        gp.plot()
    axis = gp.plot(target=1)
    x, y = curve(axis)
    assert_allclose(y, gp.predict(x[:, None])[:, 1])
    assert axis.get_ylabel() == "second"


def test_names_are_no_formulas():
    gp = fitted(1, names=["$\\frac{$ and " + "long " * 20])
    axis = gp.plot()
    axis.figure.savefig(BytesIO())
    assert axis.get_xlabel().startswith(r"\$\frac{\$")
    assert len(axis.get_xlabel().splitlines()) == 2


def test_notebooks_display_plots_of_models_and_plans_in_one_style():
    before = dict(mpl.rcParams)
    first = fitted(1).plot()
    second = dpgp.plan(n=5000, bounds=(0, 1), target_bounds=(0, 1)).plot()
    assert len(pyplot.get_fignums()) == 2
    for axis in (first, second):
        assert not axis.spines["top"].get_visible()
        assert axis.figure.get_size_inches().tolist() == [6.4, 4.0]
    assert dict(mpl.rcParams) == before


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        PrivateGPRegressor().plot()


def test_maps_are_pale_by_the_rule_of_the_report():
    model = fitted(2).model_
    assert little_known(model, 0) == pytest.approx(payload(model)["targets"][0]["little_known"])


def test_style_keeps_that_plots_show():
    """A notebook turns interactive mode on when the first figure is made, within our style."""
    before = mpl.is_interactive()
    try:
        mpl.interactive(False)
        with shown_style():
            mpl.interactive(True)
        assert mpl.is_interactive()
    finally:
        mpl.interactive(before)


def test_categories_are_drawn_level_by_level():
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": generator.uniform(0, 10, 1000),
            "$sex": generator.choice(["F", "M"], 1000, p=[0.3, 0.7]),
            "region": generator.choice([f"region number {k}" for k in range(4)], 1000),
        }
    )
    y = 150.0 + 20.0 * (frame["$sex"] == "M") + generator.standard_normal(1000)
    levels = {"$sex": ["F", "M"], "region": [f"region number {k}" for k in range(4)]}
    gp = PrivateGPRegressor(3.0, 1e-5, bounds={"age": (0, 10)}, target_bounds=(100, 220), stages=1)
    gp.set_params(categories=levels, random_state=0).fit(frame, y)
    age, sex, region = gp.plot()
    assert [label.get_text() for label in sex.get_xticklabels()] == ["F", "M"]
    x, mean = curve(sex)
    middle = typical_inputs(gp.model_)
    assert middle[1] == 1.0  # the level that most rows have
    new = pd.DataFrame(
        {"age": middle[0], "$sex": ["F", "M"], "region": levels["region"][int(middle[2])]}
    )
    assert_allclose(x, [0.0, 1.0])
    assert_allclose(mean, gp.predict(new))
    assert region.get_xticklabels()[0].get_text() == "region\nnumber\n0"
    assert len(curve(age)[0]) == CURVE_POINTS
    two = gp.set_params(categories={"$sex": ["F", "M"]}).fit(frame[["age", "$sex"]], y)
    assert len(two.plot()) == 2  # no map
    one = gp.set_params(bounds=None).fit(frame[["$sex"]], y)
    assert len(curve(one.plot())[0]) == 2
