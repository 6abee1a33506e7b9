"""Centile charts of new observations: how far they scatter at each x. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from dpgp.effects.summary import what_matters
from dpgp.export.specify import chosen_target
from dpgp.model.centiles import CENTILES
from dpgp.report.model_plot import (
    CURVE_POINTS,
    PANELS_A_ROW,
    draw_rug,
    input_label,
    label,
    make_room,
    name_levels,
    panel_axes,
    typical_inputs,
)
from dpgp.report.style import BLUE, INK, caption_below, shown_style
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


LINE_HEIGHT = 0.036
"""Of the height of a panel, for the number of one centile."""

MOST_BY_ORDER = 3
"""Inputs up to which all are drawn, in their order; of more, the most important ones."""


class Centiles(NamedTuple):
    """Values along one input, one row a level."""

    x: Array
    levels: tuple[float, ...]
    values: Array


def draw_centiles(
    model: FittedModel, ax: Any = None, target: int | None = None
) -> Axes | list[Axes]:
    """Draw the centiles of one input as a chart, of more along each with the others held."""
    k, columns = chosen_target(model, target), _columns(model, target)
    others = typical_inputs(model)
    with shown_style():
        size = (6.4, 4.4) if len(columns) == 1 else (3.5 * min(len(columns), PANELS_A_ROW), 3.6)
        axes = panel_axes(ax, len(columns), size)
        for axis, column in zip(axes, columns, strict=True):
            _draw(axis, centiles_along(model, k, column, others), model, column)
        axes[0].set_ylabel(label(model, k))
        make_room(axes[0])
        if len(columns) > 1 and ax is None:
            caption_below(axes[0].figure, _held(model, others))  # type: ignore[arg-type]
    return axes[0] if len(columns) == 1 else axes


def _columns(model: FittedModel, target: int | None) -> list[int]:
    count = model.options.columns
    if count <= MOST_BY_ORDER:
        return list(range(count))
    return [curve.column for curve in what_matters(model, chosen_target(model, target)).curves]


def centiles_along(model: FittedModel, k: int, column: int, others: Array) -> Centiles:
    """Return the centiles of a growth chart along one input, with the others held."""
    box = model.inputs.box
    points = CURVE_POINTS if box.category(column) is None else round(box.high[column]) + 1
    x = np.linspace(box.low[column], box.high[column], points)
    X = np.tile(others, (len(x), 1))
    X[:, column] = x
    law = model.observations(k, model.inputs(X))
    return Centiles(x, CENTILES, np.array([law.quantile(level) for level in CENTILES]))


def _draw(axis: Axes, chart: Centiles, model: FittedModel, column: int) -> None:
    """Draw one line a centile, named at its right end, the median thickest."""
    category = model.inputs.box.category(column)
    style: dict[str, Any] = {} if category is None else {"marker": "o", "ls": "none", "ms": 4}
    for level, values in zip(chart.levels, chart.values, strict=True):
        far = abs(level - 0.5)
        width, alpha = (2.2, 1.0) if far == 0 else (1.3, 1.0 - 1.1 * far)
        axis.plot(chart.x, values, color=BLUE, lw=width, alpha=alpha, **style)
    if category is None:
        axis.set(xlim=(chart.x[0], chart.x[-1]))
    else:
        name_levels(axis, category)
    _name_lines(axis, chart)
    axis.set(xlabel=input_label(model, column))
    draw_rug(axis, model, column)


def _name_lines(axis: Axes, chart: Centiles) -> None:
    """Write the number of every centile beside the end of its line, none over another."""
    low, high = axis.get_ylim()
    heights = _apart(chart.values[:, -1], LINE_HEIGHT * (high - low))
    for level, height in zip(chart.levels, heights, strict=True):
        place = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        words = f"{100 * level:g}"
        axis.annotate(words, (chart.x[-1], height), color=INK, fontsize=8, **place)  # type: ignore[arg-type]


def _apart(ends: Array, gap: float) -> Array:
    """Return increasing heights moved apart to the gap, about where they were."""
    places = np.arange(len(ends)) * gap
    # of y_k − k·gap, the running maximum from below and the running minimum from above
    up = np.maximum.accumulate(ends - places) + places
    down = np.minimum.accumulate((ends - places)[::-1])[::-1] + places
    return np.asarray((up + down) / 2)


def _held(model: FittedModel, others: Array) -> str:
    """Say at which values the other inputs are held."""
    box, names = model.inputs.box, model.input_names
    kinds = [box.category(column) for column in range(len(names))]
    texts = [
        f"{name} = {format(value, '.3g') if kind is None else kind.labels[round(value)]}"
        for name, value, kind in zip(names, others, kinds, strict=True)
    ]
    return (
        "Percentages of new observations below each line. Other inputs held at "
        + ", ".join(texts)
        + "."
    )
