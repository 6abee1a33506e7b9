"""Maps of a fitted model over two inputs. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from dpgp.report.style import INK, SEQUENTIAL
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


ROWS_PER_CALL = 2000  # bounds the memory of a map
MAP_POINTS = 81  # an axis: smooth contours on a screen
SHADE = "#00000066"
LITTLE_KNOWN = 0.5
"""A map is pale where the mean is uncertain by more than this share of an observation's noise."""


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
    return LITTLE_KNOWN * float(model.options.target_box.half_width[target] * noise)


def draw_two_inputs(
    model: FittedModel, axis: Axes, k: int, inputs: tuple[str, str], target: str
) -> Axes:
    """Draw the mean over the box, and where the rows are."""
    box = model.inputs.box
    x, y = (np.linspace(box.low[n], box.high[n], MAP_POINTS) for n in (0, 1))
    drawn = surface(model, k, x, y)
    unsure = little_known(model, k)
    low, high = float(drawn.mean.min()), float(drawn.mean.max())
    levels = MaxNLocator(nbins=16, steps=[1, 2, 5, 10]).tick_values(low, high)
    draw_map(axis, drawn, levels, unsure, target)
    _draw_atoms(axis, model)
    axis.set(xlabel=inputs[0], ylabel=inputs[1], xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    axis.set_title(f"Mean of {target} (pale: its sd is above {unsure:.2g}; dots: where rows are)")
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
    axis.figure.colorbar(colours, ax=axis, label=target, pad=0.02)


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
