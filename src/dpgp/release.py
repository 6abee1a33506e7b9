"""The wall: the one place in which rows, features and noise meet.

On one side raw rows, on the other a release that carries noise and may be published. What is called
here: rows become feature columns, the columns integers, the integers an exact sum, and the sum
leaves through :func:`dpgp.privacy.mechanism.publish`, which books it before any noise is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from dpgp.privacy.sensitivity import bounded_sum_sensitivity
from dpgp.sources.arrays import Rows

Array = NDArray[np.float64]

BLOCK_ROWS = 2048


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


def release_gram(
    rows: Rows,
    features: FeatureMap,
    noise: GramNoise,
    *,
    label: str,
    ledger: GaussianLedger,
    source: NoiseSource,
    n_jobs: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> GramRelease:
    """Release the Gram matrix of features and targets, with the given noise."""
    totals = exact_gram(rows, features, n_jobs=n_jobs, block_rows=block_rows)
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
    rows: Rows, features: FeatureMap, *, n_jobs: int | None = None, block_rows: int = BLOCK_ROWS
) -> Integers:
    """Return Σψψᵀ in integer units. Private: leaves this module only through a mechanism."""
    size = features.rows_per_call or block_rows
    return sum_blocks(
        rows.blocks(size),
        lambda block: integer_columns(_padded(block, features.filler, size), features),
        features.dimension + len(rows.targets),
        n_jobs,
    )


def integer_columns(block: Rows, features: FeatureMap) -> Array:
    """Return the integers ψ of every row of a block; zero for rows that cannot be used."""
    d = features.dimension
    psi = np.empty((d + len(block.targets), len(block)))
    psi[:d] = features.evaluate(block.inputs)
    psi[d:] = block.targets
    psi[:, ~block.usable] = 0.0
    round_columns(psi[:d])
    round_targets(psi[d:])
    return psi


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
