"""The figure of the comparison: one panel a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpgp.report.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    PURPLE,
    SKY,
    VERMILION,
    epsilon_axis,
    panels,
    styled,
)
from dpgp_experiments import (
    successor_calibration,
    successor_candidates,
    successor_function,
    successor_guard,
    successor_surveys,
)
from dpgp_experiments.calibration import LEVELS
from dpgp_experiments.successor_results import Results, Trial, estimate
from dpgp_experiments.tables import Estimate

TICKS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


class LabelledLook(NamedTuple):
    """How a method is drawn."""

    label: str
    color: str
    marker: str = "o"


OURS, THEIRS = LabelledLook("ours", BLUE), LabelledLook("HM21", VERMILION, "s")
SURVEY_LOOKS = (("o", BLUE), ("D", GREEN), ("^", PURPLE))


@styled
def draw(scores: Results) -> Figure:
    """Draw errors, coverage and bias, each with two standard errors."""
    figure, axes = panels(2, 3, (11.4, 7.0), share=False)
    (error, cover, calibration), (candidates, surveys, guard) = axes
    _draw_function_error(error, scores)
    _draw_function_coverage(cover, scores)
    _draw_calibration(calibration, scores)
    _draw_candidates(candidates, scores)
    _draw_surveys(surveys, scores)
    _draw_guard(guard, scores)
    return figure


def series(scores: Results, task: str, method: str, measure: str) -> dict[float, Estimate]:
    """Return a measure by ε."""
    found = {}
    for trial, values in scores.items():
        value = estimate(values, measure)
        if (trial.task, trial.method) == (task, method) and value is not None:
            found[trial.epsilon] = value
    return found


def _draw_function_error(axis: Axes, scores: Results) -> None:
    part = successor_function
    looks = {part.OURS: OURS, part.HM21: THEIRS._replace(label="HM21, true σ and ℓ")}
    for method, look in looks.items():
        _draw_line(axis, series(scores, part.TASK, method, "rmse"), look)
    limit = series(scores, part.TASK, part.OURS, "rmse")[inf].mean
    axis.axhline(limit, color=BLUE, lw=1.1, ls=(0, (4, 3)), label="ours, no privacy")
    axis.set_yscale("log")
    _finish(axis, "§5.1: error of f", "RMSE", TICKS)
    _plain_ticks(axis, (0.01, 0.02, 0.05, 0.1, 0.2))
    axis.legend()


def _draw_function_coverage(axis: Axes, scores: Results) -> None:
    part = successor_function
    for level in (0.5, 0.95):
        axis.axhline(level, color=INK, lw=1.1, ls=(0, (4, 3)), zorder=1)
        for method, look in {part.OURS: OURS, part.HM21: THEIRS}.items():
            line = series(scores, part.TASK, method, f"coverage_{100 * level:g}")
            shown = look if level == 0.95 else look._replace(label="")
            _draw_line(axis, {e: v for e, v in line.items() if e <= 10}, shown)
    axis.set_ylim(0.0, 1.04)
    _finish(axis, "§5.1: 50 and 95 % intervals for f", "share of x covered", TICKS[:4])
    axis.legend(loc="lower right", ncols=2)


def _draw_calibration(axis: Axes, scores: Results) -> None:
    part = successor_calibration
    axis.axhspan(-0.05, 0.10, color=SKY, alpha=0.25, lw=0, label="target")
    axis.axhline(0.0, color=INK, lw=1.1, ls=(0, (4, 3)), zorder=1)
    for method, look, shift in ((part.OURS, OURS, 0.88), (part.HM21, THEIRS, 1.14)):
        points = list(_deviations(scores, method))
        axis.plot(
            [shift * epsilon for epsilon, _ in points], [y for _, y in points],
            ls="", marker=look.marker, color=look.color, ms=4.5, alpha=0.6, mew=0,
            label=look.label,
        )  # fmt: skip
    axis.set_ylim(-0.72, 0.32)
    _finish(axis, "§5.2: 50, 80 and 95 % intervals, four σ", "observed minus nominal", TICKS[:4])
    axis.legend(loc="upper right", ncols=3, columnspacing=1.0)


def _deviations(scores: Results, method: str) -> Iterable[tuple[float, float]]:
    for task in successor_calibration.TASKS:
        for level in LEVELS:
            line = series(scores, task, method, f"coverage_{100 * level:g}")
            for epsilon, value in line.items():
                yield epsilon, value.mean - level


def _draw_candidates(axis: Axes, scores: Results) -> None:
    part = successor_candidates
    published, renyi = part.ALGORITHM_2.values()
    looks = {
        part.OURS: OURS,
        published: LabelledLook(published, VERMILION, "s"),
        renyi: LabelledLook(renyi, GREY, "^"),
    }
    for method, look in looks.items():
        _draw_line(axis, series(scores, part.TASK, method, "rmse"), look)
    axis.set_yscale("log")
    axis.set_ylim(top=1.2)
    _finish(axis, "§5.3: error of f, nine candidates", "RMSE", TICKS[:5])
    _plain_ticks(axis, (0.01, 0.03, 0.1, 0.3))
    axis.legend(loc="upper right")


def _draw_surveys(axis: Axes, scores: Results) -> None:
    names = _surveys(scores)
    for name, (marker, color) in zip(names, SURVEY_LOOKS, strict=False):
        line = series(scores, name, successor_surveys.METHOD, "rmse")
        _draw_line(axis, line, LabelledLook(name, color, marker))
        axis.axhline(line[inf].mean, color=color, lw=1.1, ls=(0, (4, 3)))
    axis.set_ylim(0.0, 1.0)
    _finish(axis, "height (dashed: no privacy)", "RMSE / sd of test heights", TICKS[:3])
    axis.legend(loc="upper right")


def _surveys(scores: Results) -> list[str]:
    known = successor_surveys.SURVEYS
    return [name for name in known if any(trial.task == name for trial in scores)]


def _draw_guard(axis: Axes, scores: Results) -> None:
    part = successor_guard
    axis.axvspan(-0.004, 0.004, color=SKY, alpha=0.25, lw=0, label="target")
    axis.axvline(0.0, color=INK, lw=1.1, ls=(0, (4, 3)), zorder=1)
    few, many = part.ROWS
    _draw_biases(
        axis, scores, few, part.UNGUARDED, LabelledLook(f"n = {few:,}, no guard", GREY, "s")
    )
    _draw_biases(axis, scores, few, part.GUARDED, LabelledLook(f"n = {few:,}", BLUE))
    _draw_biases(axis, scores, many, part.GUARDED, LabelledLook(f"n = {many:,}", GREEN, "D"))
    axis.set_yticks(range(len(part.LAWS)), list(part.LAWS))
    axis.set_ylim(len(part.LAWS) - 0.5, -0.5)
    axis.set_title("skewed noise, ε = 1: bias of f")
    axis.set_xlim(-0.014, 0.006)
    axis.set_xticks((-0.012, -0.008, -0.004, 0.0, 0.004))
    axis.set_xlabel("mean over x of estimate − f")
    axis.legend(loc="upper left")


def _draw_biases(axis: Axes, scores: Results, rows: int, method: str, look: LabelledLook) -> None:
    part, shift = successor_guard, {"s": -0.22, "o": 0.0, "D": 0.22}[look.marker]
    for place, law in enumerate(part.LAWS):
        trial = Trial(part.task(law, rows), method, part.EPSILON, part.DELTA)
        bias = Estimate.of(score["bias"] for score in scores[trial])
        axis.errorbar(
            bias.mean, place + shift, xerr=2 * bias.error, ls="", color=look.color,
            marker=look.marker, ms=4.5, capsize=2.5, elinewidth=1.2,
            label=None if place else look.label,
        )  # fmt: skip


def _draw_line(axis: Axes, line: Mapping[float, Estimate], look: LabelledLook) -> None:
    finite = {epsilon: value for epsilon, value in line.items() if isfinite(epsilon)}
    axis.errorbar(
        list(finite), [value.mean for value in finite.values()],
        yerr=[2 * value.error for value in finite.values()], color=look.color,
        marker=look.marker, ms=4.5, capsize=2.5, elinewidth=1.2, label=look.label or None,
    )  # fmt: skip


def _finish(axis: Axes, title: str, label: str, ticks: Sequence[float]) -> None:
    axis.set_title(title)
    axis.set_ylabel(label)
    epsilon_axis(axis, ticks)


def _plain_ticks(axis: Axes, ticks: Sequence[float]) -> None:
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
