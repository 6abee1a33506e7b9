"""The paper's experiments and our own, one module each, found by name and imported when asked for.

An experiment is a module with ``run(assignment)``, which takes
:class:`~dpgp_experiments.outcome.Assignment` and returns an
:class:`~dpgp_experiments.outcome.Outcome`, and one entry in ``REGISTRY``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgp_experiments.outcome import Assignment, Outcome


@dataclass(frozen=True)
class Experiment:
    """Where an experiment lives, what it shows, its default repeats, and whether it reads files.

    Repeats are the paper's where it is from the paper, otherwise what half an hour of a
    core allows. ``parts`` are those that can be run alone.
    """

    module: str
    summary: str
    repeats: int
    reads_files: bool = False
    parts: tuple[str, ...] = ()

    def load(self) -> Callable[[Assignment], Outcome]:
        """Import the experiment and return its ``run``."""
        run: Callable[[Assignment], Outcome] = import_module(self.module).run
        return run


REGISTRY = {
    "illustration": Experiment(
        "dpgp_experiments.illustration", "HM21 §5.1: one function at four levels of privacy", 40
    ),
    "calibration": Experiment(
        "dpgp_experiments.calibration", "HM21 §5.2: do the intervals cover what they promise?", 40
    ),
    "hyperparameters": Experiment(
        "dpgp_experiments.hyperparameters", "HM21 §5.3: hyperparameters by private selection", 100
    ),
    "growth": Experiment(
        "dpgp_experiments.growth",
        "HM21 §5.4: the height of girls, with DP-BBB and PrivateGPRegressor",
        100,
        reads_files=True,
    ),
    "successor": Experiment(
        "dpgp_experiments.successor",
        "PrivateGPRegressor on all of these, and on real people",
        20,
        reads_files=True,
    ),
    "outcomes": Experiment(
        "dpgp_experiments.outcomes", "Outcomes and columns that are not Gaussian or uniform", 5
    ),
    "averages": Experiment(
        "dpgp_experiments.averages",
        "Averages of f beside a private mean: skewed outcomes and bounds that are too wide",
        8,
    ),
    "weights": Experiment(
        "dpgp_experiments.weights",
        "Survey weights: what an informative sample does to a fit, with its weights and without",
        20,
        parts=("1", "3"),
    ),
    "yes-no": Experiment(
        "dpgp_experiments.yes_no",
        "PrivateGPClassifier on real people, beside private logistic regression and a network",
        5,
    ),
    "classes": Experiment(
        "dpgp_experiments.classes",
        "Several classes together, in their order, one by one, logistic regression and boosting",
        3,
        parts=("ordered",),
    ),
    "rare": Experiment(
        "dpgp_experiments.rare",
        "Rare outcomes: average probability, log loss beside the constant's, reliability",
        5,
    ),
    "mistakes": Experiment(
        "dpgp_experiments.mistakes",
        "Wrong ways to ask: what is said of each, when, and what it spends",
        1,
    ),
    "centiles": Experiment(
        "dpgp_experiments.centiles",
        "Intervals and centiles at each x: coverage by age, and both tails of skewed noise",
        5,
        reads_files=True,
    ),
    "groups": Experiment(
        "dpgp_experiments.groups",
        "Coverage by level of every category and by octile of every number",
        20,
        reads_files=True,
    ),
    "few-inputs": Experiment(
        "dpgp_experiments.few_inputs",
        "One and two inputs: a fixed grid or a learned metric",
        2,
        parts=("1", "2"),
    ),
    "pool": Experiment(
        "dpgp_experiments.pool",
        "Models of parts of the rows, pooled, beside one fit and averages of predictions",
        3,
        parts=("sinc", "growth", "six inputs", "wave", "unequal"),
    ),
    "pool-agreement": Experiment(
        "dpgp_experiments.pool_agreement",
        "Whether a wrong unit among ten releases is found, and how often releases alike are told "
        "apart",
        3,
        parts=("corrupt", "alarms"),
    ),
    "pool-two": Experiment(
        "dpgp_experiments.pool_two",
        "Two releases, pooled or averaged: bias and spread",
        40,
        parts=("sinc", "wave"),
    ),
    "frame": Experiment(
        "dpgp_experiments.frame",
        "Where grid and metric differ by accident: what each gains by the other's way",
        4,
        parts=("1", "2"),
    ),
    "arena": Experiment(
        "dpgp_experiments.arena",
        "PrivateGPRegressor beside what users would pick instead",
        5,
        reads_files=True,
    ),
    "arena-simulated": Experiment(
        "dpgp_experiments.arena_simulated",
        "The same on simulated tables of 5 to 20 inputs with few rows",
        3,
    ),
    "simple": Experiment(
        "dpgp_experiments.simple",
        "PrivateGPRegressor beside simple methods, on public tables that come with packages",
        5,
    ),
}
