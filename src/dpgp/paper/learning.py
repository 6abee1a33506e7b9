"""Algorithm 2 of HM21: hyperparameters chosen by a private validation score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from dpgp.blas import thread_count
from dpgp.domain import Box
from dpgp.kernels.base import takes_vectors
from dpgp.numeric import check_column_names, column_names, numeric_matrix
from dpgp.paper.inference import read_rows
from dpgp.paper.model import PaperModel, as_inducing_points, resolve_norm_bound
from dpgp.paper.posterior import SparsePosterior, Update
from dpgp.paper.scoring import RELATION, Candidate, PreparedCandidate, check_noise, prepare
from dpgp.privacy.arguments import as_positive
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.calibration import mu_of_rho
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.noise import NoiseSource, noise_source
from dpgp.privacy.selection import LiuTalwarBudget, RenyiBudget, select
from dpgp.private.rows import Rows

Accounting = Literal["liu-talwar", "renyi"]

GAMMA = 0.01
"""Probability to stop after a run, as in HM21 §5.3: a hundred runs on average."""


@dataclass(frozen=True)
class LearnedModel:
    """What Algorithm 2 publishes: the best candidate's posterior and its private score.

    ``score`` is a private mean log density of the validation targets, in which rows that cannot be
    used count with a public constant; minus infinity where every private score fell outside the
    interval that scores can have.
    """

    posterior: SparsePosterior
    candidate: Candidate
    score: float


def dp_gp_learn_hyperparameters(
    X1: Any,
    y1: Any,
    X2: Any,
    y2: Any,
    inducing_points: Any,
    *,
    candidates: Sequence[Candidate | tuple[Any, float]],
    target_bound: float,
    epsilon: float,
    delta: float,
    gamma: float = GAMMA,
    accounting: Accounting = "liu-talwar",
    random_state: int | np.random.Generator | None = None,
    shape: float = 1.0,
    mean_draws: float | None = None,
    bounds: Any = None,
    missing: str = "error",
    n_jobs: int | None = None,
) -> LearnedModel:
    r"""Choose hyperparameters under :math:`(\epsilon, \delta)`-DP and return the fitted posterior.

    Candidates are drawn at random, fitted to the training rows and scored on the validation rows,
    both privately, a secret number of times; the best run is returned (HM21 Algorithm 2).

    Parameters
    ----------
    X1, y1, X2, y2
        Training and validation rows: disjoint sets of people.
    inducing_points, target_bound, bounds, missing, random_state, n_jobs
        As in :func:`~dpgp.paper.dp_gp_inference`. With "ignore", validation rows that are
        incomplete count with the same public density for every candidate.
    candidates
        Pairs of a kernel and an observation noise, all public.
    epsilon, delta
        The guarantee of the whole selection, with respect to all rows together.
    gamma
        "liu-talwar": the probability of stopping after a run.
    accounting
        "liu-talwar" is Algorithm 2 as published; "renyi" draws the number of runs as Papernot &
        Steinke (2022) do and needs far less noise.
    shape, mean_draws
        "renyi": distribution of the number of runs (1 geometric as in Algorithm 2, 0 logarithmic,
        infinity Poisson) and its mean, 1/``gamma`` by default. Logarithmic needs the least noise
        but is often a handful of runs.

    Notes
    -----
    The number of runs is a secret and the time the call takes grows with it: do not let the public
    see how long it took.
    """
    threads = thread_count(n_jobs)
    budget = selection_budget(epsilon, delta, accounting, gamma, shape, mean_draws)
    names = _common_names(X1, X2)
    _check_disjoint(X1, X2, "X1", "X2")
    _check_disjoint(y1, y2, "y1", "y2")
    columns = None if bounds is None else numeric_matrix(X1, "X1").shape[1]
    box = None if columns is None else Box.from_bounds(bounds, columns, names)
    models = candidate_models(candidates, inducing_points, target_bound, box)
    check_noise(models, *run_budget(budget))
    training = _read("training", X1, y1, models[0], box, missing)
    validation = _read("validation", X2, y2, models[0], box, missing)
    source = noise_source(random_state)
    return learn(prepare(models, training, validation, threads), budget, source, names)


def learn(
    prepared: Sequence[PreparedCandidate],
    budget: LiuTalwarBudget | RenyiBudget,
    source: NoiseSource,
    feature_names: Sequence[str] | None = None,
) -> LearnedModel:
    """Select among prepared candidates."""
    training_mu, validation_mu = run_budget(budget)

    def run() -> tuple[float, tuple[PaperModel, Update]]:
        candidate = prepared[int(source.uniform() * len(prepared))]
        score, update = candidate.run(training_mu, validation_mu, source)
        return score, (candidate.model, update)

    certificate = Certificate.of_selection(budget, RELATION, source)
    with spending_noted(lambda: certificate):
        selected = select(run, budget, source)
    if selected is None:
        raise RuntimeError(
            "the selection returned nothing, which a Poisson number of runs can do; the budget is "
            "spent. Prefer `shape` = 0 or 1, which never do."
        )
    score, (model, update) = selected
    return LearnedModel(
        posterior=model.posterior(update, certificate, feature_names=feature_names),
        candidate=Candidate(model.kernel, model.noise_std),
        score=score,
    )


def selection_budget(
    epsilon: float,
    delta: float,
    accounting: Accounting,
    gamma: float = GAMMA,
    shape: float = 1.0,
    mean_draws: float | None = None,
) -> LiuTalwarBudget | RenyiBudget:
    """Calibrate the runs of a selection so that all of it is (ε, δ)-DP."""
    if accounting not in get_args(Accounting):
        raise ValueError(f"`accounting` must be one of {get_args(Accounting)}, got {accounting!r}.")
    if as_positive("gamma", gamma) > 1.0:
        raise ValueError(f"`gamma` must be at most 1, got {gamma}.")
    if accounting == "liu-talwar":
        return LiuTalwarBudget.for_total(epsilon, delta, gamma)
    mean = 1.0 / gamma if mean_draws is None else mean_draws
    return RenyiBudget.for_total(epsilon, delta, mean, shape)


def run_budget(budget: LiuTalwarBudget | RenyiBudget) -> tuple[float, float]:
    """Return the μ of the training side and of the validation side of one run.

    The sides see disjoint people, so each may spend the whole budget of a run. Validation under
    "liu-talwar" is paid in zCDP, ρ = (√(ε + L) − √L)², L = log 1/δ (HM21 eq. 22).
    """
    if isinstance(budget, RenyiBudget):
        return budget.mu, budget.mu
    log = -math.log(budget.delta)
    # √(ε + L) − √L = ε/(√(ε + L) + √L), without cancellation
    rho = (budget.epsilon / (math.sqrt(budget.epsilon + log) + math.sqrt(log))) ** 2
    return mu_of_guarantee(budget.epsilon, budget.delta), mu_of_rho(rho * (1.0 - 1e-12))


def candidate_models(
    candidates: Sequence[Candidate | tuple[Any, float]],
    inducing_points: Any,
    target_bound: float,
    box: Box | None = None,
) -> list[PaperModel]:
    """Return a model for every candidate, with its certified norm bound."""
    pairs = [_as_candidate(candidate) for candidate in candidates]
    if not pairs:
        raise ValueError("`candidates` must hold at least one (kernel, noise_std) pair.")
    if len({takes_vectors(pair.kernel) for pair in pairs}) > 1:
        raise ValueError("`candidates` must all be kernels on the same kind of input.")
    Z = as_inducing_points(inducing_points, pairs[0].kernel, box)
    return [
        PaperModel(
            kernel=pair.kernel,
            inducing_points=Z,
            noise_std=pair.noise_std,
            target_bound=target_bound,
            norm_bound=resolve_norm_bound(pair.kernel, Z, "certified", box),
        )
        for pair in pairs
    ]


def _as_candidate(value: Candidate | tuple[Any, float]) -> Candidate:
    if isinstance(value, Candidate):
        return value
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(
            f"`candidates` must hold (kernel, noise_std) pairs, got {type(value).__name__}."
        )
    return Candidate(*value)


def _read(which: str, X: Any, y: Any, model: PaperModel, box: Box | None, missing: str) -> Rows:
    try:
        return read_rows(X, y, model, 0.0, box, missing)
    except (TypeError, ValueError) as error:
        raise type(error)(f"in the {which} rows, {error}") from None


def _common_names(first: Any, second: Any) -> tuple[str, ...] | None:
    names, others = column_names(first), column_names(second)
    check_column_names(names)
    if names is not None and others is not None and names != others:
        raise ValueError("`X1` and `X2` must have the same columns, in the same order.")
    return names


def _check_disjoint(first: Any, second: Any, name: str, other: str) -> None:
    arrays = [x.to_numpy() if hasattr(x, "to_numpy") else x for x in (first, second)]
    are_arrays = all(isinstance(x, np.ndarray) for x in arrays)
    if first is second or (are_arrays and np.shares_memory(*arrays)):
        raise ValueError(
            f"`{name}` and `{other}` share rows: training and validation must be disjoint people."
        )
