"""Curves, slices, averages and centiles of a fitted model. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

from dpgp.arithmetic import TINY
from dpgp.domain import Box
from dpgp.effects.importance import what_matters
from dpgp.inference.conformal import COVERAGE
from dpgp.model.input_model import densities, typical_inputs
from dpgp.model.predictions import CENTILES
from dpgp.report.model_map import draw_two_inputs
from dpgp.report.names import entitle, make_room, name_axes, name_dates, name_levels
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
    from dpgp.model.fitted import FittedModel


CURVE_POINTS = 300  # a smooth line on a screen
PANELS_A_ROW = 3
RUG_HEIGHT = 0.07  # of the panel, for where the rows are
LINE_HEIGHT = 0.036  # of the panel, for the number of one centile

MOST_BY_ORDER = 3
"""Inputs up to which all have centiles, in their order; of more, the most important ones."""

BELOW_LINES = "Percentages of new observations below each line."
AVERAGED = "Averages over the private model of the other inputs, the most important input first."


class Bands(NamedTuple):
    """Mean and 95 % bands along a line, that of observations where it says something."""

    x: Array
    mean: Array
    function: Array
    observations: Array | None
    word: str


class Centiles(NamedTuple):
    """Values along one input, one row a level."""

    x: Array
    levels: tuple[float, ...]
    values: Array


def draw_model(
    model: FittedModel, ax: Any = None, target: int | str | None = None
) -> Axes | list[Axes]:
    """Draw a curve of one input, a map of two, slices of three, averages along some of more."""
    k = model.chosen_target(target)
    with shown_style():
        columns, has_categories = len(model.inputs.box.low), bool(model.inputs.box.categories)
        if columns == 1:
            return _draw_curve_of_one(model, ax, k)
        if columns == 2 and not has_categories:
            return draw_two_inputs(model, panel_axes(ax, 1, (6.4, 4.6))[0], k)
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


def _draw_curve_of_one(model: FittedModel, ax: Any, k: int) -> Axes:
    axes = panel_axes(ax, 1, (6.4, 4.0))
    _draw_slice(axes[0], _along(model, k, 0, model.inputs.box.low), model, 0)
    target = model.target_in_words(k)
    entitle(axes[0], f"{target} by {model.input_names[0]}")
    label_panels(axes, target, are_ours=ax is None)
    return axes[0]


def _draw_slices(model: FittedModel, ax: Any, k: int) -> list[Axes]:
    count = model.options.columns
    rows = -(-count // PANELS_A_ROW)
    axes = panel_axes(ax, count, (3.3 * min(count, PANELS_A_ROW), 2.9 * rows + 0.5))
    others = typical_inputs(model)
    for column, axis in enumerate(axes):
        _draw_slice(axis, _along(model, k, column, others), model, column)
        axis.axvline(others[column], color=INK, lw=0.9, ls=":", label="value in the other panels")
    label_panels(axes, model.target_in_words(k), are_ours=ax is None)
    return axes


def _draw_averages(model: FittedModel, ax: Any, k: int) -> list[Axes]:
    """Draw averages over the private model of the inputs, along the most important of them."""
    matters = what_matters(model, k)
    count = len(matters.curves)
    axes = panel_axes(ax, count, (3.3 * PANELS_A_ROW, 2.9 * -(-count // PANELS_A_ROW) + 0.7))
    for axis, curve, share in zip(axes, matters.curves, matters.importance.total, strict=False):
        along, box = curve.along, model.inputs.box
        x = _grid(box, curve.column, len(along.mean))
        band = np.array([along.lower, along.upper])
        _draw_slice(axis, Bands(x, along.mean, band, None, "average"), model, curve.column)
        words = f"{share.percent} of the variance ({share.interval})"
        constant = matters.importance.may_be_constant
        axis.set_title("may be constant" if constant else words, fontsize=9.5)
    label_panels(axes, model.target_in_words(k), are_ours=ax is None)
    if ax is None:
        caption_below(axes[0].figure, " ".join([AVERAGED, matters.others]))  # type: ignore[arg-type]
    return axes


def label_panels(axes: list[Axes], target: str, *, are_ours: bool) -> None:
    """Name the target, make room for rugs and names, and put one legend over panels of ours."""
    rows = _rows_of(axes)
    for row in rows if are_ours else rows[:1]:
        name_axes(row[0], y=target)
    for axis in axes[:1] if are_ours else axes:
        _room_for_rug(axis)
    if are_ours:
        make_room(rows)
        legend_above(axes[0].figure, axes[0])  # type: ignore[arg-type]
    else:
        axes[0].legend()


def _rows_of(axes: list[Axes]) -> list[list[Axes]]:
    """Return panels by the row they stand in."""
    return [axes[k : k + PANELS_A_ROW] for k in range(0, len(axes), PANELS_A_ROW)]


def _draw_slice(axis: Axes, curve: Bands, model: FittedModel, column: int) -> None:
    """Draw mean and bands along one input, for a category a dot and bars at every level."""
    numeric = model.inputs.box.category(column) is None
    bands = (
        (curve.observations, SKY, 0.25, 9.0, 0.5, "95 % of new observations"),
        (curve.function, BLUE, 0.4, 5.0, 0.6, f"95 % band of the {curve.word}"),
    )
    for band, color, alpha, bar_width, bar_alpha, words in bands:
        if band is not None and numeric:
            axis.fill_between(curve.x, *band, color=color, alpha=alpha, lw=0, label=words)
        elif band is not None:
            axis.vlines(curve.x, *band, color=color, lw=bar_width, alpha=bar_alpha, label=words)
    dots: dict[str, Any] = {} if numeric else {"ls": "none", "marker": "o", "mec": "white"}
    axis.plot(curve.x, curve.mean, color=BLUE, label=curve.word, **dots)
    finish(axis, curve.x, model, column)


def finish(axis: Axes, x: Array, model: FittedModel, column: int) -> None:
    """Name an input and its levels, over a rug of where the rows are."""
    box = model.inputs.box
    category, days = box.category(column), box.days(column)
    if category is None:
        axis.set(xlim=(x[0], x[-1]))
    else:
        name_levels(axis, category.labels)
    if days is not None:
        name_dates(axis, "x", days, x[-1])
    name_axes(axis, x=model.input_names[column])
    known = densities(model)
    if known is None:
        return
    # the private density of the input, its highest bar of one height
    edges, heights = known[column]
    bars = RUG_HEIGHT * heights / max(float(heights.max()), TINY)
    rug = StepPatch(
        bars, edges, color=GREY, alpha=0.7, lw=0, label="where the rows are",
        transform=axis.get_xaxis_transform(),
    )  # fmt: skip
    axis.add_patch(rug)


def _room_for_rug(axis: Axes) -> None:
    """Lower the bottom of the axes, for the rug."""
    low, high = axis.get_ylim()
    axis.set_ylim(low - 1.2 * RUG_HEIGHT * (high - low), high)


def _grid(box: Box, column: int, points: int) -> Array:
    """Return values of one input from bound to bound, or all of a category."""
    category = box.category(column)
    count = points if category is None else len(category.levels)
    return np.linspace(box.low[column], box.high[column], count)


def swept(model: FittedModel, column: int, others: Array) -> tuple[Array, Array]:
    """Return values of one input, all of a category, and unit inputs with the others held."""
    box = model.inputs.box
    x = _grid(box, column, CURVE_POINTS)
    X = np.tile(others, (len(x), 1))
    X[:, column] = x
    return x, model.inputs(X)


def _along(model: FittedModel, k: int, column: int, others: Array) -> Bands:
    """Return mean and bands along one input, with the others held."""
    x, U = swept(model, column, others)
    mean, _ = model.mean_and_std(k, U)
    of_function = np.array(model.function_interval(k, U, COVERAGE))
    shown = model.outcome.shows_observations
    of_observations = np.array(model.observation_interval(k, U, COVERAGE)) if shown else None
    mean, word = model.within_bounds(k, mean), model.outcome.mean_word
    return Bands(x, mean, of_function, of_observations, word)


def draw_centiles(
    model: FittedModel, ax: Any = None, target: int | str | None = None
) -> Axes | list[Axes]:
    """Draw the centiles of one input as a chart, of more along each with the others held."""
    k, columns = model.chosen_target(target), list(range(model.options.columns))
    if len(columns) > MOST_BY_ORDER:
        columns = [curve.column for curve in what_matters(model, k).curves]
    others = typical_inputs(model)
    with shown_style():
        rows = -(-len(columns) // PANELS_A_ROW)
        wide = (3.5 * min(len(columns), PANELS_A_ROW), 3.0 * rows + 0.6)
        size = (6.4, 4.4) if len(columns) == 1 else wide
        axes = panel_axes(ax, len(columns), size)
        for axis, column in zip(axes, columns, strict=True):
            _draw_chart(axis, centiles_along(model, k, column, others), model, column)
        for row in _rows_of(axes):
            name_axes(row[0], y=model.target_in_words(k))
        _room_for_rug(axes[0])
        if ax is None:
            make_room(_rows_of(axes))
        if len(columns) > 1 and ax is None:
            below = f"{BELOW_LINES} {held_in_words(model, others)}"
            caption_below(axes[0].figure, below)  # type: ignore[arg-type]
    return axes[0] if len(columns) == 1 else axes


def centiles_along(model: FittedModel, k: int, column: int, others: Array) -> Centiles:
    """Return the centiles of a growth chart along one input, with the others held."""
    x, U = swept(model, column, others)
    law = model.observations(k, U)
    return Centiles(x, CENTILES, np.array([law.quantile(level) for level in CENTILES]))


def _draw_chart(axis: Axes, chart: Centiles, model: FittedModel, column: int) -> None:
    """Draw one line a centile, named at its right end, the median thickest."""
    category = model.inputs.box.category(column)
    style: dict[str, Any] = {} if category is None else {"marker": "o", "ls": "none", "ms": 4}
    for level, values in zip(chart.levels, chart.values, strict=True):
        far = abs(level - 0.5)
        width, alpha = (2.2, 1.0) if far == 0 else (1.3, 1.0 - 1.1 * far)
        axis.plot(chart.x, values, color=BLUE, lw=width, alpha=alpha, **style)
    finish(axis, chart.x, model, column)
    low, high = axis.get_ylim()
    heights = _apart(chart.values[:, -1], LINE_HEIGHT * (high - low))
    place: Any = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
    for level, height in zip(chart.levels, heights, strict=True):
        end = (chart.x[-1], height)
        axis.annotate(f"{100 * level:g}", end, color=INK, fontsize=8, **place)


def _apart(ends: Array, gap: float) -> Array:
    """Return increasing heights moved apart to the gap, about where they were."""
    places = np.arange(len(ends)) * gap
    # of y_k − k·gap, the running maximum from below and the running minimum from above
    up = np.maximum.accumulate(ends - places) + places
    down = np.minimum.accumulate((ends - places)[::-1])[::-1] + places
    return np.asarray((up + down) / 2)


def held_in_words(model: FittedModel, others: Array) -> str:
    """Say at which values the other inputs are held."""
    box, names = model.inputs.box, model.input_names
    texts = [
        f"{name} = {box.in_words(column, value, '.3g')}"
        for column, (name, value) in enumerate(zip(names, others, strict=True))
    ]
    return f"Other inputs held at {', '.join(texts)}."
