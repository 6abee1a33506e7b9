r"""What every stage measured, as linear measurements of f that any later dictionary can read.

A stage released :math:`\hat A = \sum\phi\,\mathrm{clip}(t - f_0(x), R)/R` and, free, a noisy
:math:`\hat B = \sum\phi\phi^\top`. Corrected for clipping, :math:`a = \hat A R/(ng)` is a noisy
:math:`E[\phi(f - f_0)]`. The expectation is taken over synthetic rows, corrected by those
directions in which the noisy B differs from theirs by more than its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpgp.inference.many.dictionary import Dictionary
from dpgp.types import Array

RIDGE = 0.05
"""Ridge of the correction, relative to the mean eigenvalue of B; by hand: directions that hardly
any row has shall not be corrected most."""


@dataclass(frozen=True)
class Record:
    """H(f − f₀) = a + noise: ``operator`` is H on values at the synthetic rows."""

    operator: Array  # (N, rows)
    a: Array
    variance: Array
    centre: Array  # f₀ at the synthetic rows


def gram_correction(B: Array, noisy: Array, noise: float) -> Array:
    r"""Return :math:`\tilde BB^{-1}`, where B̃ is B moved towards the noisy one above the noise.

    A symmetric matrix of noise has no eigenvalue beyond :math:`2\sigma\sqrt N`; what stands out is
    shrunk as a spike (Benaych-Georges & Nadakuditi 2011). ``noise`` is the sd off the diagonal.
    """
    N = len(B)
    edge = 2.0 * noise * np.sqrt(N)
    gaps, Q = np.linalg.eigh(noisy - B)
    root = np.sqrt(np.maximum(gaps**2 - edge**2, 0.0))
    spikes = np.where(np.abs(gaps) > edge, (gaps + np.sign(gaps) * root) / 2, 0.0)
    if not spikes.any():
        return np.eye(N)
    eigenvalues, basis = np.linalg.eigh(B + (Q * spikes) @ Q.T)
    moved = (basis * np.maximum(eigenvalues, 0.0)) @ basis.T
    ridge = RIDGE * np.trace(B) / N * np.eye(N)
    return np.asarray(np.eye(N) + np.linalg.solve(B + ridge, moved - B).T)


def operator_of(phi: Array, correction: Array) -> Array:
    """Return H = B̃B⁻¹Φᵀ/m from features at the synthetic rows, one a row of ``phi``."""
    return np.asarray(correction @ phi.T / len(phi))


@dataclass(frozen=True)
class NormalEquations:
    """Precision and linear term of all records in the weights of one dictionary."""

    J: Array
    h: Array


def read_records(
    records: Sequence[Record], dictionary: Dictionary, base: Array, centre: Array, doubt: float
) -> NormalEquations:
    """Read all records as measurements of w, f = base + φᵀw.

    A record is moved to the present centre by the synthetic B, whose error costs ``doubt``² of the
    mean square of the move.
    """
    rows, targets = [], []
    for record in records:
        move = record.operator @ (centre - record.centre)
        sd = np.sqrt(record.variance + doubt**2 * float(np.mean(move**2)))
        rows.append(dictionary.seen_by(record.operator) / sd[:, None])
        start = record.operator @ (record.centre - base)
        targets.append((record.a + start) / sd)
    H = np.vstack(rows)
    return NormalEquations(np.asarray(H.T @ H), np.asarray(H.T @ np.concatenate(targets)))
