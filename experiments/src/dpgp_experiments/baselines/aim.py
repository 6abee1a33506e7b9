r"""Synthetic rows by AIM, then ordinary gradient boosting on them: of numbers, and of classes.

McKenna et al. (2022), "AIM: an adaptive and iterative mechanism for differentially private
synthetic data", on the graphical models of its authors' package ``mbi`` (Private-PGM; the mechanism
itself is not in it). Columns are cut into equal bins of their public bounds. Every round chooses
the marginal that the model has most wrong, by the exponential mechanism, and measures it with
Gaussian noise. Composition is in zero-concentrated DP, where a measurement of noise σ costs
:math:`\Delta^2/2\sigma^2` and a choice with ε costs :math:`\varepsilon^2/8`.

Counts move by :math:`\Delta = \sqrt2` and their sum of absolute errors by 2 when a row is replaced;
the number of rows is public. A column of few values known to the public has a bin for each.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import exp, inf, log, pi, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax

from dpgp.privacy.neighbours import Neighbours
from dpgp.types import Array
from dpgp_experiments.baselines import boosting
from dpgp_experiments.baselines.interface import Prediction, Problem

Clique = tuple[int, ...]
Integers = NDArray[np.int64]

BINS = 16
ROUNDS_A_COLUMN = 2  # at first; noise is halved when a round has told nothing
SELECTION_SHARE = 0.1  # of ρ, as in the paper
ITERATIONS = 500  # of mirror descent after a round, from where the last one ended
MODEL_MEGABYTES = 4.0
ROWS = 10_000  # synthetic ones, at least
COUNT_SENSITIVITY = sqrt(2.0)
ERROR_SENSITIVITY = 2.0


def load_mbi() -> Any:
    """Import ``mbi``, quietly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mbi
    return mbi


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Boost trees on synthetic rows; no distribution."""
    if problem.neighbours is not Neighbours.REPLACE:
        raise ValueError("`neighbours` must be 'replace' for AIM: its number of rows is public.")
    table = np.column_stack([problem.unit_inputs(problem.X), problem.unit_targets])
    rho = total_rho(problem.epsilon, problem.delta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jax on its platforms and types
        sizes = (BINS,) * table.shape[1]
        rows = Aim(to_bins(table, sizes), sizes, rho, rng).synthetic_rows(max(ROWS, len(table)))
    U = from_bins(rows, sizes, rng)
    unit = ((-1.0, 1.0),) * X_test.shape[1]
    synthetic = Problem(U[:, :-1], U[:, -1], unit, (-1.0, 1.0), inf, problem.delta)
    found = boosting.fit_predict(synthetic, problem.unit_inputs(X_test), rng)
    return Prediction(problem.centre + problem.half_width * found.mean)


class ClassProblem(NamedTuple):
    """Rows with inputs in [−1, 1] and a number of a class, the guarantee, and what is public.

    ``sizes`` are how many bins each input has.
    """

    U: Array
    y: Integers
    classes: int
    sizes: tuple[int, ...]
    epsilon: float
    delta: float


def fit_classes(problem: ClassProblem, new: Array, rng: np.random.Generator) -> Array:
    """Boost trees on synthetic rows, and return the probability of every class at new inputs."""
    sizes = (*problem.sizes, problem.classes)
    table = np.column_stack([to_bins(problem.U, problem.sizes), problem.y])
    rho = total_rho(problem.epsilon, problem.delta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        rows = Aim(table, sizes, rho, rng).synthetic_rows(max(ROWS, len(table)))
    U = from_bins(rows[:, :-1], problem.sizes, rng)
    return boosting.fit_classes(U, rows[:, -1], problem.classes, new, rng)


def log_delta_of_rho(rho: float, epsilon: float) -> float:
    r"""Return log δ of ρ at ε (Canonne, Kamath & Steinke 2020, proposition 12).

    :math:`\min_{\alpha>1} e^{(\alpha-1)(\alpha\rho-\varepsilon)}(1-1/\alpha)^\alpha/(\alpha-1)`.
    Every α of the grid is a bound, so the least of them is.
    """
    a = 1.0 + np.geomspace(1e-3, 1e6, 20_001)
    logs = (a - 1.0) * (a * rho - epsilon) + a * np.log1p(-1.0 / a) - np.log(a - 1.0)
    return float(min(logs.min(), 0.0))


@lru_cache(maxsize=64)
def total_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ that is (ε, δ)-DP, left on the private side."""
    root = brentq(lambda x: log_delta_of_rho(exp(x), epsilon) - log(delta), -40.0, log(epsilon))
    return (1.0 - 1e-9) * exp(root)


def to_bins(U: Array, sizes: Sequence[int]) -> Integers:
    """Return the bins of values in [−1, 1], of each column so many."""
    counts = np.array(sizes)
    return np.asarray(np.clip((U + 1.0) / 2.0 * counts, 0, counts - 1), dtype=np.int64)


def from_bins(rows: Integers, sizes: Sequence[int], rng: np.random.Generator) -> Array:
    """Return values drawn within their bins."""
    return np.asarray((rows + rng.uniform(size=rows.shape)) / np.array(sizes) * 2.0 - 1.0)


