"""What matters, in short and at length: importance, interactions, curves along the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from dpgp.arithmetic import TINY
from dpgp.dates import Days
from dpgp.effects.importance import WhatMatters
from dpgp.effects.records import Effect, Importance
from dpgp.effects.reliability import told_reliability
from dpgp.markup import Markup, element, join, paragraph
from dpgp.model.input_model import Density, densities
from dpgp.report.html.tables import facts, share_bar, table
from dpgp.report.names import date_ticks, level_names

NAMED = 3
"""Inputs that are named in short."""

EXPLAINED = (
    "R² is the share of the variance of new observations that the mean explains, by what was "
    "released about residuals and over the private model of the inputs, with a 95\u00a0% interval."
)
IMPORTANT = (
    "Behind an input stands the share of the function's variance that it has a part in; what "
    "inputs do together counts for each of them."
)
INTRODUCTION = (
    "How much of the variance of the function is due to an input: in total, with all that it does "
    "together with others, and alone. Inputs are taken to be independent, each as its private "
    "marginal says."
)
HOW_TO_READ = (
    "Curves are averages of the function along one input, over the private model of all others, "
    "with 95\u00a0% bands; the grey strip shows where the data are. All of it follows from numbers "
    "that were released, and is about the function before it is cut to the bounds of the target. "
    "It says what the model does, not what causes what."
)

WIDTH, HEIGHT = 320, 230  # of a panel with a curve, where it stands, and the strip below it
RIGHT, TOP, BOTTOM = 312, 12, 178
STRIP = 7
LONGEST_NAME = 36
LETTER, LINE = 7.0, 14.0  # of the name of a level, most often less
MARGIN = 0.05  # of the range of all bands, above and below
TABLE_EVERY = 4  # points of a curve of which one is in its table


def summary(found: Sequence[WhatMatters]) -> Markup:
    """Return R² and the most important inputs of every target."""
    several = found[0].model.options.columns > 1
    parts = []
    for each in found:
        importance, share = each.importance, each.model.explained(target=each.target)
        words = "explained (R²)" if len(found) == 1 else f"{importance.target}: explained (R²)"
        known = [(words, f"about {share}")]
        told = told_reliability(each.model)
        if told is not None:
            known.append(("AUC", f"about {told.auc_in_words}"))
        if importance.may_be_constant:
            parts.append(paragraph(importance.to_be_explained))
        elif several:
            pairs = list(zip(importance.inputs, importance.total, strict=True))
            named = ", ".join(f"{name} ({total.percent})" for name, total in pairs[:NAMED])
            known.append(("most important inputs", named))
        parts.append(facts(known))
    shares = several and not all(each.importance.may_be_constant for each in found)
    words = f"{EXPLAINED} {IMPORTANT}" if shares else EXPLAINED
    return join([*parts, paragraph(words, class_="quiet")])


def effects(found: Sequence[WhatMatters]) -> Markup:
    """Return the section with what matters for every target; nothing where there is one input."""
    if not found or found[0].model.options.columns == 1:
        return Markup("")
    parts = [paragraph(INTRODUCTION)]
    for each in found:
        heading = [] if len(found) == 1 else [element("h3", each.importance.target)]
        parts += [*heading, _importance(each.importance), _interactions(each), _curves(each)]
    parts.append(paragraph(HOW_TO_READ, class_="quiet"))
    heading_of_all = element("h2", "What matters", id="matters")
    return element("section", heading_of_all, *parts, aria_labelledby="matters")


def _importance(importance: Importance) -> Markup:
    if importance.may_be_constant:
        return paragraph(importance.to_be_explained)
    rows = []
    for name, total, first in zip(
        importance.inputs, importance.total, importance.first, strict=True
    ):
        label = f"{name}: {total.percent}, between {total.interval}"
        bar = share_bar(total.value, total.low, total.high, label)
        rows.append((name, bar, total.percent, total.interval, first.percent, first.interval))
    headings = ("input", "from 0 to 100 %", "in total", "95 % interval", "alone", "95 % interval")
    shares = table(f"Share of the variance of {importance.target}", headings, rows)
    return join([paragraph(importance.to_be_explained), shares])


def _interactions(found: WhatMatters) -> Markup:
    answer = found.sensitivity.interactions()
    headings, cells = answer.text_table()
    if answer.may_be_constant:
        return Markup("")
    if not cells:
        return paragraph(answer.note)
    rows = [(f"{first} with {second}", *rest) for first, second, *rest in cells]
    caption = "Inputs that act together: share of the variance that changes with both"
    return table(caption, ("inputs", *headings[2:]), rows)


def _curves(found: WhatMatters) -> Markup:
    known, frame = densities(found.model), _frame_of([curve.along for curve in found.curves])
    figures = []
    for curve in found.curves:
        density = None if known is None else known[curve.column]
        headings, cells = curve.along.text_table()
        numbers = table(curve.along.title, headings, cells[::TABLE_EVERY])
        details = element("details", element("summary", "The numbers of this plot"), numbers)
        days = found.model.inputs.box.days(curve.column)
        panel = _curve_panel(curve.along, frame, found.importance.target, density, days)
        figures.append(element("figure", panel, details))
    others = paragraph(found.others, class_="quiet") if found.others else ""
    return join([element("div", *figures, class_="panels"), others])


class Frame(NamedTuple):
    """The vertical axis that all panels share, and where it stands."""

    low: float
    high: float
    ticks: list[float]
    left: float

    def y(self, value: float) -> float:
        """Return the height of a value in the picture."""
        return BOTTOM - (BOTTOM - TOP) * (value - self.low) / (self.high - self.low)


def _frame_of(curves: Sequence[Effect]) -> Frame:
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


def _named_ticks(
    low: float, high: float, days: Days | None, left: float
) -> list[tuple[float, str]]:
    if days is not None:
        return date_ticks(days, high, int((RIGHT - left) / LETTER))
    return [(tick, _number(tick)) for tick in _ticks(low, high)]


def _curve_panel(
    curve: Effect, frame: Frame, target: str, density: Density | None, days: Days | None
) -> Markup:
    """Draw one curve; its input is the one that was set."""
    ((name, x),) = curve.at.items()
    levels = [str(level) for level in x] if x.dtype.kind == "U" else []
    x = np.arange(len(x)) if levels else x if days is None else days.of_array(x)
    low, high = (-0.5, len(x) - 0.5) if levels else (float(x[0]), float(x[-1]))

    def at(value: float) -> float:
        return frame.left + (RIGHT - frame.left) * (value - low) / (high - low)

    xs = [at(float(value)) for value in x]
    upper, lower, mean = (
        [frame.y(value) for value in part] for part in (curve.upper, curve.lower, curve.mean)
    )
    drawn = _level_bars if levels else _band_and_line
    names, more = _level_ticks(xs, levels) if levels else ([], 0.0)
    height = HEIGHT + more
    parts = [
        *_vertical_axis(frame, target),
        *drawn(xs, lower, mean, upper),
        *([] if density is None else _strip(density, at)),
        f'<line class="axis" x1="{frame.left:.1f}" x2="{RIGHT}" y1="{BOTTOM}" y2="{BOTTOM}"/>',
        *(
            names
            or (
                _tick(at(place), words)
                for place, words in _named_ticks(low, high, days, frame.left)
            )
        ),
        f'<text class="name" x="{(frame.left + RIGHT) / 2:.1f}" y="{height - 6:.0f}" '
        f'text-anchor="middle"><title>{escape(name)}</title>{_short(name, LONGEST_NAME)}</text>',
    ]
    words = f"{target} along {name}, on average: from {curve.mean[0]:.3g} to {curve.mean[-1]:.3g}"
    return Markup(
        f'<svg class="panel" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
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
    return _mark(x) + (
        f'<text class="label" x="{x:.1f}" y="{BOTTOM + STRIP + 19}" '
        f'text-anchor="middle">{text}</text>'
    )


def _mark(x: float) -> str:
    y = BOTTOM + STRIP
    return f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{y + 2}" y2="{y + 6}"/>'


def _level_ticks(xs: list[float], levels: list[str]) -> tuple[list[str], float]:
    """Return names under their levels, turned where they have no room, and how high they are.

    That is beyond the one line that numbers have.
    """
    room = 2.0 * (RIGHT - xs[-1])
    texts, are_turned = level_names(levels, int(room / LETTER), int(room / LINE))
    lines = [text.splitlines() for text in texts]
    most, longest = max(map(len, lines)), max(len(line) for text in lines for line in text)
    top = BOTTOM + STRIP + 8
    found = []
    for x, text in zip(xs, lines, strict=True):
        place = f'transform="translate({x:.1f} {top}) rotate(-90)" text-anchor="end"'
        first = 4.0 - LINE * (len(text) - 1) / 2
        if not are_turned:
            place = f'transform="translate({x:.1f} {top})" text-anchor="middle"'
            first = 11.0
        spans = (
            f'<tspan x="0" y="{first + LINE * k:.1f}">{escape(line)}</tspan>'
            for k, line in enumerate(text)
        )
        found.append(f'{_mark(x)}<text class="label" {place}>{"".join(spans)}</text>')
    return found, (LETTER * longest if are_turned else LINE * most) - LINE


def _strip(density: Density, at: Callable[[float], float]) -> list[str]:
    """Return bars that are darker where more of the rows are."""
    edges, heights = density
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
