"""Ours beside simple private methods, on public tables that come with packages.

A method that spends a twentieth of a second on a fit is hard to beat where nμ is small or a line
says all there is. So every table is split at random into halves, and the question is how far ours
is behind the best of them, and how much of the way from there to boosting without privacy it goes.
DP-EBM stands beside them for its error, and is no candidate for the best: its guarantee fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpgp.cli.output import TextTable
from dpgp_experiments import arena
from dpgp_experiments.arena_figure import draw
from dpgp_experiments.arena_methods import (
    BOOSTED_ADASSP,
    BOOSTED_TREES,
    BOOSTING,
    DP_EBM,
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
    *(one._replace(epsilons=EPSILONS) for one in (OURS, *SIMPLE, DP_EBM)),
    BOOSTING._replace(epsilons=WITHOUT_PRIVACY),
)
MEASURE = "rmse_over_sd"
HEADINGS = (
    "table", "inputs", "rows", "ε", "ours", "best simple", "which", "ratio", "DP-EBM", "boosting",
    "way", "95 %",
)  # fmt: skip


class AgainstPeers(NamedTuple):
    """Errors of one table at one ε, over the sd of held-out targets."""

    task: Task
    epsilon: float
    ours: Estimate
    peers: Mapping[str, Estimate]
    boosting: float
    coverage: float

    @property
    def which(self) -> str:
        """The simple method of the smallest error, chosen after the fact."""
        simple = {one.name for one in SIMPLE} & self.peers.keys()
        return min(sorted(simple), key=lambda name: self.peers[name].mean)

    @property
    def best(self) -> Estimate:
        """The error of that method."""
        return self.peers[self.which]

    def ratio(self, peer: str) -> float:
        """Error of ours over that of a peer."""
        return self.ours.mean / self.peers[peer].mean

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
            str(self.ours), str(self.best), self.which, f"{self.ratio(self.which):.3f}",
            str(self.peers.get(DP_EBM.name, "")), f"{self.boosting:.3f}",
            f"{self.way:.0%}" if has_way else "", f"{self.coverage:.0%}",
        ]  # fmt: skip


def run(assignment: Assignment) -> Outcome:
    """Run what ``simple.csv`` of the folder does not hold, and compare."""
    tasks = packaged_tasks()
    finished = arena.run_all(tasks, assignment, "simple", CONTESTANTS)
    found = list(comparisons(tasks, group(finished.runs)))
    body = [one.cells() for one in found]
    body += [line for epsilon in EPSILONS for line in _summary(found, epsilon)]
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
                for one in (*SIMPLE, DP_EBM)
                if (value := estimate(groups, Group(task.key, one.name, epsilon), MEASURE))
            }
            if ours is None or coverage is None or boosting is None or not peers:
                continue
            yield AgainstPeers(task, epsilon, ours, peers, boosting.mean, coverage.mean)


def _summary(found: Sequence[AgainstPeers], epsilon: float) -> Iterator[list[str]]:
    """Yield lines of the ratios at one ε: to the best simple method, to peers and boosting."""
    here = [one for one in found if one.epsilon == epsilon]
    if not here:
        return
    yield _line("the best simple", epsilon, [one.ratio(one.which) for one in here])
    for peer in dict.fromkeys(name for one in here for name in one.peers):
        yield _line(peer, epsilon, [one.ratio(peer) for one in here if peer in one.peers])
    yield _line(BOOSTING.name, epsilon, [one.ours.mean / one.boosting for one in here])


def _line(peer: str, epsilon: float, ratios: Sequence[float]) -> list[str]:
    mean = float(np.exp(np.mean(np.log(ratios))))
    title = f"tables: {len(ratios)}; geometric mean, largest"
    numbers = f"{mean:.3f}, {max(ratios):.3f}"
    return [title, "", "", f"{epsilon:g}", "", "", peer, numbers, "", "", "", ""]
