"""Names of columns, levels and dates in figures: where they have room, and never as formulas."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from dpgp.dates import Days

LETTER, LINE = 0.083, 0.16
"""Inches of a letter and of a line at ten points, most often less."""

NAME_LINES, LEVEL_LINES = 2, 3
"""Lines of a name and of a level: more would take the place of what is drawn."""

TURNED_LETTERS = 24
"""Of a line of a level that is turned, twice as many where there is one: two inches, or three."""

YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
"""Years between two dates along an axis."""

APART = 2  # letters between dates

MIDDLE, END, START = 0.5, 0.0, 1.0
"""Where a name is cut: the share of what is kept that stands behind the cut."""


def in_lines(name: str, letters: int, lines: int = NAME_LINES, cut: float = MIDDLE) -> str:
    """Return a name in a few lines of so many letters; what is too long is cut."""
    found = wrap(name, letters) or [name]
    kept, rest = found[: lines - 1], " ".join(found[lines - 1 :])
    if len(rest) > letters:
        tail = round(cut * (letters - 1))
        rest = f"{rest[: letters - 1 - tail]}…{rest[len(rest) - tail :]}"
    return "\n".join([*kept, rest] if rest else kept)


class LevelNames(NamedTuple):
    """Names of levels in lines, and whether they are to be turned."""

    texts: list[str]
    are_turned: bool


def level_names(levels: Sequence[str], letters: int, lines: int) -> LevelNames:
    """Return whole names side by side if so many letters of a line suffice, else turned ones.

    Those have so many ``lines`` at most.
    """
    upright = [wrap(level, max(letters, 1), break_long_words=False) for level in levels]
    if all(len(text) <= LEVEL_LINES and max(map(len, text)) <= letters for text in upright):
        return LevelNames(["\n".join(text) for text in upright], are_turned=False)
    lines = min(max(lines, 1), LEVEL_LINES)
    longest = TURNED_LETTERS if lines > 1 else 2 * TURNED_LETTERS
    return LevelNames(_told_apart(levels, longest, lines), are_turned=True)


def _told_apart(levels: Sequence[str], letters: int, lines: int) -> list[str]:
    """Return levels in lines, cut where they remain different; whole where no cut does."""
    for cut in (MIDDLE, END, START):
        found = [in_lines(level, letters, lines, cut) for level in levels]
        if len(set(found)) == len(found):
            return found
    return list(levels)


def name_axes(axis: Axes, x: str | None = None, y: str | None = None) -> None:
    """Name the axes in lines as long as they are."""
    across, up = _room(axis)
    if x is not None:
        axis.set_xlabel(_no_formula(in_lines(x, across)))
    if y is not None:
        axis.set_ylabel(_no_formula(in_lines(y, up)))


def entitle(axis: Axes, words: str) -> None:
    """Put a title over the axes, in lines as long as they are wide."""
    axis.set_title(_no_formula(in_lines(words, _room(axis)[0], lines=3)))


def _no_formula(text: str) -> str:
    return text.replace("$", r"\$")


def _room(axis: Axes) -> tuple[int, int]:
    """Return how many letters fit along both axes."""
    box = axis.get_window_extent()
    inch = axis.figure.dpi
    return int(box.width / inch / LETTER), int(box.height / inch / LETTER)


def name_levels(axis: Axes, levels: Sequence[str]) -> None:
    """Name the levels of a category: side by side where they have room, else turned."""
    axis.set(xlim=(-0.5, len(levels) - 0.5))
    inches = axis.get_window_extent().width / axis.figure.dpi / len(levels)
    texts, are_turned = level_names(levels, int(inches / LETTER), int(inches / LINE))
    labels = [_no_formula(text) for text in texts]
    axis.set_xticks(range(len(levels)), labels, rotation=90.0 if are_turned else 0.0)


def date_ticks(days: Days, high: float, letters: int) -> list[tuple[float, str]]:
    """Return where years, months or days begin from the origin on, and their names.

    As many as have room in so many letters.
    """
    first, last = days.dates(np.array([0.0, high]))
    for unit, steps in (("D", (1, 2, 7, 14)), ("M", (1, 2, 3, 6)), ("Y", YEARS)):
        start, end = (each.astype(f"datetime64[{unit}]") for each in (first, last))
        for step in steps:
            # months from January 1970, so that every third begins a quarter; years from 0
            dates = np.arange(start, end + 1)
            zero = {"D": start, "M": np.datetime64("1970-01"), "Y": np.datetime64("0000")}[unit]
            number = (dates - zero).astype(np.int64)
            at = days.of_array(dates.astype("datetime64[D]"))
            chosen = (number % step == 0) & (at >= 0.0)
            names = dates[chosen].astype(str).tolist()
            if sum(len(name) + APART for name in names) <= letters:
                return list(zip(at[chosen].tolist(), names, strict=True))
    return []


def name_dates(axis: Axes, which: str, days: Days, high: float) -> None:
    """Write dates along an axis of days, "x" or "y"."""
    across, up = _room(axis)
    ticks = date_ticks(days, high, across if which == "x" else up)
    axis.set(**{f"{which}ticks": [place for place, _ in ticks]})
    axis.set(**{f"{which}ticklabels": [name for _, name in ticks]})


def make_room(rows: Sequence[Sequence[Axes]]) -> None:
    """Make a figure of rows of panels as much higher as names of levels are than one line."""
    figure = rows[0][0].figure
    labels = [[text for axis in row for text in axis.get_xticklabels()] for row in rows]
    heights = [max(text.get_window_extent().height for text in row) / figure.dpi for row in labels]
    more = sum(max(height - LINE, 0.0) for height in heights)
    width, height = figure.get_size_inches()  # type: ignore[union-attr]
    figure.set_size_inches(width, height + more)  # type: ignore[union-attr]
