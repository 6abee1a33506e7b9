"""Small still pictures for the cells of tables. Colours are the style sheet's."""

from __future__ import annotations

from html import escape

import numpy as np

from dpgp.types import Array

WIDTH, HEIGHT, MARGIN = 180, 22, 5
REACH = 10.0
"""Draws are shown from a tenth of the median to ten times the median."""


def draws_strip(draws: Array, label: str) -> str:
    """Draw a tick for every draw, on a logarithmic axis around the median."""
    logs = np.log(draws / np.median(draws)) / np.log(REACH)
    ticks = "".join(_vertical("tick", _x((1 + log) / 2), 5, 17) for log in np.clip(logs, -1, 1))
    return _picture(_vertical("middle", _x(0.5), 2, 20) + ticks, label)


def range_strip(value: float, low: float, high: float, largest: float, label: str) -> str:
    """Draw a dot at a value and a line over its range, on an axis from zero to the largest."""
    a, b, x = (_x(number / largest) for number in (low, high, value))
    line = f'<line class="range" x1="{a:.1f}" x2="{b:.1f}" y1="11" y2="11"/>'
    return _picture(f'{line}<circle class="dot" cx="{x:.1f}" cy="11" r="4"/>', label)


def share_bar(value: float, low: float, high: float, label: str) -> str:
    """Draw a bar from zero to a share, and a line over its interval."""
    start, x, a, b = (_x(number) for number in (0.0, value, low, high))
    bar = f'<rect class="bar" x="{start:.1f}" width="{x - start:.1f}" y="5" height="12"/>'
    line = f'<line class="interval" x1="{a:.1f}" x2="{b:.1f}" y1="11" y2="11"/>'
    return _picture(bar + line, label)


def _x(share: float) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * share


def _vertical(kind: str, x: float, top: int, bottom: int) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'


def _picture(content: str, label: str) -> str:
    return (
        f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label)}"><line class="rule" x1="0" x2="{WIDTH}" y1="11" y2="11"/>'
        f"{content}</svg>"
    )
