"""The matrix B = Σφφᵀ behind its noisy releases, and what is not known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve, eigh, solve_triangular
from scipy.special import softmax

from dpgp.inference.pull_back import SimplexQuadratic, feasible_part, minimise
from dpgp.inference.stage import StageRelease
from dpgp.types import Array

DENSITY_SDS = 2.0 ** np.arange(6)
"""Prior sds of the inputs' density over the box, relative to the uniform one: B̂ tells which."""

DENSITY_LENGTH = 0.3
"""Correlation length of that density, in half-widths of the box; set by hand, as those below: a
smoother prior takes more noise out of B̂ and misses more of what rows do."""

DENSITY_ROUGHNESS = 0.1
"""Variance of its rough part, relative to the smooth one; by hand."""

NOT_MISSED, MISSED = 1.1, 1.3
"""Between these shares of missed mass trust moves from the density to B̂ itself; noise alone stays
below one but for fluctuations (`missed_mass`), and a tenth is left for them."""

SUM_ERROR = 1e-3
"""Relative sd of Σp in the covariance of p: n is known, but zero would be an infinite precision."""

EXACT_DENSITY = 1e-3
"""Noise, as a share of the rows, that an exact Gram matrix is read with to find a density."""

ROUNDING = 1e-13
"""Eigenvalues below this share of the largest are rounding errors."""

FITS, MISFITS = 1.05, 1.15
"""The same for the distance from B̂, in noise variances beyond two sds of their fluctuation. By
hand."""


class GramEstimate(Protocol):
    r"""An estimate of B, and the covariance :math:`\Omega(W)` of its error times v, W = E[vvᵀ]."""

    @property
    def B(self) -> Array:
        """The estimate."""
        ...

    def error_covariance(self, W: Array) -> Array:
        """Return Ω(W) = Cov(Ev)."""
        ...

    def error_trace_matrix(self) -> Array:
        """Return Γ with tr Ω(W) = tr(ΓW)."""
        ...


@dataclass(frozen=True)
class IsotropicEstimate:
    r"""B̂ with its own noise: :math:`\Omega(W) = \tfrac12\sigma_b^2(\mathrm{tr}(W) I + W)`.

    Proof: docs/proofs/noise_aware_covariance.md.
    """

    B: Array
    sigma_b: float

    def error_covariance(self, W: Array) -> Array:
        """Return ½σ_b²(tr(W)·I + W)."""
        return np.asarray(0.5 * self.sigma_b**2 * (np.trace(W) * np.eye(len(W)) + W))

    def error_trace_matrix(self) -> Array:
        """Return ½σ_b²(d + 1)·I."""
        d = len(self.B)
        return 0.5 * self.sigma_b**2 * (d + 1) * np.eye(d)


@dataclass(frozen=True)
class DensityEstimate:
    r""":math:`B = \sum_g p_g\phi_g\phi_g^\top` over atoms of the public box.

    The weights are uncertain, :math:`p \sim N(\hat p, \Sigma_p)`, hence
    :math:`\Omega(W) = F^\top(\Sigma_p \circ FWF^\top)F` with the atoms' features in the rows of F.
    """

    B: Array
    atoms: Array
    weights: Array
    weights_covariance: Array

    def error_covariance(self, W: Array) -> Array:
        """Return Fᵀ(Σ_p ∘ FWFᵀ)F."""
        F = self.atoms
        return np.asarray(F.T @ (self.weights_covariance * (F @ W @ F.T)) @ F)

    def error_trace_matrix(self) -> Array:
        """Return Fᵀ(Σ_p ∘ FFᵀ)F."""
        return self.error_covariance(np.eye(self.atoms.shape[1]))


@dataclass(frozen=True)
class DoubtedEstimate:
    r"""A mixture of two estimates: :math:`(1 - s)` of the density's, s of B̂ with its own noise."""

    density: DensityEstimate
    projected: IsotropicEstimate
    doubt: float

    @property
    def B(self) -> Array:
        """The mixture."""
        return (1.0 - self.doubt) * self.density.B + self.doubt * self.projected.B

    def error_covariance(self, W: Array) -> Array:
        """Return (1 − s)Ω_p(W) + sΩ_B̂(W)."""
        by_density, by_noise = (e.error_covariance(W) for e in (self.density, self.projected))
        return (1.0 - self.doubt) * by_density + self.doubt * by_noise

    def error_trace_matrix(self) -> Array:
        """Return the same mixture of the two Γ."""
        by_density, by_noise = (e.error_trace_matrix() for e in (self.density, self.projected))
        return (1.0 - self.doubt) * by_density + self.doubt * by_noise


