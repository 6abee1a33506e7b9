"""Tables of the page, and small still pictures for their cells, in colours of the style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from dpgp.markup import Markup, element, join
from dpgp.types import Array

STRIP_WIDTH, STRIP_HEIGHT, STRIP_MARGIN = 180, 22, 5
REACH = 10.0
"""Draws are shown from a tenth of the median to ten times the median."""


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table whose first column names the row."""
    head = join(element("th", heading, scope="col") for heading in headings)
    content = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head)),
        element("tbody", join(_row(row) for row in rows)),
    )
    return element("div", content, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _row(cells: Sequence[str]) -> Markup:
    first, *others = cells
    return element("tr", element("th", first, scope="row"), *(element("td", c) for c in others))


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Return names with their values, as a list of definitions."""
    items = join(element("div", element("dt", name), element("dd", value)) for name, value in pairs)
    return element("dl", items, class_="facts")


def number(value: float, digits: int = 3) -> str:
    """Return a number for people: some digits, thousands apart, infinity as one sign."""
    if math.isinf(value):
        return "∞"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}"


def draws_strip(draws: Array, label: str) -> Markup:
    """Draw a tick for every draw, on a logarithmic axis around the median."""
    logs = np.log(draws / np.median(draws)) / np.log(REACH)
    ticks = "".join(_vertical("tick", _x((1 + log) / 2), 5, 17) for log in np.clip(logs, -1, 1))
    return _picture(_vertical("middle", _x(0.5), 2, 20) + ticks, label)


def range_strip(value: float, low: float, high: float, largest: float, label: str) -> Markup:
    """Draw a dot at a value and a line over its range, on an axis from zero to the largest."""
    a, b, x = (_x(number / largest) for number in (low, high, value))
    line = f'<line class="range" x1="{a:.1f}" x2="{b:.1f}" y1="11" y2="11"/>'
    return _picture(f'{line}<circle class="dot" cx="{x:.1f}" cy="11" r="4"/>', label)


def share_bar(value: float, low: float, high: float, label: str) -> Markup:
    """Draw a bar from zero to a share, and a line over its interval."""
    start, x, a, b = (_x(number) for number in (0.0, value, low, high))
    bar = f'<rect class="bar" x="{start:.1f}" width="{x - start:.1f}" y="5" height="12"/>'
    line = f'<line class="interval" x1="{a:.1f}" x2="{b:.1f}" y1="11" y2="11"/>'
    return _picture(bar + line, label)


def _x(share: float) -> float:
    return STRIP_MARGIN + (STRIP_WIDTH - 2 * STRIP_MARGIN) * share


def _vertical(kind: str, x: float, top: int, bottom: int) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'


def _picture(content: str, label: str) -> Markup:
    return Markup(
        f'<svg class="strip" viewBox="0 0 {STRIP_WIDTH} {STRIP_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}"><line class="rule" x1="0" x2="{STRIP_WIDTH}" y1="11" '
        f'y2="11"/>{content}</svg>'
    )
