"""The demo's figure: a map of height by age and weight, and slices. Released values only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dpgp.report.scaled_model import ScaledModel
from dpgp.report.style import BLUE, GREEN, INK, PURPLE, SEQUENTIAL, VERMILION, panels, styled

Array = NDArray[np.float64]


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
def draw_height(model: ScaledModel) -> Figure:
    """Draw the map to the left and slices with two-sd bands to the right."""
    figure, ((left, right),) = panels(1, 2, (10.2, 4.5), share=False)
    _draw_map(figure, left, model)
    for piece in SLICES:
        _draw_slice(right, model, piece)
    right.set(xlabel="weight (kg)", ylabel="height (cm)", xlim=(0, 140), ylim=(80, 200))
    right.set_title("Height by weight at four ages, ± two sd")
    return figure


def _draw_map(figure: Figure, axis: Axes, model: ScaledModel) -> None:
    ages, weights = np.linspace(0.5, 80.0, 160), np.linspace(5.0, 140.0, 160)
    mean = _mean_on_mesh(model, ages, weights)
    levels = np.arange(90, 181, 5)
    colours = axis.contourf(ages, weights, mean, levels, cmap=SEQUENTIAL, extend="both")
    lines = axis.contour(ages, weights, mean, levels[::2], colors="white", linewidths=0.8)
    axis.clabel(lines, fmt="%d", fontsize=8.5)
    points = model.unscaled_inducing_points()
    axis.plot(*points.T, "o", color="white", mec=INK, mew=0.7, ms=4)
    axis.set(xlabel=model.inputs[0].label, ylabel=model.inputs[1].label)
    axis.set(xlim=(ages[0], ages[-1]), ylim=(weights[0], weights[-1]))
    axis.set_title("Posterior mean of height (dots: inducing points)")
    axis.grid(visible=False)
    figure.colorbar(colours, ax=axis, label=model.target.label, pad=0.02)


def _mean_on_mesh(model: ScaledModel, ages: Array, weights: Array) -> Array:
    mesh = np.stack(np.meshgrid(ages, weights), axis=-1)
    mean, _ = model.predict(mesh.reshape(-1, 2))
    return mean.reshape(mesh.shape[:2])


def _draw_slice(axis: Axes, model: ScaledModel, piece: Slice) -> None:
    weights = np.linspace(piece.low, piece.high, 80)
    mean, std = model.predict(np.stack([np.full_like(weights, piece.age), weights], axis=-1))
    axis.fill_between(weights, mean - 2 * std, mean + 2 * std, color=piece.color, alpha=0.2, lw=0)
    axis.plot(weights, mean, color=piece.color)
    axis.annotate(
        f"age {piece.age:g}", (weights[-1], mean[-1]), (5, 0), textcoords="offset points",
        color=piece.color, va="center", fontsize=9.5,
    )  # fmt: skip
