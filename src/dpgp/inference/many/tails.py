r"""Inputs with long tails: a line in them as they are, beside functions of the warped ones.

One row in a hundred lies far out, and the warp gives it and its like a hundredth of the room: no
smooth function of the warped input climbs there. The line is

.. math:: h_n(x) = \mathrm{clip}\bigl((u_n - m_n)/s_n, \pm c\bigr)/\sqrt q

for the q inputs whose released marginal, of mean :math:`m_n` and sd :math:`s_n`, has long tails.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.many.marginals import Marginals
from dpgp.kernels.linear import BrokenLines
from dpgp.types import Array

LONG = 20.0
"""Kurtosis of a released marginal from which on tails are long. By hand: noise in empty bins adds
to it, so that bells in wide bounds come to 17 and exponential laws, which have 9, beyond; counts
of visits come to 40, and lognormal laws of log-sd 1 to 60 and more."""

FARTHEST = 12.0
"""Sds from the mean beyond which the line is flat: less than one row in a thousand of such laws
lies there. By hand."""


def line_of_tails(marginals: Marginals, is_number: NDArray[np.bool_]) -> BrokenLines | None:
    """Return the line, if any input has long tails; ``is_number`` says which coordinates have."""
    z, kurtosis = _standardised(marginals)
    long = kurtosis > LONG
    if not long.any():
        return None
    heights = np.zeros((len(is_number), z.shape[1]))
    heights[is_number] = np.where(long[:, None], z, 0.0) / np.sqrt(long.sum())
    return BrokenLines(marginals.warp_among(is_number).values, heights)


def _standardised(marginals: Marginals) -> tuple[Array, Array]:
    """Return (u − m)/s at the edges of the bins for every input, cut, and its kurtosis."""
    edges, masses = marginals.edges, marginals.masses / marginals.masses.sum(axis=1)[:, None]
    middles = (edges[1:] + edges[:-1]) / 2
    places = np.where(np.isnan(marginals.atoms), middles, marginals.atoms)
    mean = np.sum(masses * places, axis=1)[:, None]
    sd = np.sqrt(np.sum(masses * (places - mean) ** 2, axis=1))[:, None]
    sd = np.maximum(sd, (edges[1] - edges[0]) / 2)
    kurtosis = np.sum(masses * ((places - mean) / sd) ** 4, axis=1)
    return np.clip((edges - mean) / sd, -FARTHEST, FARTHEST), kurtosis