def estimate_gram(stages: Sequence[StageRelease], atoms: Array, positions: Array) -> GramEstimate:
    """Pull the pooled B̂ back to what rows could have produced; an exact one is left alone."""
    B_hat, sigma_b = pool(stages)
    if sigma_b == 0.0:
        return IsotropicEstimate(B_hat, 0.0)
    n = stages[-1].n
    projected = IsotropicEstimate(feasible_part(B_hat, n), sigma_b)
    sd = density_sd(B_hat, sigma_b, atoms, positions, n)
    density = density_estimate(B_hat, sigma_b, atoms, positions, n, sd)
    return DoubtedEstimate(density, projected, doubt(B_hat, sigma_b, density.B))


def density_behind(gram: GramEstimate, atoms: Array, positions: Array, n: float) -> DensityEstimate:
    """Return the density of the inputs behind an estimate of B."""
    if isinstance(gram, DoubtedEstimate):
        return gram.density
    return density_estimate(gram.B, EXACT_DENSITY * n, atoms, positions, n)


def missed_mass(B_hat: Array, sigma_b: float, B: Array) -> float:
    r"""Return how much of B̂ an estimate misses, in the direction where it misses most.

    .. math:: \max_q\frac{q^\top(\hat B - B)q}{q^\top(B + eI)q}, \qquad e = \sigma_b\sqrt{2d}

    Noise alone has eigenvalues of at most e (Wigner), so it stays below one up to fluctuations. A B
    that is too small in some direction makes the weights explode there; one too large is harmless.
    """
    d = len(B)
    edge = sigma_b * float(np.sqrt(2 * d))
    top = [d - 1, d - 1]
    return float(eigh(B_hat - B, B + edge * np.eye(d), eigvals_only=True, subset_by_index=top)[0])


def misfit(B_hat: Array, sigma_b: float, B: Array) -> float:
    r"""Return :math:`\|\hat B - B\|_F^2/N\sigma_b^2 - 2\sqrt{2/N}`: at most one where B is right.

    :math:`N = d(d + 1)/2` numbers of variance :math:`\sigma_b^2` lie behind the distance; two sds
    of its fluctuation are left out.
    """
    N = len(B) * (len(B) + 1) / 2
    return float(np.sum((B_hat - B) ** 2) / (N * sigma_b**2) - 2 * np.sqrt(2 / N))


def doubt(B_hat: Array, sigma_b: float, B: Array) -> float:
    """Return the share s of B̂ itself: 0 where a density explains it, 1 where it does not.

    Atoms do not reach mass on corners and faces of the box well (0/1 columns, many zeros). The
    passage is continuous, so that roundings of another processor do not decide.
    """
    missed = (missed_mass(B_hat, sigma_b, B) - NOT_MISSED) / (MISSED - NOT_MISSED)
    misfitting = (misfit(B_hat, sigma_b, B) - FITS) / (MISFITS - FITS)
    return min(max(missed, misfitting, 0.0), 1.0)


def pool(stages: Sequence[StageRelease]) -> tuple[Array, float]:
    """Return the precision-weighted mean of the stages' B̂, and its standard deviation."""
    if stages[-1].is_exact:
        return stages[-1].B, 0.0
    precision = np.array([stage.sigma_b**-2.0 for stage in stages])
    pooled = np.tensordot(precision / precision.sum(), [stage.B for stage in stages], axes=1)
    return np.asarray(pooled), float(precision.sum() ** -0.5)


