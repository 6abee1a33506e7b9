"""Algorithm 2 of HM21: hyperparameters chosen by a private validation score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dpgp.domain import Box
from dpgp.features.kernels import takes_vectors
from dpgp.paper.coinpress import coinpress_mean
from dpgp.paper.inference import read_rows
from dpgp.paper.model import PaperModel, as_inducing_points, resolve_norm_bound
from dpgp.paper.posterior import SparsePosterior, cholesky_with_jitter
from dpgp.paper.update import Update
from dpgp.privacy.calibration import mu_of_rho
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.exact_sums import Integers
from dpgp.privacy.ledger import GaussianLedger, mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource, noise_source
from dpgp.privacy.selection import LiuTalwarBudget, RenyiBudget, select
from dpgp.release import exact_gram, release_exact_gram
from dpgp.sources.arrays import Rows, column_names

Array = NDArray[np.float64]
Accounting = Literal["liu-talwar", "renyi"]
RELATION = Neighbours.REPLACE


@dataclass(frozen=True)
class Candidate:
    """One choice of hyperparameters."""

    kernel: Any
    noise_std: float


@dataclass(frozen=True)
class LearnedModel:
    """What Algorithm 2 publishes: the best candidate's posterior and its private score.

    ``score`` is a private mean log density of the validation targets; minus infinity where every
    private score fell outside the interval that scores can have.
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
    gamma: float = 0.01,
    accounting: Accounting = "liu-talwar",
    random_state: int | np.random.Generator | None = None,
    shape: float = 0.0,
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
        As in :func:`~dpgp.paper.dp_gp_inference`.
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
        "renyi": distribution of the number of runs (0 logarithmic, 1 geometric, infinity Poisson)
        and its mean, 1/``gamma`` by default.

    Notes
    -----
    The number of runs is a secret and the time the call takes grows with it: do not let the public
    see how long it took.
    """
    budget = selection_budget(epsilon, delta, accounting, gamma, shape, mean_draws)
    _check_disjoint(X1, X2, "X1", "X2")
    _check_disjoint(y1, y2, "y1", "y2")
    box = None if bounds is None else Box.from_bounds(bounds, np.shape(X1)[1], column_names(X1))
    models = candidate_models(candidates, inducing_points, target_bound, box)
    training = read_rows(X1, y1, models[0], 0.0, box, missing)
    validation = read_rows(X2, y2, models[0], 0.0, box, missing)
    source = noise_source(random_state)

    prepared = [PreparedCandidate.of(model, training, validation, n_jobs) for model in models]
    return learn(prepared, budget, source, column_names(X1))


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
    gamma: float = 0.01,
    shape: float = 0.0,
    mean_draws: float | None = None,
) -> LiuTalwarBudget | RenyiBudget:
    """Calibrate the runs of a selection so that all of it is (ε, δ)-DP."""
    if accounting == "liu-talwar":
        return LiuTalwarBudget.for_total(epsilon, delta, gamma)
    if accounting == "renyi":
        return RenyiBudget.for_total(epsilon, delta, mean_draws or 1.0 / gamma, shape)
    raise ValueError(f'`accounting` must be "liu-talwar" or "renyi", got {accounting!r}.')


def run_budget(budget: LiuTalwarBudget | RenyiBudget) -> tuple[float, float]:
    """Return the μ of the training side and of the validation side of one run.

    The sides see disjoint people, so each may spend the whole budget of a run. Validation under
    "liu-talwar" is paid in zCDP, ρ = (√(ε + log 1/δ) − √(log 1/δ))² (HM21 eq. 22).
    """
    if isinstance(budget, RenyiBudget):
        return budget.mu, budget.mu
    log = -math.log(budget.delta)
    rho = (math.sqrt(budget.epsilon + log) - math.sqrt(log)) ** 2
    return mu_of_guarantee(budget.epsilon, budget.delta), mu_of_rho(rho * (1.0 - 1e-12))


@dataclass(frozen=True)
class PreparedCandidate:
    """A candidate with everything that its runs share. Private: holds exact sums and raw rows."""

    model: PaperModel
    totals: Integers
    K_vz: Array
    unexplained: Array  # k(x, x) − k_xZ K_ZZ⁻¹ k_Zx at the validation inputs
    targets: Array

    @classmethod
    def of(
        cls, model: PaperModel, training: Rows, validation: Rows, n_jobs: int | None
    ) -> PreparedCandidate:
        """Compute the sums and kernel values that all runs of the candidate share."""
        K_vz = np.asarray(model.kernel(validation.inputs, model.inducing_points))
        whitened = solve_triangular(cholesky_with_jitter(model.K_zz), K_vz.T, lower=True)
        explained = np.einsum("ij,ij->j", whitened, whitened)
        return cls(
            model=model,
            totals=exact_gram(training, model.features(), n_jobs=n_jobs),
            K_vz=K_vz,
            unexplained=np.maximum(model.kernel.diag(validation.inputs) - explained, 0.0),
            targets=model.target_bound * validation.targets[0],
        )

    def run(
        self, training_mu: float, validation_mu: float, source: NoiseSource
    ) -> tuple[float, Update]:
        """Fit and score the candidate once, with fresh noise."""
        ledger = GaussianLedger(training_mu, RELATION)
        release = release_exact_gram(
            self.totals,
            len(self.model.inducing_points),
            self.model.noise(ledger.share(1.0), RELATION),
            label="kernel moments A and B",
            ledger=ledger,
            source=source,
        )
        update = self.model.update(release)
        return self.score(update, validation_mu, source), update

    def score(self, update: Update, mu: float, source: NoiseSource) -> float:
        """Return a private mean log density of the validation targets, by CoinPress."""
        centre, radius = score_interval(self.model.target_bound, self.model.noise_std)
        densities = np.clip(self.log_densities(update), centre - radius, centre + radius)
        ledger = GaussianLedger(mu, RELATION)
        score = coinpress_mean(
            densities,
            centre=centre,
            radius=radius,
            scale=1.0,
            mu=ledger.share(1.0),
            ledger=ledger,
            source=source,
            label="validation score",
        )
        # Differs from HM21: Algorithm 2 compares the sum over rows with the bounds of one row
        return score if abs(score - centre) <= radius else -math.inf

    def log_densities(self, update: Update) -> Array:
        """Return the log density of every validation target (HM21 eq. 21)."""
        mean = self.K_vz @ update.alpha
        noise = self.model.noise_std**2
        explained = np.einsum("ij,ij->i", self.K_vz @ update.W, self.K_vz)
        variance = self.unexplained + explained + noise
        return np.asarray(
            -0.5 * (np.log(2 * np.pi * variance) + (self.targets - mean) ** 2 / variance)
        )


def score_interval(target_bound: float, noise_std: float) -> tuple[float, float]:
    """Return centre and radius of the log densities, C_CP and R_CP of HM21's appendix."""
    radius = target_bound**2 / noise_std**2
    return -0.5 * math.log(2 * math.pi) - math.log(noise_std) - radius, radius


