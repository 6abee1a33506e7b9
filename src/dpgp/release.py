"""The wall: the one place in which rows, features and noise meet.

On one side raw rows, on the other a release that carries noise and may be published. What is called
here: rows become feature columns, the columns integers, the integers an exact sum, and the sum
leaves through :func:`dpgp.privacy.mechanism.publish`, which books it before any noise is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.features.maps import FeatureMap
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.exact_sums import Integers, sum_blocks
from dpgp.privacy.fixed_point import UNIT, round_columns, round_targets, shrinkage
from dpgp.privacy.ledger import GaussianLedger
from dpgp.privacy.mechanism import GramNoise, publish, publish_gram
from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.sensitivity import bounded_sum_sensitivity, histogram_sensitivity
from dpgp.sources.arrays import Rows
from dpgp.threads import single_threaded_blas

Array = NDArray[np.float64]

BLOCK_ROWS = 4096


@dataclass(frozen=True)
class GramRelease:
    r"""A noisy :math:`\sum_i \psi_i\psi_i^\top`, :math:`\psi = (\phi(x), t)`, in blocks.

    Noise has standard deviation ``feature_std`` on the diagonal of ``feature_gram`` and that over
    √2 off it, ``cross_std`` on ``cross``, and ``target_std`` on the diagonal of ``target_gram``,
    which is withheld (None) where the mechanism does not include it.
    """

    feature_gram: Array  # Σ φφᵀ  (d, d)
    cross: Array  # Σ φ tᵀ  (d, K)
    target_gram: Array | None  # Σ t tᵀ  (K, K)
    feature_std: float
    cross_std: float
    target_std: float | None


@dataclass(frozen=True)
class Residuals:
    r"""What a public function leaves of the targets, :math:`(t - \phi(x)^\top w)/R`."""

    features: FeatureMap
    weights: Array  # (K, d)
    clips: Array  # (K,)

    def of(self, block: Rows, features: FeatureMap, phi: Array) -> Array:
        """Return the residuals of a block, given the features ``phi`` that ``features`` made."""
        own = phi if features is self.features else self.features.evaluate(block.inputs)
        # summed in the same order for every row, which a matrix product need not do
        mean = np.einsum("kd,dn->kn", self.weights, own)
        return np.asarray((block.targets - mean) / self.clips[:, None])


def release_gram(
    rows: Rows,
    features: FeatureMap,
    noise: GramNoise,
    *,
    label: str,
    ledger: GaussianLedger,
    source: NoiseSource,
    residuals: Residuals | None = None,
    n_jobs: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> GramRelease:
    """Release the Gram matrix of features and targets, or of residuals, with the given noise."""
    totals = exact_gram(rows, features, residuals, n_jobs=n_jobs, block_rows=block_rows)
    return release_exact_gram(
        totals, features.dimension, noise, label=label, ledger=ledger, source=source
    )


def release_exact_gram(
    totals: Integers,
    n_features: int,
    noise: GramNoise,
    *,
    label: str,
    ledger: GaussianLedger,
    source: NoiseSource,
) -> GramRelease:
    """Release an exact Gram matrix whose first ``n_features`` columns are features."""
    stds = noise.matrix(n_features, len(totals) - n_features)
    gram = publish_gram(totals, stds, noise, label, ledger, source)
    return _in_real_units(gram, noise, n_features)


def release_sum(
    values: Array, mu: float, *, label: str, ledger: GaussianLedger, source: NoiseSource
) -> float:
    """Release the sum of values in [−1, 1] with Gaussian noise worth ``mu``."""
    integers = np.array(values, dtype=np.float64)
    round_targets(integers)
    total = int(integers.astype(np.int64).sum()) * int(UNIT)
    sensitivity = bounded_sum_sensitivity(1.0, ledger.neighbours)
    sigma = gaussian_sigma(sensitivity, mu)
    totals, stds = np.array([total], dtype=object), np.array([sigma])
    return float(publish(totals, stds, sensitivity, sigma, label, ledger, source)[0])


def exact_gram(
    rows: Rows,
    features: FeatureMap,
    residuals: Residuals | None = None,
    *,
    n_jobs: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Integers:
    """Return Σψψᵀ in integer units. Private: leaves this module only through a mechanism."""
    size = features.rows_per_call or block_rows
    return sum_blocks(
        rows.blocks(size),
        lambda block, out: integer_columns(
            _padded(block, features.filler, size), features, residuals, out
        ),
        public_block(features.filler, rows, size),
        features.dimension + len(rows.targets),
        size,
        n_jobs,
    )


def integer_columns(
    block: Rows,
    features: FeatureMap,
    residuals: Residuals | None = None,
    out: Array | None = None,
) -> Array:
    """Return the integers ψ of every row of a block; zero for rows that cannot be used."""
    d = features.dimension
    psi = np.empty((d + len(block.targets), len(block))) if out is None else out
    phi = features.evaluate(block.inputs, psi[:d])
    psi[d:] = block.targets if residuals is None else residuals.of(block, features, phi)
    psi[:, ~block.usable] = 0.0
    round_columns(psi[:d])
    round_targets(psi[d:])
    return psi


def release_histograms(
    rows: Rows,
    bins_of: Callable[[Rows], NDArray[np.int64]],
    n_bins: int,
    mu: float,
    *,
    filler: Any,
    label: str,
    ledger: GaussianLedger,
    source: NoiseSource,
    rows_per_unit: int = 1,
    block_rows: int = BLOCK_ROWS,
) -> tuple[Array, float]:
    """Release histograms of the rows, one a row of ``bins_of``, and the noise of a count.

    ``bins_of`` maps a block to bin numbers, (histograms, rows); rows that cannot be used fall into
    no bin.
    """
    counts = exact_histograms(rows, bins_of, n_bins, filler, block_rows)
    sensitivity = histogram_sensitivity(len(counts), ledger.neighbours, rows_per_unit)
    sigma = gaussian_sigma(sensitivity, mu)
    totals = counts.ravel().astype(object) * int(UNIT) ** 2
    stds = np.full(len(totals), sigma)
    noisy = publish(totals, stds, sensitivity, sigma, label, ledger, source)
    return noisy.reshape(counts.shape), sigma


def exact_histograms(
    rows: Rows,
    bins_of: Callable[[Rows], NDArray[np.int64]],
    n_bins: int,
    filler: Any,
    block_rows: int = BLOCK_ROWS,
) -> NDArray[np.int64]:
    """Return how many rows fall into each bin. Private, as exact_gram."""
    with single_threaded_blas():
        blocks = (_padded(block, filler, block_rows) for block in rows.blocks(block_rows))
        return reduce(np.add, (_block_counts(block, bins_of, n_bins) for block in blocks))


def _block_counts(
    block: Rows, bins_of: Callable[[Rows], NDArray[np.int64]], n_bins: int
) -> NDArray[np.int64]:
    bins = bins_of(block)[:, block.usable]
    return np.stack([np.bincount(row, minlength=n_bins) for row in bins])


def release_count(
    rows: Rows,
    mu: float,
    *,
    ledger: GaussianLedger,
    source: NoiseSource,
    rows_per_unit: int = 1,
) -> float:
    """Release the number of rows that can be used; a unit changes it by at most its rows."""
    sensitivity = float(rows_per_unit)
    sigma = gaussian_sigma(sensitivity, mu)
    totals = np.array([int(rows.usable.sum()) * int(UNIT) ** 2], dtype=object)
    stds, label = np.array([sigma]), "number of rows"
    return float(publish(totals, stds, sensitivity, sigma, label, ledger, source)[0])


def public_block(filler: Any, rows: Rows, size: int = BLOCK_ROWS) -> Rows:
    """Return a block of one public row, to check that its place in a block does not matter."""
    like = Rows(rows.inputs[:0], rows.targets[:, :0], rows.usable[:0])
    block = _padded(like, filler, size)
    return Rows(block.inputs, block.targets, np.ones(size, dtype=bool))


def _padded(block: Rows, filler: Any, size: int) -> Rows:
    """Fill a block to its full size, and put a public row in place of those that are not usable.

    So every row takes the same path through the arithmetic, wherever it stands.
    """
    inputs = np.empty((size, *block.inputs.shape[1:]), dtype=block.inputs.dtype)
    if inputs.ndim > 1:
        inputs[:] = filler
    else:
        inputs.fill(filler)  # objects, which need not be scalars to NumPy
    inputs[: len(block)][block.usable] = block.inputs[block.usable]
    targets = np.zeros((len(block.targets), size))
    targets[:, : len(block)] = block.targets
    usable = np.zeros(size, dtype=bool)
    usable[: len(block)] = block.usable
    return Rows(inputs, targets, usable)


def _in_real_units(gram: Array, noise: GramNoise, d: int) -> GramRelease:
    shrunk = shrinkage(d)  # the features carry this public factor: divide it out
    return GramRelease(
        feature_gram=gram[:d, :d] / shrunk**2,
        cross=gram[:d, d:] / shrunk,
        target_gram=None if noise.target_std is None else gram[d:, d:],
        feature_std=noise.feature_std / shrunk**2,
        cross_std=noise.cross_std / shrunk,
        target_std=noise.target_std,
    )
