"""The demo's figure: a map of height by age and weight, and slices. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpgp.report.model_map import draw_map, little_known, surface
from dpgp.report.style import BLUE, GREEN, PURPLE, VERMILION, panels, styled
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


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
    """Draw the map to the left and slices with two-sd bands to the right."""
    figure, ((left, right),) = panels(1, 2, (10.2, 4.5), share=False)
    _draw_map(left, model)
    for piece in SLICES:
        _draw_slice(right, model, piece)
    right.set(xlabel="weight (kg)", ylabel="height (cm)", xlim=(0, 140), ylim=(80, 200))
    right.set_title("Height by weight at four ages, ± two sd")
    return figure


def _draw_map(axis: Axes, model: FittedModel) -> None:
    drawn = surface(model, 0, np.linspace(0.5, 80.0, 160), np.linspace(5.0, 140.0, 160))
    unsure = little_known(model, 0)
    draw_map(axis, drawn, np.arange(70, 186, 5), unsure, "height (cm)")
    axis.set(xlabel="age (years)", ylabel="weight (kg)")
    axis.set_title(f"Mean height (pale: its sd is above {unsure:.2g} cm)")


def _predict(model: FittedModel, X: Array) -> tuple[Array, Array]:
    import pandas as pd

    table = pd.DataFrame(X, columns=model.input_names)
    mean, std = model.predict(table, return_std=True, latent=True)
    return mean, std


def _draw_slice(axis: Axes, model: FittedModel, piece: Slice) -> None:
    weights = np.linspace(piece.low, piece.high, 80)
    mean, std = _predict(model, np.stack([np.full_like(weights, piece.age), weights], axis=-1))
    axis.fill_between(weights, mean - 2 * std, mean + 2 * std, color=piece.color, alpha=0.2, lw=0)
    axis.plot(weights, mean, color=piece.color)
    axis.annotate(
        f"age {piece.age:g}", (weights[-1], mean[-1]), (5, 0), textcoords="offset points",
        color=piece.color, va="center", fontsize=9.5,
    )  # fmt: skip
