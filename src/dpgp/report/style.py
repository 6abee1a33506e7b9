"""One look for every figure: quiet axes, and colours that colour-blind readers can tell apart.

Names of columns and levels stand in lines that have room, and are never read as formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from textwrap import fill, wrap
from typing import Any, Final, NamedTuple, ParamSpec

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

P = ParamSpec("P")

# Okabe & Ito (2008), "Color universal design"
BLUE: Final = "#0072B2"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
ORANGE: Final = "#E69F00"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
INK: Final = "#222222"
GREY: Final = "#8A8A8A"
PALE: Final = "#C9C9C9"

SERIES: Final = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
SEQUENTIAL: Final = "viridis"

CAPTION_LETTER: Final = 0.075
"""Inches of a letter at nine points, most often less."""

WIDEST: Final = 0.95
"""Of a figure that a legend may take: letters are wider where a figure is saved with fewer dots."""

STYLE: Final[Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E8E8E8",
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "svg.hashsalt": "dpgp",
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a function that draws a figure use the house style, and leave no trace of it behind."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


@contextmanager
def shown_style() -> Iterator[None]:
    """Draw in our style, and keep that plots show: a notebook turns it on at its first figure."""
    with mpl.rc_context(STYLE):
        yield
        interactive = mpl.is_interactive()
    mpl.interactive(interactive)


def panels(
    rows: int, columns: int, size: tuple[float, float], *, share: bool = True
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure of ``size`` inches with a grid of axes, by row."""
    return _grid(Figure(figsize=size, layout="constrained"), rows, columns, share, share)


def shown_panels(rows: int, columns: int, size: tuple[float, float]) -> list[list[Axes]]:
    """Return a grid of axes that share y, in a figure that notebooks and ``plt.show`` display."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=size, layout="constrained")
    return _grid(figure, rows, columns, False, True)[1]


def _grid(
    figure: Figure, rows: int, columns: int, share_x: bool, share_y: bool
) -> tuple[Figure, list[list[Axes]]]:
    axes = figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)
    return figure, [list(row) for row in np.asarray(axes)]


def epsilon_axis(axis: Axes, epsilons: Sequence[float]) -> None:
    """Make the horizontal axis one of ε: logarithmic, with the values themselves as ticks."""
    axis.set_xscale("log")
    axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axis.minorticks_off()
    axis.set_xlabel("privacy parameter ε")


def legend_above(figure: Figure, axes: Axes) -> None:
    """Put the legend of ``axes`` over all panels, in as few lines as there is width for."""
    handles, labels = axes.get_legend_handles_labels()
    for columns in range(len(labels), 0, -1):
        legend = figure.legend(handles, labels, loc="outside upper center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= WIDEST * figure.bbox.width:
            return
        legend.remove()


def caption_below(figure: Figure, words: str) -> None:
    """Put a sentence under all panels, in lines as long as the figure is wide."""
    letters = int(figure.get_figwidth() / CAPTION_LETTER)
    figure.supxlabel(fill(words, letters), x=0.01, ha="left", fontsize=9, color=GREY)


def save_figure(
    figure: Figure, stem: Path, formats: tuple[str, ...] = ("png", "svg")
) -> list[Path]:
    """Write the figure once per format, the same bytes for the same figure; return the files."""
    paths = [stem.with_suffix(f".{kind}") for kind in formats]
    with mpl.rc_context(STYLE):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, metadata=metadata)
    return paths


LETTER, LINE = 0.083, 0.16
"""Inches of a letter and of a line at ten points, most often less."""

NAME_LINES, LEVEL_LINES = 2, 3
"""Lines of a name and of a level: more would take the place of what is drawn."""

TURNED_LETTERS = 24
"""Of a line of a level that is turned, twice as many where there is one: two inches, or three."""

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


def make_room(rows: Sequence[Sequence[Axes]]) -> None:
    """Make a figure of rows of panels as much higher as names of levels are than one line."""
    figure = rows[0][0].figure
    labels = [[text for axis in row for text in axis.get_xticklabels()] for row in rows]
    heights = [max(text.get_window_extent().height for text in row) / figure.dpi for row in labels]
    more = sum(max(height - LINE, 0.0) for height in heights)
    width, height = figure.get_size_inches()  # type: ignore[union-attr]
    figure.set_size_inches(width, height + more)  # type: ignore[union-attr]
