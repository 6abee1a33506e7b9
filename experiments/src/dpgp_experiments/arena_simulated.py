"""The comparison on simulated tables: few rows and small ε, where a learner may learn too much.

Errors are averaged over the tables of a kind; the last lines say how far ours is behind the best of
the simple methods on any single table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpgp.cli.output import TextTable
from dpgp_experiments import arena
from dpgp_experiments.arena_figure import draw
from dpgp_experiments.arena_methods import (
    BOOSTED_ADASSP,
    BOOSTED_TREES,
    CONTESTANTS,
    DP_SGD,
    DP_SGD_STANDARDISED,
    EPSILONS,
    LINEAR,
    MEAN,
    OURS,
)
from dpgp_experiments.arena_results import Group, Groups, Run, estimate, group
from dpgp_experiments.arena_tables import HEADINGS, markdown, rows
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated_tables import FAMILY, SimulatedTable

SIMPLE = (MEAN, LINEAR, BOOSTED_ADASSP, BOOSTED_TREES, DP_SGD, DP_SGD_STANDARDISED)
MEASURE = "rmse_over_sd"


def run(assignment: Assignment) -> Outcome:
    """Run what ``arena-simulated.csv`` does not hold; write tables to ``arena-simulated.md``."""
    tasks = [table.draw() for table in FAMILY]
    finished = arena.run_all(tasks, assignment, "arena-simulated", CONTESTANTS)
    groups = group(finished.runs)
    text = markdown(groups)
    (assignment.folder / "arena-simulated.md").write_text(text, encoding="utf-8")
    kinds = group(of_kind(finished.runs))
    body = [
        [title, *row]
        for title in dict.fromkeys(place.task for place in kinds)
        for row in rows(kinds, title, MEASURE)
    ]
    body += [["all", *line] for line in behind(groups)]
    title, tables = "Error of held-out rows: RMSE over their sd", "arena-simulated.md"
    table = TextTable(title, ("tables", *HEADINGS), body, finished.caption_with(tables))
    return Outcome([run.record() for run in finished.runs], table, draw(kinds))


def of_kind(runs: Sequence[Run]) -> list[Run]:
    """Return the runs as if tables of as many inputs and rows were one."""
    titles = {table.key: kind(table) for table in FAMILY}
    return [run._replace(task=titles[run.task]) for run in runs]


def kind(table: SimulatedTable) -> str:
    """Return what tables of as many inputs and rows are called."""
    return f"{table.inputs} inputs, {table.training_rows:,} rows"


def behind(groups: Groups) -> list[list[str]]:
    """Return, by ε, the largest error of ours over the best simple method's, and how often > 3 %.

    A part of the tables may have been run.
    """
    ratios = [[_ratio(groups, table.key, e) for table in FAMILY] for e in EPSILONS]
    known = [[r for r in line if r is not None] for line in ratios]
    largest = [f"{max(line):.3f}" if line else "" for line in known]
    many = [f"{np.sum(np.array(line) > 1.03)} of {len(line)}" if line else "" for line in known]
    return [["ours over the best simple method, at most", *largest, ""],
            ["tables more than 3 % behind", *many, ""]]  # fmt: skip


def _ratio(groups: Groups, task: str, epsilon: float) -> float | None:
    ours = estimate(groups, Group(task, OURS.name, epsilon), MEASURE)
    found = [estimate(groups, Group(task, simple.name, epsilon), MEASURE) for simple in SIMPLE]
    best = min((value.mean for value in found if value is not None), default=None)
    return None if ours is None or best is None else ours.mean / best
