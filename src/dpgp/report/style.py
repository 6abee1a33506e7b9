"""One look for every figure: quiet axes, and colours that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import Any, Final, ParamSpec

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
