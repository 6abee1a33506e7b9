"""The figure of the comparison: error against ε, one panel a task."""

from __future__ import annotations

from math import ceil, inf, isfinite
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from dpgp.report.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    epsilon_axis,
    panels,
    styled,
)
from dpgp_experiments import arena_methods as methods
from dpgp_experiments.arena_methods import EPSILONS
from dpgp_experiments.arena_results import TITLES, Groups, series

MEASURE = "rmse_over_sd"
TICKS = (0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5)
HIGHEST = 1.6  # what is far worse than the mean would flatten all the rest


class LineLook(NamedTuple):
    """How a method is drawn."""

    color: str
    marker: str
    width: float = 1.4
    line: str = "-"


LOOKS = {
    methods.MEAN.name: LineLook(GREY, "", line=":"),
    methods.QUADRATIC.name: LineLook(SKY, ">", line="--"),
    methods.LINEAR.name: LineLook(SKY, "<"),
    methods.BOOSTED_ADASSP.name: LineLook(INK, "P"),
    methods.AIM.name: LineLook(ORANGE, "X", line=":"),
    methods.BOOSTED_TREES.name: LineLook(ORANGE, "v"),
    methods.DP_SGD_STANDARDISED.name: LineLook(GREEN, "*", line="--"),
    methods.DP_SGD.name: LineLook(GREEN, "^"),
    methods.DP_BBB.name: LineLook(PURPLE, "D"),
    methods.DP_EBM.name: LineLook(PURPLE, "d", line=":"),
    methods.HM21.name: LineLook(VERMILION, "s"),
    methods.OURS.name: LineLook(BLUE, "o", 2.4),
}
CEILINGS = {
    methods.OURS.name: ("ours, no privacy", BLUE, "--"),
    methods.GP.name: (methods.GP.name, INK, "--"),
    methods.BOOSTING.name: (methods.BOOSTING.name, INK, ":"),
}


@styled
def draw(groups: Groups) -> Figure:
    """Draw means over seeds with two standard errors; methods without privacy are lines."""
    tasks = list(dict.fromkeys(place.task for place in groups))
    columns = min(3, len(tasks))
    count = ceil(len(tasks) / columns)
    figure, grid = panels(count, columns, (3.9 * columns, 1.1 + 3.2 * count), share=False)
    axes = [axis for row in grid for axis in row]
    for axis, task in zip(axes, tasks, strict=False):
        _draw_task(axis, groups, task)
    for axis in axes[len(tasks) :]:
        axis.set_axis_off()
    for row in grid:
        row[0].set_ylabel("RMSE / sd of test targets")
    _add_legend(figure, axes)
    return figure


def _draw_task(axis: Axes, groups: Groups, task: str) -> None:
    for method, (label, color, line) in CEILINGS.items():
        found = series(groups, task, method, MEASURE)
        if inf in found:
            axis.axhline(found[inf].mean, color=color, ls=line, lw=1.2, label=label, zorder=1)
    for method, look in LOOKS.items():
        _draw_method(axis, groups, task, method, look)
    axis.set_title(TITLES.get(task, task))
    epsilon_axis(axis, EPSILONS)
    _set_error_axis(axis)


def _draw_method(axis: Axes, groups: Groups, task: str, method: str, look: LineLook) -> None:
    found = series(groups, task, method, MEASURE)
    line = {epsilon: value for epsilon, value in found.items() if isfinite(epsilon)}
    if line:
        axis.errorbar(
            list(line), [value.mean for value in line.values()],
            yerr=[2 * value.error for value in line.values()], color=look.color, ls=look.line,
            lw=look.width, marker=look.marker, ms=4.5, capsize=2, elinewidth=1.0, label=method,
        )  # fmt: skip


def _set_error_axis(axis: Axes) -> None:
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.set_ylim(low, min(high, HIGHEST))
    ticks = [tick for tick in TICKS if low <= tick <= min(high, HIGHEST)]
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()


def _add_legend(figure: Figure, axes: list[Axes]) -> None:
    """Put one legend over all panels, ours first."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            bare = handle[0] if isinstance(handle, ErrorbarContainer) else handle
            handles.setdefault(label, bare)
    names = [name for name in reversed(LOOKS) if name in handles]
    names += [label for label, _, _ in CEILINGS.values() if label in handles]
    figure.legend(
        [handles[name] for name in names], names, loc="outside upper center",
        ncols=ceil(len(names) / 3) if len(axes) > 2 else 3,
    )  # fmt: skip
