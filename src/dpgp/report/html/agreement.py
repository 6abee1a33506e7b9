"""How the releases of a pooled model differ: sentences, a table, and a line along an input."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from dpgp.markup import Markup, element, join, paragraph
from dpgp.report.html.tables import number, table

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.types import Array

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 300, 58, 392, 14, 248
"""Size of a picture, and where its axes stand."""
TICKS = 5  # at most, of an axis
BAND = 1.96  # sds: 95 %
LEVEL_WIDTH = 0.7  # of the room of a level

HOW_RELEASES_DIFFER = (
    "Every release is compared with the others at all places; here is where it stands out most. "
    "p is how likely noise alone makes as large a difference anywhere, of any release."
)
HOW_TO_READ = (
    "The best guess of the difference with a 95 % band, along the input that it changes with most; "
    "the other inputs stand still where it stands out most. On the grey line there is none."
)


def agreement(model: FittedModel) -> Markup:
    """Return how the releases of a pooled model differ from each other; nothing of others."""
    found = model.findings.get("pooled")
    if found is None:
        return Markup("")
    rows = [
        [release, target, f"{number(difference)} ± {number(sd, 2)}", f"{z:.1f}", number(p, 2)]
        for release, target, z, p, difference, sd, *_ in found["differences"]
    ]
    lines = found.get("along", ())  # older files have none
    figures = [_figure(model, line) for line in lines if line["input"] in model.input_names]
    drawn = element("div", join(figures), class_="panels") if figures else Markup("")
    return join(
        [
            element("h3", "Do the releases agree?"),
            paragraph(found["agreement"], class_="lead"),
            drawn,
            paragraph(HOW_TO_READ, class_="quiet") if figures else Markup(""),
            table("Releases against the others", ("release", "of", "differs by", "z", "p"), rows),
            paragraph(HOW_RELEASES_DIFFER, class_="quiet"),
        ]
    )


def _figure(model: FittedModel, line: Mapping[str, Any]) -> Markup:
    """Return a picture of one line, with its words."""
    told = f"{line['release']}: {line['target']} differs by {line['input']}"
    return element("figure", _Picture(model, line).drawn(told), element("figcaption", told))


class _Picture:
    """Axes of a line, and what is drawn on them."""

    def __init__(self, model: FittedModel, line: Mapping[str, Any]) -> None:
        self.input, self.target = str(line["input"]), str(line["target"])
        self.box, self.column = model.options.box, model.input_names.index(self.input)
        self.is_category = self.box.category(self.column) is not None
        at, difference, sd = (np.asarray(line[name]) for name in ("at", "difference", "sd"))
        self.at, self.middle = at, difference
        self.low, self.high = difference - BAND * sd, difference + BAND * sd
        ends = [min(0.0, float(self.low.min())), max(0.0, float(self.high.max()))]
        room = LEVEL_WIDTH / 2 if self.is_category else 0.0
        self.across = float(at.min()) - room, float(at.max()) + room
        self.up = MaxNLocator(TICKS).tick_values(*ends)

    def drawn(self, words: str) -> Markup:
        """Return the picture."""
        content = "".join(
            [*self._axes(), *self._levels()] if self.is_category else [*self._axes(), *self._band()]
        )
        return Markup(
            f'<svg class="panel" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(words)}">{content}</svg>'
        )

    def _x(self, value: float) -> float:
        low, high = self.across
        return LEFT + (RIGHT - LEFT) * (value - low) / (high - low)

    def _y(self, value: float) -> float:
        low, high = float(self.up[0]), float(self.up[-1])
        return BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low)

    def _axes(self) -> list[str]:
        """Draw grid, ticks and names of both axes, and the line of no difference."""
        ticks = self.at if self.is_category else MaxNLocator(TICKS).tick_values(*self.across)
        within = [t for t in ticks if self.across[0] <= t <= self.across[1]]
        parts = [
            f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{self._y(t):.1f}" '
            f'y2="{self._y(t):.1f}"/><text class="label" x="{LEFT - 6}" '
            f'y="{self._y(t) + 4:.1f}" text-anchor="end">{t:g}</text>'
            for t in self.up
        ]
        parts += [
            f'<text class="label" x="{self._x(t):.1f}" y="{BOTTOM + 18}" text-anchor="middle">'
            f"{escape(self.box.in_words(self.column, t))}</text>"
            for t in within
        ]
        turned = f'transform="translate(12 {(TOP + BOTTOM) / 2:.0f}) rotate(-90)"'
        parts += [
            f'<path class="axis" d="M{LEFT} {self._y(0):.1f}H{RIGHT}"/>',
            f'<text class="name" x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
            f"{escape(self.input)}</text>",
            f'<text class="name" text-anchor="middle" {turned}>'
            f"difference in {escape(self.target)}</text>",
        ]
        return parts

    def _band(self) -> list[str]:
        """Draw the best guess and its band as lines over numbers."""
        there, back = self._path(self.at, self.high), self._path(self.at[::-1], self.low[::-1])
        return [
            f'<path class="band function" d="M{there}L{back}Z"/>',
            f'<path class="mean" d="M{self._path(self.at, self.middle)}"/>',
        ]

    def _path(self, at: Array, values: Array) -> str:
        points = zip(at, values, strict=True)
        return "L".join(f"{self._x(x):.1f} {self._y(y):.1f}" for x, y in points)

    def _levels(self) -> list[str]:
        """Draw a dot and its interval for every level."""
        columns = zip(self.at, self.middle, self.low, self.high, strict=True)
        return [
            f'<line class="range" x1="{self._x(x):.1f}" x2="{self._x(x):.1f}" '
            f'y1="{self._y(low):.1f}" y2="{self._y(high):.1f}"/>'
            f'<circle class="dot" cx="{self._x(x):.1f}" cy="{self._y(middle):.1f}" r="4"/>'
            for x, middle, low, high in columns
        ]