def candidate_models(
    candidates: Sequence[Candidate | tuple[Any, float]],
    inducing_points: Any,
    target_bound: float,
    box: Box | None = None,
) -> list[PaperModel]:
    """Return a model for every candidate, with its certified norm bound."""
    if len(candidates) == 0:
        raise ValueError("`candidates` must hold at least one (kernel, noise_std) pair.")
    pairs = [(c.kernel, c.noise_std) if isinstance(c, Candidate) else c for c in candidates]
    if len({takes_vectors(kernel) for kernel, _ in pairs}) > 1:
        raise ValueError("`candidates` must all be kernels on the same kind of input.")
    Z = as_inducing_points(inducing_points, pairs[0][0], box)
    return [
        PaperModel(
            kernel=kernel,
            inducing_points=Z,
            noise_std=noise_std,
            target_bound=target_bound,
            norm_bound=resolve_norm_bound(kernel, Z, "certified", box),
        )
        for kernel, noise_std in pairs
    ]


def _check_disjoint(first: Any, second: Any, name: str, other: str) -> None:
    if first is second or (
        isinstance(first, np.ndarray)
        and isinstance(second, np.ndarray)
        and np.shares_memory(first, second)
    ):
        raise ValueError(
            f"`{name}` and `{other}` share rows: training and validation must be disjoint people."
        )
