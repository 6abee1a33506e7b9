"""Maps of a fitted model over two inputs, and the figure of the demo. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from dpgp.report.names import entitle, in_lines, name_axes, name_dates
from dpgp.report.style import BLUE, GREEN, INK, PURPLE, SEQUENTIAL, VERMILION, panels, styled
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


ROWS_PER_CALL = 2000  # bounds the memory of a map
MAP_POINTS = 81  # an axis: smooth contours on a screen
MAP_TITLE = 50  # letters of a target in the title of a map, beside how to read it
SHADE = "#00000066"


class Surface(NamedTuple):
    """Mean of f and its standard deviation on a mesh, a row for each y."""

    x: Array
    y: Array
    mean: Array
    std: Array


def surface(model: FittedModel, k: int, x: Array, y: Array) -> Surface:
    """Return the mean of f and its standard deviation on a mesh of two inputs."""
    X = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    blocks = np.array_split(X, max(len(X) // ROWS_PER_CALL, 1))
    parts = [model.mean_and_std(k, model.inputs(block), latent=True) for block in blocks]
    mean, std = (np.concatenate(part).reshape(len(y), len(x)) for part in zip(*parts, strict=True))
    return Surface(x, y, model.within_bounds(k, mean), std)


def little_known(model: FittedModel, target: int) -> float:
    """Return the sd of the mean beyond which a map is pale, as the report's is."""
    noise = model.posteriors[target].moments.noise
    return model.outcome.little_known(float(model.options.functions.half_width[target] * noise))


def draw_two_inputs(model: FittedModel, axis: Axes, k: int) -> Axes:
    """Draw the mean over the box, and where the rows are."""
    box, (across, up) = model.inputs.box, model.input_names
    x, y = (np.linspace(box.low[n], box.high[n], MAP_POINTS) for n in (0, 1))
    drawn = surface(model, k, x, y)
    unsure = little_known(model, k)
    low, high = float(drawn.mean.min()), float(drawn.mean.max())
    levels = MaxNLocator(nbins=16, steps=[1, 2, 5, 10]).tick_values(low, high)
    name_axes(axis, across, up)
    draw_map(axis, drawn, levels, unsure, model.target_in_words(k))
    _draw_atoms(axis, model)
    axis.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    for which, days, high in zip("xy", box.dates, box.high, strict=False):
        if days is not None:
            name_dates(axis, which, days, high)
    title = in_lines(model.outcome.mean_in_words(model.target_names[k]), MAP_TITLE, 1)
    entitle(axis, f"{title} (pale: its sd is above {unsure:.2g}; dots: where rows are)")
    return axis


def draw_map(axis: Axes, drawn: Surface, levels: Any, unsure: float, target: str) -> None:
    """Draw a heat map of the mean with contour lines, pale where its sd is above ``unsure``."""
    x, y, mean, std = drawn
    inside = levels[0] <= mean.min() and mean.max() <= levels[-1]
    extend = "neither" if inside else "both"
    colours = axis.contourf(x, y, mean, levels, cmap=SEQUENTIAL, extend=extend)
    lines = _contour(axis, drawn, mean, levels[::2], colors="white")
    axis.contourf(x, y, std, [unsure, np.inf], colors="white", alpha=0.6)
    _contour(axis, drawn, std, [unsure], colors=INK, linestyles="--")
    for text in [] if lines is None else axis.clabel(lines, fmt="%g", fontsize=8.5):
        text.set_path_effects([withStroke(linewidth=2.5, foreground=SHADE)])
    axis.grid(visible=False)
    name_axes(axis.figure.colorbar(colours, ax=axis, pad=0.02).ax, y=target)


def _contour(axis: Axes, drawn: Surface, height: Array, levels: Any, **look: Any) -> Any:
    """Draw the contour lines that there are; return None where there are none."""
    crossed = [level for level in levels if height.min() < level < height.max()]
    if not crossed:
        return None
    return axis.contour(drawn.x, drawn.y, height, crossed, linewidths=0.8, **look)


def _draw_atoms(axis: Axes, model: FittedModel) -> None:
    """Draw a dot at every point of the private density, its area the number of rows there."""
    density = model.density
    if density is None:
        return
    x, y = density.points.T
    areas = 45.0 * density.weights / density.weights.max()
    axis.scatter(x, y, s=areas, color="white", alpha=0.75, lw=0.5, edgecolors=INK, clip_on=False)


class Slice(NamedTuple):
    """An age, and the weights that are common at it (public knowledge)."""

    age: float
    low: float
    high: float
    color: str


SLICES = (
    Slice(2, 9, 18, VERMILION),
    Slice(6, 15, 38, PURPLE),
    Slice(12, 27, 80, GREEN),
    Slice(40, 45, 130, BLUE),
)


@styled
def draw_height(model: FittedModel) -> Figure:
    """Draw height by age and weight: a map to the left, slices with two-sd bands to the right."""
    figure, ((left, right),) = panels(1, 2, (10.2, 4.5), share=False)
    drawn = surface(model, 0, np.linspace(0.5, 80.0, 160), np.linspace(5.0, 140.0, 160))
    unsure = little_known(model, 0)
    draw_map(left, drawn, np.arange(70, 186, 5), unsure, "height (cm)")
    left.set(xlabel="age (years)", ylabel="weight (kg)")
    left.set_title(f"Mean height (pale: its sd is above {unsure:.2g} cm)")
    for piece in SLICES:
        _draw_slice(right, model, piece)
    right.set(xlabel="weight (kg)", ylabel="height (cm)", xlim=(0, 140), ylim=(80, 200))
    right.set_title("Height by weight at four ages, ± two sd")
    return figure


def _draw_slice(axis: Axes, model: FittedModel, piece: Slice) -> None:
    import pandas as pd

    weights = np.linspace(piece.low, piece.high, 80)
    X = np.stack([np.full_like(weights, piece.age), weights], axis=-1)
    table = pd.DataFrame(X, columns=model.input_names)
    mean, std = model.predict(table, return_std=True, latent=True)
    axis.fill_between(weights, mean - 2 * std, mean + 2 * std, color=piece.color, alpha=0.2, lw=0)
    axis.plot(weights, mean, color=piece.color)
    axis.annotate(
        f"age {piece.age:g}", (weights[-1], mean[-1]), (5, 0), textcoords="offset points",
        color=piece.color, va="center", fontsize=9.5,
    )  # fmt: skip
