"""The runs of the comparison as tables: for the terminal, and as Markdown for a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from math import inf, isfinite

from dpgp_experiments.arena_methods import EPSILONS, OURS
from dpgp_experiments.arena_results import METHODS, TITLES, Group, Groups, series
from dpgp_experiments.tables import Estimate

COLUMNS = (*EPSILONS, inf)
HEADINGS = ("method", *(f"ε = {e:g}".replace("inf", "∞") for e in COLUMNS))
MEASURES = {
    "rmse_over_sd": "RMSE over the sd of the test targets",
    "coverage_95": "Coverage of 95 % intervals",
    "coverage_50": "Coverage of 50 % intervals",
    "log_likelihood": "Mean log-likelihood, in units of the sd of the test targets",
    "seconds": "Seconds of processor time, fit and predictions",
}


def rows(groups: Groups, task: str, measure: str) -> list[list[str]]:
    """Return a row for every method that has the measure, with the best private error in bold."""
    lines = {name: series(groups, task, name, measure) for name in METHODS}
    best = _best(list(lines.values())) if measure == "rmse_over_sd" else {}
    return [
        [name, *(_cell(line.get(e), e in best and best[e] == line.get(e)) for e in COLUMNS)]
        for name, line in lines.items()
        if line
    ]


def _best(lines: Sequence[dict[float, Estimate]]) -> dict[float, Estimate]:
    return {
        epsilon: min(line[epsilon] for line in lines if epsilon in line)
        for epsilon in EPSILONS
        if any(epsilon in line for line in lines)
    }


def _cell(value: Estimate | None, bold: bool) -> str:
    if value is None:
        return ""
    numbers = [number for number in value if isfinite(number)]
    text = " ± ".join(_number(number) for number in numbers) or str(value.mean)
    return f"**{text}**" if bold else text


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1e}"


def markdown(groups: Groups) -> str:
    """Return a table of errors for every task, then one table for every other measure."""
    error, *others = MEASURES
    present = [task for task in TITLES if any(place.task == task for place in groups)]
    parts = [f"## {MEASURES[error]}"]
    for task in present:
        parts += [_caption(groups, task), _markdown_table(HEADINGS, rows(groups, task, error))]
    body = [[TITLES[task], *leads(groups, task)] for task in present]
    headings = ("task", *HEADINGS[1 : 1 + len(EPSILONS)])
    parts += ["## Lead of ours over the best private peer", _markdown_table(headings, body)]
    for measure in others:
        body = [row for task in present for row in _named_rows(groups, task, measure)]
        parts += [f"## {MEASURES[measure]}", _markdown_table(("task", *HEADINGS), body)]
    return "\n\n".join(parts) + "\n"


def leads(groups: Groups, task: str) -> list[str]:
    """Return how far ours is ahead of the best private peer on the same splits, for every ε."""
    return [_lead(groups, task, epsilon) for epsilon in EPSILONS]


def _lead(groups: Groups, task: str, epsilon: float) -> str:
    """Return the mean difference of errors over the seeds that both have run, and the peer."""
    ours = groups.get(Group(task, OURS.name, epsilon), [])
    peers = {
        name: line[epsilon]
        for name in METHODS
        if name != OURS.name and epsilon in (line := series(groups, task, name, "rmse_over_sd"))
    }
    if not ours or not peers:
        return ""
    best = min(peers, key=lambda name: peers[name].mean)
    theirs = {run.seed: run.rmse_over_sd for run in groups[Group(task, best, epsilon)]}
    pairs = [theirs[run.seed] - run.rmse_over_sd for run in ours if run.seed in theirs]
    return f"{_cell(Estimate.of(pairs), False)} ({best})" if pairs else ""


def _caption(groups: Groups, task: str) -> str:
    run = next(runs[0] for place, runs in groups.items() if place.task == task)
    return f"**{TITLES[task]}**: {run.n_train:,} training rows, {run.n_test:,} test rows."


def _named_rows(groups: Groups, task: str, measure: str) -> list[list[str]]:
    """Return the rows with the task's name before the first."""
    names = chain([TITLES[task]], repeat(""))
    return [[name, *row] for name, row in zip(names, rows(groups, task, measure), strict=False)]


def _markdown_table(headings: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
