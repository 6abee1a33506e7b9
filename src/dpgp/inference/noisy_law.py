r"""The law behind one noisy histogram: candidates, weighted by the likelihood of the counts.

A candidate has a mass b in every bin, a covariance S of what the law's masses may differ from it,
and a CDF on a grid: with little noise the counts speak, with much noise the candidates do.
Conditioning on counts with Gaussian noise is exact. A family of laws is a value of `Candidates`:
bent laws of residuals (:mod:`dpgp.inference.residual_families`), even masses for an input or a
category, the copula's masses for cells of the inputs. docs/method.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpgp.arithmetic import TINY
from dpgp.inference.pull_back import project_to_simplex
from dpgp.types import Array

Law = Callable[[Array], Array]

# The prior of the bend, set by hand
BEND_SDS = np.array([0.1, 0.3, 1.0])  # distance from any candidate, relative to its density
BEND_LENGTH = 0.5  # correlation length of the bend, in normal scores
BEND_ROUGHNESS = 0.2  # share of its variance that is each bin's own: peaks and gaps
TAIL_FREEDOM = 0.25  # how much freer the bend is in the tails, 1 + z²/4

SLIGHT = 1e-9
"""Relative jitter, and a slope that makes a CDF invertible: both below any count's noise."""

ROUNDING = 1e-7
"""Share of all rows to which a count is believed at most: its square keeps the digits of n²."""

UNLIKELY = 1e-4
"""Weight of a candidate, relative to the likeliest, below which it is left out of functionals."""

AT_ONCE = 256
"""Candidates that are conditioned at a time: all of them would take a hundred megabytes,
and leave the processor's cache."""

EDGE_OF_MASS = 1e-6
"""Keeps normal scores finite where a candidate has no mass beyond a bin."""


class Candidates(NamedTuple):
    """A family of laws: mass per bin, CDF on the grid, covariance of the masses, log prior.

    ``places`` says in which bin every stretch of the grid lies, ``sampling`` whether the law is one
    that rows were drawn from; else it is that of these rows, and counts have only privacy noise.
    """

    bins: Array
    cdfs: Array
    spreads: Array
    log_prior: Array
    places: NDArray[np.intp]
    sampling: bool = True


def bent_candidates(laws: Iterable[tuple[Law, float]], edges: Array, grid: Array) -> Candidates:
    r"""Return every law, a CDF with its log prior, with every bend.

    A bend multiplies masses by :math:`1 + f`, :math:`f \sim N(0, \sigma_f^2K)`, so that
    :math:`S = \sigma_f^2D_bKD_b`, :math:`D_b = \mathrm{diag}(b)`.
    """
    if edges[-1] != np.inf or not (np.diff(edges) > 0).all():
        raise ValueError("`edges` must increase, and end at infinity.")
    rows = []
    for law, log_prior in laws:
        bins = np.diff(law(edges))
        cdf, spread = law(grid), np.outer(bins, bins) * _bend_covariance(bins)
        rows += [(bins, cdf, bend**2 * spread, log_prior) for bend in BEND_SDS]
    places = np.searchsorted(edges[1:-1], (grid[1:] + grid[:-1]) / 2)
    masses, cdfs, spreads, log_priors = (np.array(column) for column in zip(*rows, strict=True))
    return Candidates(masses, cdfs, spreads, log_priors, places)


def mass_candidates(bins: Array, spreads: Array) -> Candidates:
    """Return laws of these rows, known by their masses alone: equally likely, even within a bin."""
    places = np.arange(bins.shape[1])
    return Candidates(bins, _from_zero(bins), spreads, np.zeros(len(bins)), places, sampling=False)


def even_candidates(amplitudes: Array, correlations: Sequence[Array]) -> Candidates:
    r"""Return even masses that differ by any of the amplitudes, correlated in any of these ways.

    :math:`S = a^2C/K^2`, C centred: a is an sd relative to the mass of a bin, and 0 is even.
    """
    K = len(correlations[0])
    spreads = [a**2 * _centred(C) / K**2 for a, C in product(amplitudes, correlations)]
    return mass_candidates(np.full((len(spreads), K), 1 / K), np.array(spreads))


class Measured(NamedTuple):
    """The mean of v over so many rows as it was found, with an sd of all but their sampling.

    ``values`` has one for every stretch of the grid.
    """

    values: Array
    found: float
    error: float
    rows: float


class Functionals(NamedTuple):
    """E[v | bin], (candidates, bins, functionals), in those bins where a v is not zero."""

    bins: NDArray[np.intp]
    within: Array