@dataclass
class Aim:
    """A model of binned rows that grows by what is measured; only noisy counts enter it."""

    table: Integers
    sizes: tuple[int, ...]
    rho: float
    rng: np.random.Generator
    measurements: list[Any] = field(default_factory=list)
    model: Any = None

    def __post_init__(self) -> None:
        rows, columns = self.table.shape
        self.total = float(rows)
        self.domain = load_mbi().Domain(tuple(range(columns)), self.sizes)
        self.weights = workload(columns)
        self.left = self.rho
        self._measure_and_choose()

    def synthetic_rows(self, rows: int) -> Integers:
        """Return rows of the model, column by column."""
        seed = int(self.rng.integers(2**31))
        drawn = load_mbi().extensions.synthetic_data(self.model, rows, seed=seed)
        return np.column_stack([np.asarray(drawn.data[name]) for name in self.domain.attributes])

    def _measure_and_choose(self) -> None:
        """Measure every column, then round by round what the model has most wrong."""
        columns = len(self.domain.attributes)
        rounds = ROUNDS_A_COLUMN * columns
        share = self.rho / rounds
        for column in range(columns):
            self._measure((column,), (1.0 - SELECTION_SHARE) * share)
        self._estimate()
        while self.left > 0.0:
            # what would not be enough for another round is spent in this one
            share = self.left if self.left < 2.0 * share else share
            share = self._round(share)

    def _round(self, share: float) -> float:
        """Choose, measure and learn one marginal; return the share of the next round."""
        sigma = measurement_noise((1.0 - SELECTION_SHARE) * share)
        clique = self._choose(SELECTION_SHARE * share, sigma)
        before = self._modelled(clique)
        self._measure(clique, (1.0 - SELECTION_SHARE) * share)
        self._estimate()
        moved = np.abs(self._modelled(clique) - before).sum()
        return 4.0 * share if moved <= expected_error(sigma, self._cells(clique)) else share

    def _choose(self, rho: float, sigma: float) -> Clique:
        """Choose by the exponential mechanism with ε = √(8ρ)."""
        self.left -= rho
        candidates = self._small_enough()
        errors = [
            self.weights[clique]
            * (np.abs(self._counts(clique) - self._modelled(clique)).sum()
               - expected_error(sigma, self._cells(clique)))
            for clique in candidates
        ]  # fmt: skip
        sensitivity = ERROR_SENSITIVITY * max(self.weights[clique] for clique in candidates)
        chances = softmax(0.5 * sqrt(8.0 * rho) / sensitivity * np.array(errors))
        return candidates[self.rng.choice(len(candidates), p=chances)]

    def _small_enough(self) -> list[Clique]:
        """Return marginals that keep the model within what the spent budget allows."""
        limit = MODEL_MEGABYTES * (1.0 - self.left / self.rho)
        known = [measured.clique for measured in self.measurements]
        size = load_mbi().junction_tree.hypothetical_model_size
        fits = [c for c in self.weights if size(self.domain, [*known, c]) <= limit]
        return fits or [c for c in self.weights if len(c) == 1]

    def _measure(self, clique: Clique, rho: float) -> None:
        """Release the counts of a marginal with ρ-zCDP."""
        self.left = self.left - rho if self.left > (1.0 + 1e-9) * rho else 0.0  # but for roundings
        sigma = measurement_noise(rho)
        counts = self._counts(clique)
        noisy = counts + sigma * self.rng.standard_normal(len(counts))
        self.measurements.append(load_mbi().LinearMeasurement(noisy, clique, sigma))

    def _estimate(self) -> None:
        estimator = load_mbi().estimation.MirrorDescent()
        self.model = estimator.estimate(
            self.domain,
            self.measurements,
            known_total=self.total,
            iters=ITERATIONS,
            warm_start=self.model,
        )

    def _counts(self, clique: Clique) -> Array:
        sizes = tuple(self.sizes[c] for c in clique)
        flat = np.ravel_multi_index(tuple(self.table[:, c] for c in clique), sizes)
        return np.bincount(flat, minlength=self._cells(clique)).astype(float)

    def _cells(self, clique: Clique) -> int:
        return prod(self.sizes[c] for c in clique)

    def _modelled(self, clique: Clique) -> Array:
        return np.asarray(self.model.project(clique).datavector(), dtype=float)


def workload(columns: int) -> dict[Clique, float]:
    """Return marginals of up to two inputs and the target, weighted by what they share with it."""
    target = columns - 1
    wanted = [(*pair, target) for pair in combinations(range(target), min(2, target))]
    below = {part for w in wanted for size in (1, 2, 3) for part in combinations(w, size)}
    return {
        clique: float(sum(len(set(clique) & set(w)) for w in wanted)) for clique in sorted(below)
    }


def measurement_noise(rho: float) -> float:
    """Return the σ of counts that cost ρ."""
    return COUNT_SENSITIVITY / sqrt(2.0 * rho)


def expected_error(sigma: float, cells: int) -> float:
    """Return the sum of absolute values of the noise of a marginal, on average."""
    return sqrt(2.0 / pi) * sigma * cells
