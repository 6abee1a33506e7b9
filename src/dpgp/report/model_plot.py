"""Curves, maps, slices and averages of a fitted model. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

from dpgp.arithmetic import TINY
from dpgp.effects.summary import ImportantInput, what_matters
from dpgp.export.specify import chosen_target
from dpgp.inference.conformal import COVERAGE
from dpgp.model.marginals import Density, densities
from dpgp.report.model_map import draw_two_inputs
from dpgp.report.style import (
    BLUE,
    GREY,
    INK,
    SKY,
    caption_below,
    legend_above,
    shown_panels,
    shown_style,
)
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.categories import Category
    from dpgp.model.fitted import FittedModel


CURVE_POINTS = 300  # a smooth line on a screen
PANELS_A_ROW = 3
WIDE_LABELS = 32  # letters of all levels that stand side by side under a panel
RUG_HEIGHT = 0.07  # of the panel, for where the rows are


class Bands(NamedTuple):
    """Mean and 95 % bands along a line, that of observations where it says something."""

    x: Array
    mean: Array
    function: Array
    observations: Array | None
    word: str


def draw_model(model: FittedModel, ax: Any = None, target: int | None = None) -> Axes | list[Axes]:
    """Draw a curve of one input, a map of two, slices of three, averages along some of more."""
    k = chosen_target(model, target)
    with shown_style():
        columns, has_categories = len(model.inputs.box.low), bool(model.inputs.box.categories)
        if columns == 1:
            return _draw_curve_of_one(model, panel_axes(ax, 1, (6.4, 4.0))[0], k)
        if columns == 2 and not has_categories:
            names = input_label(model, 0), input_label(model, 1)
            axis = panel_axes(ax, 1, (6.4, 4.6))[0]
            return draw_two_inputs(model, axis, k, names, label(model, k))
        return _draw_slices(model, ax, k) if columns == 3 else _draw_averages(model, ax, k)


def panel_axes(ax: Any, count: int, size: tuple[float, float]) -> list[Axes]:
    """Return the axes given, or as many new ones, which share the target's axis."""
    if ax is None:
        rows = -(-count // PANELS_A_ROW)
        drawn = shown_panels(rows, min(count, PANELS_A_ROW), size)
        axes = [axis for row in drawn for axis in row]
        for spare in axes[count:]:
            spare.remove()
        return axes[:count]
    axes = [ax] if isinstance(ax, Axes) else list(np.ravel(ax))
    if len(axes) != count:
        raise ValueError(f"`ax` must hold {count} axes for this model, got {len(axes)}.")
    return axes


def _draw_curve_of_one(model: FittedModel, axis: Axes, k: int) -> Axes:
    draw_slice(axis, _along(model, k, 0, model.inputs.box.low), model, 0)
    target = label(model, k)
    axis.set(ylabel=target)
    axis.set_title(f"{target} by {input_label(model, 0)}")
    make_room(axis)
    axis.legend()
    return axis


def _draw_slices(model: FittedModel, ax: Any, k: int) -> list[Axes]:
    box = model.inputs.box
    count = len(box.low)
    rows = -(-count // PANELS_A_ROW)
    axes = panel_axes(ax, count, (3.3 * min(count, PANELS_A_ROW), 2.9 * rows + 0.5))
    others = typical_inputs(model)
    for column, axis in enumerate(axes):
        draw_slice(axis, _along(model, k, column, others), model, column)
        axis.axvline(others[column], color=INK, lw=0.9, ls=":", label="value in the other panels")
    for axis in axes[::PANELS_A_ROW] if ax is None else axes[:1]:
        axis.set_ylabel(label(model, k))
    for axis in axes[:1] if ax is None else axes:
        make_room(axis)
    if ax is None:
        legend_above(axes[0].figure, axes[0])  # type: ignore[arg-type]
    else:
        axes[0].legend()
    return axes


def _draw_averages(model: FittedModel, ax: Any, k: int) -> list[Axes]:
    """Draw averages over the private model of the inputs, along the most important of them."""
    matters = what_matters(model, k)
    count = len(matters.curves)
    axes = panel_axes(ax, count, (3.3 * PANELS_A_ROW, 2.9 * -(-count // PANELS_A_ROW) + 0.7))
    for axis, curve, share in zip(axes, matters.curves, matters.importance.total, strict=False):
        _draw_average(axis, curve, model)
        axis.set_title(f"{share.percent} of the variance ({share.interval})", fontsize=9.5)
    for axis in axes[::PANELS_A_ROW] if ax is None else axes[:1]:
        axis.set_ylabel(label(model, k))
    for axis in axes[:1] if ax is None else axes:
        make_room(axis)
    if ax is None:
        legend_above(axes[0].figure, axes[0])  # type: ignore[arg-type]
        caption_below(axes[0].figure, " ".join([AVERAGED, matters.others]))  # type: ignore[arg-type]
    else:
        axes[0].legend()
    return axes


AVERAGED = "Averages over the private model of the other inputs, the most important input first."


def _draw_average(axis: Axes, curve: ImportantInput, model: FittedModel) -> None:
    """Draw the average along one input and its band."""
    ((_, x),) = curve.along.at.items()
    along, category = curve.along, model.inputs.box.category(curve.column)
    words = "95 % band of the average"
    if category is None:
        axis.fill_between(x, along.lower, along.upper, color=BLUE, alpha=0.4, lw=0, label=words)
        axis.plot(x, along.mean, color=BLUE, label="average")
        axis.set(xlim=(x[0], x[-1]))
    else:
        places = np.arange(len(x))
        axis.vlines(places, along.lower, along.upper, color=BLUE, lw=5, alpha=0.6, label=words)
        axis.plot(places, along.mean, "o", color=BLUE, mec="white", label="average")
        name_levels(axis, category)
    axis.set(xlabel=input_label(model, curve.column))
    draw_rug(axis, model, curve.column)


def name_levels(axis: Axes, category: Category) -> None:
    """Write the levels of a category under an axis of their numbers."""
    turn = 90.0 if sum(map(len, category.labels)) > WIDE_LABELS else 0.0
    labels = [_printable(text) for text in category.labels]
    axis.set(xlim=(-0.5, len(labels) - 0.5))
    axis.set_xticks(range(len(labels)), labels, rotation=turn)


def draw_slice(axis: Axes, curve: Bands, model: FittedModel, column: int) -> None:
    """Draw mean and bands along one input, over a rug of where the rows are."""
    category = model.inputs.box.category(column)
    if category is None:
        _draw_bands(axis, curve)
        axis.set(xlim=(curve.x[0], curve.x[-1]))
    else:
        _draw_levels(axis, curve)
        name_levels(axis, category)
    axis.set(xlabel=input_label(model, column))
    draw_rug(axis, model, column)


def _draw_levels(axis: Axes, curve: Bands) -> None:
    """Draw a dot and two bars for every level of a category."""
    bars = (
        (curve.observations, SKY, 9.0, 0.5, "95 % of new observations"),
        (curve.function, BLUE, 5.0, 0.6, f"95 % band of the {curve.word}"),
    )
    for band, color, width, alpha, words in bars:
        if band is not None:
            axis.vlines(curve.x, *band, color=color, lw=width, alpha=alpha, label=words)
    axis.plot(curve.x, curve.mean, "o", color=BLUE, mec="white", label=curve.word)


def _draw_bands(axis: Axes, curve: Bands) -> None:
    """Draw a line and two bands."""
    bands = (
        (curve.observations, SKY, 0.25, "95 % of new observations"),
        (curve.function, BLUE, 0.4, f"95 % band of the {curve.word}"),
    )
    for band, color, alpha, words in bands:
        if band is not None:
            axis.fill_between(curve.x, *band, color=color, alpha=alpha, lw=0, label=words)
    axis.plot(curve.x, curve.mean, color=BLUE, label=curve.word)


def draw_rug(axis: Axes, model: FittedModel, column: int) -> None:
    """Draw the private density of an input along the bottom, the highest bar of one height."""
    known = densities(model)
    if known is None:
        return
    edges, heights = (np.asarray(known[column][name]) for name in ("edges", "heights"))
    bars = RUG_HEIGHT * heights / max(float(heights.max()), TINY)
    rug = StepPatch(
        bars, edges, color=GREY, alpha=0.7, lw=0, label="where the rows are",
        transform=axis.get_xaxis_transform(),
    )  # fmt: skip
    axis.add_patch(rug)


def make_room(axis: Axes) -> None:
    """Lower the bottom of the axes, for the rug."""
    low, high = axis.get_ylim()
    axis.set_ylim(low - 1.2 * RUG_HEIGHT * (high - low), high)


def _along(model: FittedModel, k: int, column: int, others: Array) -> Bands:
    """Return mean and bands along one input, with the others held."""
    box = model.inputs.box
    points = CURVE_POINTS if box.category(column) is None else round(box.high[column]) + 1
    x = np.linspace(box.low[column], box.high[column], points)
    X = np.tile(others, (len(x), 1))
    X[:, column] = x
    U = model.inputs(X)
    mean, _ = model.mean_and_std(k, U)
    of_function = np.array(model.function_interval(k, U, COVERAGE))
    shown = model.outcome.shows_observations
    of_observations = np.array(model.observation_interval(k, U, COVERAGE)) if shown else None
    mean, word = model.within_bounds(k, mean), model.outcome.mean_word
    return Bands(x, mean, of_function, of_observations, word)


def typical_inputs(model: FittedModel) -> Array:
    """Return the private median of each input, of a category the level that is most frequent.

    Where there is no density these are the centre of the box, and first levels.
    """
    box, known = model.inputs.box, densities(model)
    if known is None:
        return np.where(box.is_numeric, box.centre, 0.0)
    return np.array(
        [
            _median(density) if numeric else float(np.argmax(density["heights"]))
            for density, numeric in zip(known, box.is_numeric, strict=True)
        ]
    )


def _median(density: Density) -> float:
    edges, heights = np.asarray(density["edges"]), np.asarray(density["heights"])
    cdf = np.append(0.0, np.cumsum(heights * np.diff(edges)))
    return float(np.interp(cdf[-1] / 2, cdf, edges))


def input_label(model: FittedModel, column: int) -> str:
    """Return the name of an input for a figure."""
    return _printable(model.input_names[column])


def label(model: FittedModel, target: int) -> str:
    """Return what is drawn of a target, for a figure."""
    return _printable(model.target_in_words(target))


def _printable(name: str) -> str:
    """Return a name that is not read as a formula, and not too long for an axis."""
    short = name if len(name) <= 40 else f"{name[:39]}…"
    return short.replace("$", r"\$")