@dataclass(frozen=True)
class LawBelief:
    """What noisy counts say of a law.

    ``weights`` of the candidates, and under each of them mean and covariance of the bins' masses.
    """

    candidates: Candidates
    weights: Array
    masses: Array
    covariances: Array

    @cached_property
    def bent(self) -> Array:
        """CDF on the grid under every candidate, its mass in every bin moved to the mean."""
        before, after = (_from_zero(masses) for masses in (self.candidates.bins, self.masses))
        rows = zip(self.candidates.cdfs, before, after, strict=True)
        return np.array([np.interp(cdf, b, q) for cdf, b, q in rows])

    @property
    def cdf(self) -> Array:
        """Posterior mean of the CDF on the grid, strictly increasing within [0, 1]."""
        return increasing(self.weights @ self.bent)

    @property
    def mean_masses(self) -> Array:
        """Posterior mean of the bins' masses, projected to what no mass below zero allows."""
        return project_to_simplex(self.weights @ self.masses, 1.0)

    @property
    def is_likely(self) -> NDArray[np.bool_]:
        """Which candidates count at all."""
        return np.asarray(self.weights > UNLIKELY * self.weights.max())

    def likely(self) -> LawBelief:
        """Return the same without candidates that hardly count."""
        kept = self.only(self.is_likely)
        return replace(kept, weights=kept.weights / kept.weights.sum())

    def only(self, kept: slice | NDArray[np.bool_]) -> LawBelief:
        """Return the same of some candidates, with the weights that they have here."""
        arrays = (self.weights, self.masses, self.covariances)
        return LawBelief(_some(self.candidates, kept), *(array[kept] for array in arrays))

    def given(self, measured: Measured) -> LawBelief:
        """Return what is believed after one more measurement, by the rule of Bayes.

        Under every candidate q ~ N(q̄, C), and hᵀq + N(0, error² + Var(v)/n) was found.
        """
        v = measured.values[:, None]
        one, square = self.functionals(v), self.functionals(v**2)
        mean = self.mean(one)
        sampling = np.maximum(self.mean(square) - mean**2, 0.0) / measured.rows
        variances = self.covariance(one, one) + sampling + measured.error**2
        surprise = measured.found - mean
        # Ch, and log N(found; hᵀq̄, hᵀCh + error² + Var(v)/n)
        Ch = (self.covariances[:, :, one.bins] @ one.within)[:, :, 0]
        fit = -0.5 * (surprise**2 / variances + np.log(variances))[:, 0]
        weights = self.weights * np.exp(fit - fit.max())
        return LawBelief(
            self.candidates,
            weights / weights.sum(),
            self.masses + Ch * surprise / variances,
            self.covariances - Ch[:, :, None] * Ch[:, None, :] / variances[:, :, None],
        )

    def functionals(self, values: Array) -> Functionals:
        """Return Σ_i p_i v_i under every candidate, p the masses between points of the grid.

        ``values`` has a row for every such stretch, and a column for every functional.
        """
        places, stretches = self.candidates.places, np.diff(self.candidates.cdfs, axis=1)
        bins = np.unique(places[values.any(axis=1)])
        within = np.empty((len(stretches), len(bins), values.shape[1]))
        for j, place in enumerate(bins):
            mass = np.maximum(self.candidates.bins[:, [place]], TINY)
            within[:, j] = (stretches[:, places == place] / mass) @ values[places == place]
        return Functionals(bins, within)

    def mean(self, one: Functionals) -> Array:
        """Return the mean of functionals under every candidate."""
        return np.asarray((self.masses[:, None, one.bins] @ one.within)[:, 0])

    def covariance(self, one: Functionals, other: Functionals) -> Array:
        """Return hᵀCov(q)h′ of functionals with others, column by column, under every candidate."""
        between = self.covariances[:, one.bins[:, None], other.bins]
        return np.asarray(np.einsum("kja,kja->ka", one.within, between @ other.within))


def believe(
    counts: Array, noise_std: float, n: float, candidates: Candidates, n_std: float = 0.0
) -> LawBelief:
    r"""Condition candidates on noisy counts of n rows.

    For each mass vector b, :math:`q \sim N(b, S)`, so that
    :math:`c \sim N(nb,\ n^2S + n(D_b - bb^\top) + \sigma_h^2 I)` with
    :math:`D_b = \mathrm{diag}(b)`; weights and means are then exact. For the law of these very rows
    there is no :math:`n(D_b - bb^\top)`. Where n is itself noisy, its ``n_std`` adds
    :math:`\sigma_n^2bb^\top`.
    """
    counts = np.asarray(counts, float)
    if counts.shape != candidates.bins.shape[1:]:
        raise ValueError(
            f"`counts` must have one entry per bin, {candidates.bins.shape[1]}, got shape "
            f"{counts.shape}."
        )
    if not (n > 0 and noise_std >= 0):
        raise ValueError(
            f"`n` must be positive and `noise_std` not negative, got {n} and {noise_std}."
        )
    some = (_some(candidates, part) for part in few_at_once(len(candidates.bins)))
    parts = [_condition(counts, noise_std, n, each, n_std) for each in some]
    log_weights, masses, covariances = map(np.concatenate, zip(*parts, strict=True))
    weights = np.exp(log_weights - log_weights.max())
    return LawBelief(candidates, weights / weights.sum(), masses, covariances)


