"""Roots of covariances that are the same on every processor, as eigenvectors are not."""

from __future__ import annotations

import numpy as np

from dpgp.types import Array


def symmetric_root(S: Array) -> Array:
    """Return the positive semi-definite R with RR = S, which is unique: QΛ^{1/2}Qᵀ.

    QΛ^{1/2} alone would do for draws, but the signs of Q, and its directions where eigenvalues are
    equal, differ between processors, and seeded draws with them.
    """
    eigenvalues, Q = np.linalg.eigh(S)
    return np.asarray((Q * np.sqrt(np.maximum(eigenvalues, 0.0))) @ Q.T)
