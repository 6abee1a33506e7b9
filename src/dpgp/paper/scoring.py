"""One run of Algorithm 2: a candidate fitted to training rows and scored on validation rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.paper.coinpress import coinpress_mean, step_mus
from dpgp.paper.model import PaperModel
from dpgp.paper.posterior import Update, unexplained
from dpgp.privacy.books import GaussianBooks
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource, check_scale
from dpgp.privacy.sensitivity import bounded_sum_sensitivity
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_gram
from dpgp.private.wall import release_exact_gram
from dpgp.types import Array, Integers

RELATION = Neighbours.REPLACE


@dataclass(frozen=True)
class Candidate:
    """One choice of hyperparameters."""

    kernel: Any
    noise_std: float


@dataclass(frozen=True, repr=False)
class PreparedCandidate:
    """A candidate with everything that its runs share. Private: holds exact sums and raw rows."""

    model: PaperModel
    totals: Integers
    K_vz: Array
    unexplained: Array  # k(x, x) − k_xZ K_ZZ⁻¹ k_Zx at the validation inputs
    targets: Array
    usable: NDArray[np.bool_]
    substitute: float  # the log density of rows that cannot be used, public

    @classmethod
    def of(
        cls,
        model: PaperModel,
        training: Rows,
        validation: Rows,
        substitute: float,
        n_jobs: int | None = None,
    ) -> PreparedCandidate:
        """Compute the sums and kernel values that all runs of the candidate share."""
        points = validation.inputs.copy()
        for row in np.flatnonzero(~validation.usable):
            points[row] = model.inducing_points[0]
        K_vz = np.asarray(model.kernel(points, model.inducing_points))
        return cls(
            model=model,
            totals=exact_gram(training, model.features(), n_jobs=n_jobs),
            K_vz=K_vz,
            unexplained=unexplained(model.kernel.diag(points), K_vz, model.K_zz),
            targets=model.target_bound * validation.targets[0],
            usable=validation.usable,
            substitute=substitute,
        )

    def __repr__(self) -> str:
        return "PreparedCandidate(...)"

    def run(
        self, training_mu: float, validation_mu: float, source: NoiseSource
    ) -> tuple[float, Update]:
        """Fit and score the candidate once, with fresh noise."""
        books = GaussianBooks(training_mu, RELATION)
        release = release_exact_gram(
            self.totals,
            len(self.model.inducing_points),
            self.model.noise(books.share(1.0), RELATION),
            label="kernel moments A and B",
            books=books,
            source=source,
        )
        update = self.model.update(release)
        return self.score(update, validation_mu, source), update

    def score(self, update: Update, mu: float, source: NoiseSource) -> float:
        """Return a private mean log density of the validation targets, by CoinPress.

        Minus infinity where it falls outside the interval that means can have.
        """
        centre, radius = score_interval(self.model)
        densities = np.clip(self.log_densities(update), centre - radius, centre + radius)
        books = GaussianBooks(mu, RELATION)
        score = coinpress_mean(
            densities,
            centre=centre,
            radius=radius,
            scale=1.0,
            mu=books.share(1.0),
            books=books,
            source=source,
            label="validation score",
        )
        # Differs from HM21: Algorithm 2 compares the sum over rows with the bounds of one row
        return score if abs(score - centre) <= radius else -math.inf

    def log_densities(self, update: Update) -> Array:
        """Return the log density of every validation target (HM21 eq. 21).

        Rows that cannot be used have a public constant instead.
        """
        mean = self.K_vz @ update.alpha
        # diag(K_VV) − diag(K_VZ K_ZZ⁻¹ K_ZV) + diag(K_VZ W K_ZV) + σ²
        variance = self.unexplained + np.einsum("ij,ij->i", self.K_vz @ update.W, self.K_vz)
        variance += self.model.noise_std**2
        squares = (self.targets - mean) ** 2 / variance
        densities = -0.5 * (np.log(2.0 * np.pi * variance) + squares)
        return np.where(self.usable, densities, self.substitute)


def prepare(
    models: Sequence[PaperModel], training: Rows, validation: Rows, n_jobs: int | None = None
) -> list[PreparedCandidate]:
    """Prepare every candidate, once for all runs.

    Validation rows that cannot be used stay in the count with the same density for every
    candidate, the lowest of the candidates' upper bounds: it favours none, and lies close to
    the densities of a good fit, where CoinPress ends up.
    """
    substitute = min(sum(score_interval(model)) for model in models)
    return [
        PreparedCandidate.of(model, training, validation, substitute, n_jobs) for model in models
    ]


def score_interval(model: PaperModel) -> tuple[float, float]:
    """Return centre and radius of the log densities, C_CP and R_CP of HM21's appendix."""
    radius = model.target_bound**2 / model.noise_std**2
    return -0.5 * math.log(2 * math.pi) - math.log(model.noise_std) - radius, radius


def check_noise(models: Sequence[PaperModel], training_mu: float, validation_mu: float) -> None:
    """Refuse a budget whose noise some candidate could not draw, before any is drawn."""
    sensitivity = bounded_sum_sensitivity(1.0, RELATION)
    stds = [gaussian_sigma(sensitivity, mu) for mu in step_mus(validation_mu)]
    for model in models:
        noise = model.noise(training_mu, RELATION)
        stds += noise.matrix(len(model.inducing_points), 1)[0].tolist()
    for std in stds:
        check_scale(std * UNIT**2)
