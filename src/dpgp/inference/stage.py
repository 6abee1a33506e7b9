"""One stage's release, as the inference sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.types import Array

LARGEST_RESIDUAL = 2.0
"""Largest residual of a target in [−1, 1] from a function within the same bounds."""


@dataclass(frozen=True)
class StageRelease:
    r"""Noisy sums over rows of features and clipped residuals :math:`r = t - \phi(x)^\top w_0`.

    ``A`` = Σ φ·clip(r, R), ``B`` = Σ φφᵀ, ``c`` = Σ clip(r, R)². The noise has standard deviation
    ``sigma_a`` on A, ``sigma_b`` on the diagonal of B (over √2 off it) and ``sigma_c`` on c. Of an
    ``outcome`` that is not clipped no residual reaches beyond R.
    """

    A: Array
    B: Array
    c: float
    sigma_a: float
    sigma_b: float
    sigma_c: float
    clip: float
    w0: Array
    n: float
    outcome: OutcomeKind = NUMBER

    @property
    def is_exact(self) -> bool:
        """Whether no noise was added (ε = ∞)."""
        return self.sigma_a == self.sigma_b == self.sigma_c == 0.0

    @property
    def is_unclipped(self) -> bool:
        """Whether the public target bounds alone clip it, and are taken to hold."""
        return not self.outcome.is_clipped or (self.clip >= 1.0 and not np.any(self.w0))
