"""Probabilities of all classes beside each other, along the inputs. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from dpgp.effects.importance import what_matters
from dpgp.inference.conformal import COVERAGE
from dpgp.model.input_model import typical_inputs
from dpgp.report.model_plot import (
    MOST_BY_ORDER,
    PANELS_A_ROW,
    finish,
    held_in_words,
    label_panels,
    panel_axes,
    swept,
)
from dpgp.report.style import SERIES, caption_below, shown_style
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

MOST_BANDS = len(SERIES)
"""Classes that are told apart by colour and have bands; of more, lines alone differ by dashes."""

DASHES = ("-", "--", ":", "-.")


def draw_classes(model: FittedModel, ax: Any = None) -> Axes | list[Axes]:
    """Draw the probability of every class along one input, of more along each, the others held."""
    columns = list(range(model.options.columns))
    if len(columns) > MOST_BY_ORDER:
        columns = [curve.column for curve in what_matters(model, 0).curves]
    others = typical_inputs(model)
    with shown_style():
        rows = -(-len(columns) // PANELS_A_ROW)
        wide = (3.4 * min(len(columns), PANELS_A_ROW), 2.9 * rows + 0.6)
        axes = panel_axes(ax, len(columns), (6.4, 4.2) if len(columns) == 1 else wide)
        for axis, column in zip(axes, columns, strict=True):
            _draw_lines(axis, model, column, others)
            axis.set_ylim(0.0, 1.0)
        (name,) = model.predicted_names
        label_panels(axes, f"P({name} = …)", are_ours=ax is None)
        if len(columns) > 1 and ax is None:
            held = f"Bands hold 95 %. {held_in_words(model, others)}"
            caption_below(axes[0].figure, held)  # type: ignore[arg-type]
    return axes[0] if len(columns) == 1 else axes


def _draw_lines(axis: Axes, model: FittedModel, column: int, others: Array) -> None:
    """Draw a line and a band for every class, for an input of levels dots and bars side by side."""
    x, U = swept(model, column, others)
    numeric, count = model.inputs.box.category(column) is None, model.n_targets
    shifts = np.zeros(count) if numeric else np.linspace(-0.25, 0.25, count)
    for k, (mean, _) in enumerate(model.means_and_stds(U)):
        colour, dash = SERIES[k % MOST_BANDS], DASHES[k // MOST_BANDS % len(DASHES)]
        band, label = model.function_interval(k, U, COVERAGE), str(model.outcome.labels[k])
        if not numeric:
            axis.vlines(x + shifts[k], *band, color=colour, lw=2.0, alpha=0.6)
            axis.plot(x + shifts[k], mean, "o", color=colour, ms=4, label=label)
            continue
        if count <= MOST_BANDS:
            axis.fill_between(x, *band, color=colour, alpha=0.16, lw=0)
        axis.plot(x, mean, color=colour, ls=dash, label=label)
    finish(axis, x, model, column)