def density_sd(B_hat: Array, sigma_b: float, F: Array, positions: Array, n: float) -> float:
    r"""Return the prior sd of the density that B̂ speaks for, averaged over its logarithm.

    With :math:`H_{gh} = (\phi_g^\top\phi_h)^2/\sigma_b^2`, what B̂ has beyond the uniform density,
    :math:`h_g = \phi_g^\top(\hat B - B_u)\phi_g/\sigma_b^2`, and the prior :math:`s^2LL^\top`,

    .. math:: \log p(\hat B \mid s) = \tfrac12 g^\top M_s^{-1}g - \tfrac12\log|M_s| + \dots,
              \quad M_s = I + s^2L^\top HL, \quad g = sL^\top h.

    Inputs with few values or many zeros are far from uniform, and s grows with them.
    """
    L = np.linalg.cholesky(density_prior(positions, n))
    beyond = B_hat - n * F.T @ F / len(F)
    g = L.T @ np.einsum("gd,gd->g", F @ beyond, F) / sigma_b**2
    # LᵀHL = QΛQᵀ; of many rows it is so large that I + s²LᵀHL has rounding errors beyond one
    eigenvalues, Q = np.linalg.eigh(L.T @ ((F @ F.T) ** 2 / sigma_b**2) @ L)
    seen = eigenvalues > ROUNDING * eigenvalues[-1]
    lam, z = eigenvalues[seen], (Q.T @ g)[seen]
    log_evidence = np.array([_log_density(s * z, 1.0 + s**2 * lam) for s in DENSITY_SDS])
    return float(np.exp(softmax(log_evidence) @ np.log(DENSITY_SDS)))


def _log_density(g: Array, M: Array) -> float:
    """Return ½gᵀM⁻¹g − ½ log|M| for a diagonal M."""
    return float(0.5 * np.sum(g**2 / M) - 0.5 * np.log(M).sum())


def density_estimate(
    B_hat: Array, sigma_b: float, F: Array, positions: Array, n: float, sd: float = 1.0
) -> DensityEstimate:
    r"""Return the most plausible density of the inputs given B̂, and the B that it implies.

    Minimises :math:`\|\hat B - \sum p_g\phi_g\phi_g^\top\|_F^2/\sigma_b^2 + (p - n/G)^\top
    P_0^{-1}(p - n/G)` over :math:`p \ge 0, \sum p = n`, with a smooth Gaussian prior :math:`P_0`,
    ``sd`` times as wide as the uniform density is high.
    Since :math:`\langle\phi\phi^\top, \phi'\phi'^\top\rangle = (\phi^\top\phi')^2`, the size of the
    problem is the number of atoms, whatever d.
    """
    G = len(F)
    inverse_prior = np.linalg.inv(density_prior(positions, n)) / sd**2
    # ½pᵀHp − hᵀp with H = (FFᵀ)∘(FFᵀ)/σ_b² + P₀⁻¹, h_g = φ_gᵀB̂φ_g/σ_b² + (P₀⁻¹ 1n/G)_g
    precision = (F @ F.T) ** 2 / sigma_b**2 + inverse_prior
    linear = np.einsum("gd,gd->g", F @ B_hat, F) / sigma_b**2 + inverse_prior @ np.full(G, n / G)
    # Σp = n ± SUM_ERROR·n for the covariance, exactly for the estimate
    sum_precision = (SUM_ERROR * n) ** -2.0
    # Σ_p⁻¹ = LLᵀ = (FFᵀ)∘(FFᵀ)/σ_b² + P₀⁻¹ + 11ᵀ/(SUM_ERROR·n)²; where only P₀ speaks, B is the
    # same whatever p, and of many rows P₀⁻¹ is below the rounding errors
    jitter = ROUNDING * np.diag(precision).max() * np.eye(G)
    L = np.linalg.cholesky(precision + sum_precision + jitter)
    z = solve_triangular(L, linear + sum_precision * n, lower=True)
    problem = SimplexQuadratic(precision, linear, n)
    p = minimise(problem, floor=0.5 * float(z @ z), start=np.full(G, n / G))
    covariance = np.asarray(cho_solve((L, True), np.eye(G)))
    return DensityEstimate(np.asarray((F.T * p) @ F), F, p, covariance)


def density_prior(positions: Array, n: float) -> Array:
    """Return the prior covariance of the weights around the uniform n/G, for an sd of one.

    k(x, x') = exp(−‖x − x'‖²/2ℓ²) and a rough part: smooth in all inputs together.
    """
    squares = ((positions[:, None, :] - positions[None, :, :]) ** 2).sum(axis=-1)
    smooth = np.exp(-0.5 * squares / DENSITY_LENGTH**2)
    prior = smooth + DENSITY_ROUGHNESS * np.eye(len(positions))
    return np.asarray((n / len(positions)) ** 2 * prior)
