"""A reliability plot: shares of yes that were observed beside what was predicted."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dpgp.effects.reliability import told_reliability
from dpgp.markup import Markup, element, join, paragraph
from dpgp.report.html.tables import table

if TYPE_CHECKING:
    from dpgp.effects.records import Reliability
    from dpgp.model.fitted import FittedModel

SIZE, LEFT, RIGHT, TOP, BOTTOM = 320, 52, 312, 12, 272  # of the picture, and where the axes stand
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

HOW_TO_READ = "Dots on the grey line are probabilities that came true as often as they say. "


def reliability_plot(model: FittedModel) -> Markup:
    """Return plot, numbers and AUC; nothing where no labels were counted by their predictions."""
    told = told_reliability(model)
    if told is None:
        return Markup("")
    numbers = table(told.title, *told.text_table())
    details = element("details", element("summary", "The numbers of this plot"), numbers)
    figure = element("figure", _picture(told), details)
    return join(
        [
            element("h3", f"Predicted and observed: AUC {told.auc_in_words}"),
            element("div", figure, class_="panels"),
            paragraph(HOW_TO_READ + told.note, class_="quiet"),
        ]
    )


def _picture(told: Reliability) -> Markup:
    columns = zip(told.probability, told.observed, told.lower, told.upper, strict=True)
    middle = (LEFT + RIGHT) / 2
    across, up = f"predicted {told.words}", "observed share"
    turned = f'transform="translate(12 {(TOP + BOTTOM) / 2:.0f}) rotate(-90)"'
    parts = [
        *map(_grid, TICKS),
        f'<path class="axis" d="M{_x(0):.1f} {_y(0):.1f}L{_x(1):.1f} {_y(1):.1f}"/>',
        *(_dot(*each) for each in columns),
        f'<text class="name" x="{middle}" y="{SIZE - 6}" text-anchor="middle">'
        f"{escape(across)}</text>",
        f'<text class="name" text-anchor="middle" {turned}>{up}</text>',
    ]
    words = f"Observed shares of yes by {across}; AUC {told.auc_in_words}"
    return Markup(
        f'<svg class="panel" viewBox="0 0 {SIZE} {SIZE}" role="img" '
        f'aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _x(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * share


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _grid(tick: float) -> str:
    x, y = _x(tick), _y(tick)
    return (
        f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="label" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        f'<text class="label" x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{tick:g}</text>'
    )


def _dot(probability: float, observed: float, lower: float, upper: float) -> str:
    x = _x(probability)
    return (
        f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(lower):.1f}" '
        f'y2="{_y(upper):.1f}"/><circle class="dot" cx="{x:.1f}" cy="{_y(observed):.1f}" r="4"/>'
    )
