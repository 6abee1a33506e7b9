"""A small still picture of a curve with its band, over a strip of where the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from dpgp.arithmetic import TINY
from dpgp.effects.records import Effect
from dpgp.model.marginals import Density
from dpgp.report.html.markup import Markup

WIDTH, HEIGHT = 320, 230
RIGHT, TOP, BOTTOM = 312, 12, 178
STRIP = 7
LONGEST_NAME, LONGEST_LEVEL = 36, 9
MARGIN = 0.05  # of the range of all bands, above and below


class Frame(NamedTuple):
    """The vertical axis that all panels share, and where it stands."""

    low: float
    high: float
    ticks: list[float]
    left: float
    table_every: int = 4

    def y(self, value: float) -> float:
        """Return the height of a value in the picture."""
        return BOTTOM - (BOTTOM - TOP) * (value - self.low) / (self.high - self.low)


def frame_of(curves: Sequence[Effect]) -> Frame:
    """Return an axis that holds the bands of all curves."""
    low, high = min(c.lower.min() for c in curves), max(c.upper.max() for c in curves)
    margin = max(MARGIN * float(high - low), TINY)
    low, high = float(low) - margin, float(high) + margin
    ticks = _ticks(low, high)
    widest = max((len(_number(tick)) for tick in ticks), default=1)
    return Frame(low, high, ticks, 32.0 + 7.0 * widest)


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from ``low`` to ``high``."""
    span = 1e-9 * (high - low)
    ticks = MaxNLocator(nbins=5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low - span <= tick <= high + span]


def curve_panel(curve: Effect, frame: Frame, target: str, density: Density | None) -> Markup:
    """Draw one curve; its input is the one that was set."""
    ((name, x),) = curve.at.items()
    levels = [str(level) for level in x] if x.dtype.kind == "U" else []
    x = np.arange(len(x)) if levels else x
    low, high = (-0.5, len(x) - 0.5) if levels else (float(x[0]), float(x[-1]))

    def at(value: float) -> float:
        return frame.left + (RIGHT - frame.left) * (value - low) / (high - low)

    xs = [at(float(value)) for value in x]
    upper, lower, mean = (
        [frame.y(value) for value in part] for part in (curve.upper, curve.lower, curve.mean)
    )
    drawn = _level_bars if levels else _band_and_line
    parts = [
        *_vertical_axis(frame, target),
        *drawn(xs, lower, mean, upper),
        *([] if density is None else _strip(density, at)),
        f'<line class="axis" x1="{frame.left:.1f}" x2="{RIGHT}" y1="{BOTTOM}" y2="{BOTTOM}"/>',
        *(
            (
                _tick(place, _short(text, LONGEST_LEVEL))
                for place, text in zip(xs, levels, strict=True)
            )
            if levels
            else (_tick(at(tick), _number(tick)) for tick in _ticks(low, high))
        ),
        _name((frame.left + RIGHT) / 2, HEIGHT - 6, name),
    ]
    words = f"{target} along {name}, on average: from {curve.mean[0]:.3g} to {curve.mean[-1]:.3g}"
    return Markup(
        f'<svg class="panel" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _vertical_axis(frame: Frame, target: str) -> list[str]:
    lines = []
    for tick in frame.ticks:
        y = frame.y(tick)
        lines.append(
            f'<line class="grid" x1="{frame.left:.1f}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="label" x="{frame.left - 6:.1f}" y="{y + 4:.1f}" '
            f'text-anchor="end">{_number(tick)}</text>'
        )
    middle = (TOP + BOTTOM) / 2
    place = f'transform="translate(12 {middle:.0f}) rotate(-90)"'
    return [*lines, f'<text class="name" text-anchor="middle" {place}>{_short(target, 22)}</text>']


def _band_and_line(
    xs: list[float], lower: list[float], mean: list[float], upper: list[float]
) -> list[str]:
    band = _path([*zip(xs, upper, strict=True), *reversed(list(zip(xs, lower, strict=True)))])
    return [
        f'<path class="band function" d="{band}Z"/>',
        f'<path class="mean" d="{_path(list(zip(xs, mean, strict=True)))}"/>',
    ]


def _level_bars(
    xs: list[float], lower: list[float], mean: list[float], upper: list[float]
) -> list[str]:
    """Return a bar and a short line for every level of a category."""
    return [
        f'<path class="band function" d="M{x - 6:.1f} {low:.1f}h12V{high:.1f}h-12Z"/>'
        f'<path class="mean" d="M{x - 9:.1f} {middle:.1f}h18"/>'
        for x, low, middle, high in zip(xs, lower, mean, upper, strict=True)
    ]


def _tick(x: float, text: str) -> str:
    return (
        f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{BOTTOM + STRIP + 2}" '
        f'y2="{BOTTOM + STRIP + 6}"/><text class="label" x="{x:.1f}" y="{BOTTOM + STRIP + 19}" '
        f'text-anchor="middle">{text}</text>'
    )


def _name(x: float, y: float, name: str) -> str:
    text = f"<title>{escape(name)}</title>{_short(name, LONGEST_NAME)}"
    return f'<text class="name" x="{x:.1f}" y="{y}" text-anchor="middle">{text}</text>'


def _strip(density: Density, at: Callable[[float], float]) -> list[str]:
    """Return bars that are darker where more of the rows are."""
    edges, heights = (np.asarray(density[part]) for part in ("edges", "heights"))
    shares = np.sqrt(heights / max(float(heights.max()), TINY))
    return [
        f'<rect class="where" x="{at(a):.1f}" width="{at(b) - at(a):.2f}" y="{BOTTOM + 1}" '
        f'height="{STRIP}" fill-opacity="{0.08 + 0.67 * share:.2f}"/>'
        for a, b, share in zip(edges, edges[1:], shares, strict=False)
        if share > 0.04
    ]


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _short(name: str, most: int) -> str:
    return escape(name if len(name) <= most else f"{name[: most - 1]}…")


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(points))
