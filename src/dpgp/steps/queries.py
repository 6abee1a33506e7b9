"""What a step asks of the rows: public functions of one row, and how they are summed.

A query says what is to be released and never sees a row itself; the wall evaluates it, adds noise
for its sensitivity, and answers with released values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpgp.features.base import FeatureMap
from dpgp.features.inputs import RowValues
from dpgp.options import Options
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.mechanism import GramNoise, gram_noise
from dpgp.privacy.sensitivity import histogram_sensitivity
from dpgp.types import Array

Values = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class CountQuery:
    """How many rows can be used."""


@dataclass(frozen=True)
class HistogramQuery:
    """Histograms side by side, in each of which a row falls into one bin.

    ``values_of`` maps the inputs (rows, columns) and scaled targets (targets, rows) of a block to
    values (histograms, rows), which are counted between the inner ``edges``; rows that cannot be
    used fall into no bin. ``filler`` is a public row that stands in for padding.
    """

    values_of: Values
    histograms: int
    edges: Array
    filler: Array


@dataclass(frozen=True)
class GramQuery:
    r""":math:`\sum\psi\psi^\top` of features and values in [−1, 1], :math:`\psi = (\phi, s\,r)`."""

    features: FeatureMap
    residuals: RowValues


Query = CountQuery | HistogramQuery | GramQuery


def count_noise(options: Options, histograms: int, mu: float) -> float:
    """Return the standard deviation of the noise on a count of so many histograms together."""
    sensitivity = histogram_sensitivity(histograms, options.neighbours, options.max_rows_per_unit)
    return gaussian_sigma(sensitivity, mu)


def noise_of_gram(options: Options, mu: float) -> GramNoise:
    """Return the noise on a Gram matrix of features and all targets, of weight one together.

    At this weight the noise on the sums with the targets is that of releasing them alone.
    """
    targets = options.n_targets
    return gram_noise(
        mu,
        1.0 / math.sqrt(targets),
        targets,
        options.neighbours,
        options.max_rows_per_unit,
    )


def gram_noise_stds(options: Options, mu: float) -> list[float]:
    """Return all standard deviations of a Gram matrix."""
    return noise_of_gram(options, mu).matrix(1, 1).ravel().tolist()
