"""Ours beside simple private methods, on public tables that come with packages.

A method that spends a twentieth of a second on a fit is hard to beat where nμ is small or a line
says all there is. So every table is split at random into halves, and the question is how far ours
is behind the best of them, and how much of the way from there to boosting without privacy it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpgp.cli.output import TextTable
from dpgp_experiments import arena
from dpgp_experiments.arena_figure import draw
from dpgp_experiments.arena_methods import (
    BOOSTED_ADASSP,
    BOOSTED_TREES,
    BOOSTING,
    LINEAR,
    MEAN,
    OURS,
    WITHOUT_PRIVACY,
)
from dpgp_experiments.arena_results import Group, Groups, estimate, group
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.packaged_tables import packaged_tasks
from dpgp_experiments.tables import Estimate
from dpgp_experiments.tasks import Task

EPSILONS = (0.3, 1.0, 3.0)
SIMPLE = (MEAN, LINEAR, BOOSTED_ADASSP, BOOSTED_TREES)
CONTESTANTS = (
    *(one._replace(epsilons=EPSILONS) for one in (OURS, *SIMPLE)),
    BOOSTING._replace(epsilons=WITHOUT_PRIVACY),
)
MEASURE = "rmse_over_sd"
HEADINGS = (
    "table", "inputs", "rows", "ε", "ours", "best simple", "which", "ratio", "boosting", "way",
    "95 %",
)  # fmt: skip


class AgainstPeers(NamedTuple):
    """Errors of one table at one ε, over the sd of held-out targets."""

    task: Task
    epsilon: float
    ours: Estimate
    best: Estimate
    which: str
    boosting: float
    coverage: float

    @property
    def ratio(self) -> float:
        """Error of ours over that of the best simple method."""
        return self.ours.mean / self.best.mean

    @property
    def way(self) -> float:
        """Part of the way from the best simple method to boosting that ours goes."""
        return (self.best.mean - self.ours.mean) / (self.best.mean - self.boosting)

    def cells(self) -> list[str]:
        """Return a line of the table; no way is told where boosting is no better by 1 %."""
        has_way = self.boosting < 0.99 * self.best.mean
        rows = arena.split(self.task, 0)[0]
        return [
            self.task.title, str(self.task.X.shape[1]), f"{len(rows):,}", f"{self.epsilon:g}",
            str(self.ours), str(self.best), self.which, f"{self.ratio:.3f}",
            f"{self.boosting:.3f}", f"{self.way:.0%}" if has_way else "", f"{self.coverage:.0%}",
        ]  # fmt: skip


def run(assignment: Assignment) -> Outcome:
    """Run what ``simple.csv`` of the folder does not hold, and compare."""
    tasks = packaged_tasks()
    finished = arena.run_all(tasks, assignment, "simple", CONTESTANTS)
    found = list(comparisons(tasks, group(finished.runs)))
    body = [one.cells() for one in found]
    body += [_summary(found, epsilon) for epsilon in EPSILONS]
    title = "Error of held-out rows: RMSE over their sd"
    table = TextTable(title, HEADINGS, body, finished.caption)
    return Outcome([run.record() for run in finished.runs], table, draw(group(finished.runs)))


def comparisons(tasks: Sequence[Task], groups: Groups) -> Iterator[AgainstPeers]:
    """Yield what is complete: every table at every ε."""
    for task in tasks:
        boosting = estimate(groups, Group(task.key, BOOSTING.name, np.inf), MEASURE)
        for epsilon in EPSILONS:
            place = Group(task.key, OURS.name, epsilon)
            ours = estimate(groups, place, MEASURE)
            coverage = estimate(groups, place, "coverage_95")
            peers = {
                one.name: value
                for one in SIMPLE
                if (value := estimate(groups, Group(task.key, one.name, epsilon), MEASURE))
            }
            if ours is None or coverage is None or boosting is None or not peers:
                continue
            which = min(peers, key=lambda name: peers[name].mean)
            yield AgainstPeers(
                task, epsilon, ours, peers[which], which, boosting.mean, coverage.mean
            )


def _summary(found: Sequence[AgainstPeers], epsilon: float) -> list[str]:
    """Return the geometric mean and the largest of the ratios at one ε."""
    ratios = [one.ratio for one in found if one.epsilon == epsilon]
    if not ratios:
        return [""] * len(HEADINGS)
    mean = float(np.exp(np.mean(np.log(ratios))))
    return [
        "all: geometric mean, largest", "", "", f"{epsilon:g}", "", "", "",
        f"{mean:.3f}, {max(ratios):.3f}", "", "", "",
    ]  # fmt: skip
