"""``PrivateGPRegressor`` with its defaults on the paper's tasks, on skewed noise, and on people.

Each comparison is a module of its own: HM21 §5.1, §5.2 and §5.3, surveys, and skewed noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from dpgp.cli.output import TextTable
from dpgp_experiments import (
    successor_calibration,
    successor_candidates,
    successor_function,
    successor_guard,
    successor_surveys,
)
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import SIMULATION_NOTE
from dpgp_experiments.successor_figure import draw
from dpgp_experiments.successor_results import (
    Measures,
    Results,
    Trial,
    Trials,
    estimate,
    record,
)
from dpgp_experiments.tables import Estimate

PARTS = (
    successor_function,
    successor_calibration,
    successor_candidates,
    successor_surveys,
    successor_guard,
)
COVERAGES = ("coverage_50", "coverage_80", "coverage_95")


def run(assignment: Assignment) -> Outcome:
    """Run all parts as often as asked."""
    jobs: list[Trials] = list(chain.from_iterable(part.jobs(assignment) for part in PARTS))
    scores = assignment.collect(jobs)
    records = [record(trial, values) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), draw(scores))


def _table(scores: Results, assignment: Assignment) -> TextTable:
    calibration = {s: v for s, v in scores.items() if s.task in successor_calibration.TASKS}
    rest = [_row(s, v) for s, v in scores.items() if s not in calibration]
    return TextTable(
        title="PrivateGPRegressor with its defaults",
        headings=("task", "method", "ε", "RMSE", "50 %", "80 %", "95 %", "also"),
        rows=[*rest, *_calibration_rows(calibration)],
        caption=_caption(assignment),
    )


def _row(trial: Trial, scores: Sequence[Measures]) -> list[str]:
    coverages = (estimate(scores, name) for name in COVERAGES)
    return [
        *_names(trial),
        _text(estimate(scores, "rmse"), 4),
        *(_text(coverage, 3) for coverage in coverages),
        _also(scores),
    ]


def _names(trial: Trial) -> list[str]:
    return [trial.task, trial.method, f"{trial.epsilon:g}".replace("inf", "∞")]


def _text(value: Estimate | None, digits: int) -> str:
    return "" if value is None else f"{value.mean:.{digits}f}±{value.error:.{digits}f}"


def _also(scores: Sequence[Measures]) -> str:
    found, bias = estimate(scores, "found"), estimate(scores, "bias")
    if found is not None:
        return f"found {found.mean:.2f}"
    return "" if bias is None else f"bias {bias.mean:+.4f}"


def _calibration_rows(scores: Results) -> list[list[str]]:
    """Return one row for every method and ε, with the range of coverage over σ."""
    groups: dict[tuple[str, ...], list[Sequence[Measures]]] = {}
    for trial, values in scores.items():
        _, *names = _names(trial)
        groups.setdefault(("§5.2, all σ", *names), []).append(values)
    rows = sorted(groups.items(), key=lambda item: item[0][1], reverse=True)
    return [[*key, "", *(_range(group, name) for name in COVERAGES), ""] for key, group in rows]


def _range(group: Sequence[Sequence[Measures]], measure: str) -> str:
    means = [Estimate.of(score[measure] for score in scores).mean for scores in group]
    return f"{min(means):.3f}–{max(means):.3f}"


def _caption(assignment: Assignment) -> str:
    skipped = (
        ""
        if assignment.data
        else " No table of your own was run; add a CSV file of age, weight_kg, height_cm by --data."
    )
    return (
        f"Means of {assignment.repeats} repeats ± one standard error; {SIMULATION_NOTE} (surveys: "
        "real people, random halves, seeded noise, RMSE over the sd of the test heights). Columns "
        "50 to 95 %: coverage of f (§5.1, laws of noise) or of new observations (§5.2, surveys)."
        + skipped
    )
