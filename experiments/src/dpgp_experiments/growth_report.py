"""What the growth experiment found, as records, as a table and as the paper's figure."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpgp.cli.output import TextTable
from dpgp.report.style import (
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    epsilon_axis,
    legend_above,
    panels,
    styled,
)
from dpgp_experiments.tables import Estimate, Record

OPTIMAL, GENERIC, DP_BBB, OURS = "HM21 optimal", "HM21 generic", "DP-BBB", "ours"
LOOKS = {
    OURS: (BLUE, "o"),
    DP_BBB: (ORANGE, "^"),
    OPTIMAL: (VERMILION, "s"),
    GENERIC: (GREY, "D"),
}


class HeightScore(NamedTuple):
    """How one fit did on the test half: error in cm, and mean log density of a height in cm."""

    rmse: float
    log_likelihood: float


class Runtimes(NamedTuple):
    """Seconds of one thread that one fit with its predictions takes."""

    hm21: float
    dp_bbb: float


HeightScores = dict[tuple[str, float], list[HeightScore]]


def rmse_of(scores: list[HeightScore]) -> Estimate:
    """Average the errors of repeats."""
    return Estimate.of(score.rmse for score in scores)


def log_likelihood_of(scores: list[HeightScore]) -> Estimate:
    """Average the log-likelihoods of repeats."""
    return Estimate.of(score.log_likelihood for score in scores)


def records(scores: HeightScores, delta: float) -> list[Record]:
    """Return one record for every method and ε."""
    return [
        {
            "method": method,
            "epsilon": epsilon,
            "delta": delta,
            "repeats": len(values),
            **rmse_of(values).columns("rmse"),
            **log_likelihood_of(values).columns("log_likelihood"),
        }
        for (method, epsilon), values in scores.items()
    ]


def table(scores: HeightScores, rows: int, runtimes: Runtimes) -> TextTable:
    """Return one line for every method and ε, and the runtimes below."""
    hm21, dp_bbb = runtimes
    return TextTable(
        title=f"Height of {rows:,} girls from age and weight (HM21 §5.4)",
        headings=("method", "ε", "repeats", "RMSE, cm", "log-likelihood"),
        rows=[
            [
                method,
                f"{epsilon:g}",
                str(len(values)),
                str(rmse_of(values)),
                str(log_likelihood_of(values)),
            ]
            for (method, epsilon), values in scores.items()
        ],
        caption=(
            "Means over random halves ± one standard error; real people, seeded noise. One fit: "
            f"HM21 {hm21:.3f} s, DP-BBB {dp_bbb:.1f} s, {dp_bbb / hm21:.0f} times as long "
            "(the paper: 0.11 s and 3.6 s, 33 times)."
        ),
    )


@styled
def draw(scores: HeightScores) -> Figure:
    """Draw error and log-likelihood against ε, with one standard error."""
    figure, ((error, density),) = panels(1, 2, (9.0, 3.9), share=False)
    for method, (color, marker) in LOOKS.items():
        line = {epsilon: v for (name, epsilon), v in scores.items() if name == method}
        for axis, measure in ((error, rmse_of), (density, log_likelihood_of)):
            values = [measure(v) for v in line.values()]
            axis.errorbar(
                list(line), [v.mean for v in values], yerr=[v.error for v in values],
                color=color, marker=marker, ms=4.5, capsize=2.5, elinewidth=1.2, label=method,
            )  # fmt: skip
    error.set_yscale("log")
    error.set_yticks((5, 10, 20, 40), ("5", "10", "20", "40"))
    _finish(error, "error of predicted heights", "RMSE, cm", scores)
    _finish(density, "predictive log-likelihood of a height", "mean log density", scores)
    legend_above(figure, error)
    return figure


def _finish(axis: Axes, title: str, label: str, scores: HeightScores) -> None:
    axis.set_title(title)
    axis.set_ylabel(label)
    epsilon_axis(axis, sorted({epsilon for _, epsilon in scores}))