def few_at_once(candidates: int) -> list[slice]:
    """Return slices of so many candidates."""
    return [slice(k, k + AT_ONCE) for k in range(0, candidates, AT_ONCE)]


def _some(candidates: Candidates, kept: slice | NDArray[np.bool_]) -> Candidates:
    bins, cdfs, spreads, log_prior, places, sampling = candidates
    return Candidates(bins[kept], cdfs[kept], spreads[kept], log_prior[kept], places, sampling)


def _condition(
    counts: Array, noise_std: float, n: float, candidates: Candidates, n_std: float
) -> tuple[Array, Array, Array]:
    """Return log weights, and mean and covariance of the bins' masses under each candidate."""
    b = candidates.bins
    D_b, bb = b[:, :, None] * np.eye(b.shape[1]), b[:, :, None] * b[:, None, :]
    # Cov(c) = n²S + n(D_b − bbᵀ) + σ_n² bbᵀ + σ_h² I
    signal = n * n * candidates.spreads
    slight = SLIGHT * n + (ROUNDING * n) ** 2
    drawn = n * candidates.sampling * (D_b - bb)
    noise = drawn + n_std**2 * bb + (noise_std**2 + slight) * np.eye(b.shape[1])
    residual = (counts - n * b)[:, :, None]
    solved = np.linalg.solve(signal + noise, np.concatenate([residual, signal], axis=2))
    log_determinant = np.linalg.slogdet(signal + noise)[1]
    # −½ rᵀCov(c)⁻¹r − ½ log|Cov(c)|, r = c − nb
    misfit = np.sum(residual[:, :, 0] * solved[:, :, 0], axis=1)
    return (
        candidates.log_prior - 0.5 * misfit - 0.5 * log_determinant,
        # E[q | c] = b + nS Cov(c)⁻¹ r,  Cov(q | c) = S − n²S Cov(c)⁻¹ S
        b + (signal @ solved[:, :, :1])[:, :, 0] / n,
        (signal - signal @ solved[:, :, 1:]) / n**2,
    )


def increasing(cdf: Array) -> Array:
    """Strictly increasing within [0, 1]: running maximum plus a slope too small to matter."""
    monotone = np.maximum.accumulate(np.clip(cdf, 0.0, 1.0))
    strict: Array = (monotone + SLIGHT * np.arange(len(cdf))) / (1 + SLIGHT * len(cdf))
    return strict


def _bend_covariance(bins: Array) -> Array:
    r"""Covariance of :math:`f` in units of the bend: smooth in the normal score, freer in the tail.

    With the score z at the middle of a bin,
    :math:`K = a(z)a(z')[(1 - r)\exp(-(z - z')^2/2\ell^2) + r\,1_{z = z'}]` and
    :math:`a = 1 + z^2/4`, centred so that :math:`\sum_j b_jf_j = 0`.
    """
    middles = np.cumsum(bins) - bins / 2
    z = ndtri(np.clip(middles, EDGE_OF_MASS, 1 - EDGE_OF_MASS))
    freedom = 1 + TAIL_FREEDOM * z**2
    smooth = np.exp(-0.5 * ((z[:, None] - z) / BEND_LENGTH) ** 2)
    rough = np.eye(len(z))
    K = np.outer(freedom, freedom) * ((1 - BEND_ROUGHNESS) * smooth + BEND_ROUGHNESS * rough)
    # (I − 1bᵀ/Σb) K (I − 1bᵀ/Σb)ᵀ
    centre = np.eye(len(bins)) - np.outer(np.ones(len(bins)), bins / bins.sum())
    centred: Array = centre @ K @ centre.T
    return centred


def _centred(C: Array) -> Array:
    """Return the covariance of deviations less their mean."""
    centred: Array = C - C.mean(axis=0) - C.mean(axis=1)[:, None] + C.mean()
    return centred


def _from_zero(masses: Array) -> Array:
    """Return sums of the first masses of every row, of none to all."""
    return np.insert(np.cumsum(masses, axis=1), 0, 0.0, axis=1)
