"""One stage's release, as the inference sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.inference.clip_choice import ClipInterval
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.privacy.mechanism import GramRelease

LARGEST_RESIDUAL = 2.0
"""Largest residual of a target in [−1, 1] from a function within the same bounds."""


@dataclass(frozen=True)
class StageRelease:
    r"""Noisy sums over rows of features and clipped residuals :math:`r = t - \phi(x)^\top w_0`.

    ``A`` = Σ φ·clip(r, R), ``B`` = Σ φφᵀ, ``c`` = Σ clip(r, R)². The noise has standard deviation
    ``sigma_a`` on A, ``sigma_b`` on the diagonal of B (over √2 off it) and ``sigma_c`` on c. Of an
    ``outcome`` that is not clipped no residual reaches beyond R. Where residuals lie about another
    ``middle`` m than zero, r − m is in place of r.
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
    middle: float = 0.0

    @classmethod
    def of(
        cls,
        release: GramRelease,
        target: int,
        clip: float,
        w0: Array,
        n: float,
        outcome: OutcomeKind = NUMBER,
    ) -> StageRelease:
        """Return one target's part of a release, in the units of the scaled target."""
        if release.target_gram is None or release.target_std is None:
            raise ValueError("a stage needs the second moment of its residuals.")
        return cls(
            A=release.cross[:, target] * clip,
            B=release.feature_gram,
            c=float(release.target_gram[target, target]) * clip**2,
            sigma_a=release.cross_std * clip,
            sigma_b=release.feature_std,
            sigma_c=release.target_std * clip**2,
            clip=clip,
            w0=w0,
            n=n,
            outcome=outcome,
        )

    @property
    def interval(self) -> ClipInterval:
        """Where residuals are clipped to."""
        return ClipInterval(self.clip - self.middle, self.clip + self.middle)

    @property
    def is_exact(self) -> bool:
        """Whether no noise was added (ε = ∞)."""
        return self.sigma_a == self.sigma_b == self.sigma_c == 0.0

    @property
    def is_unclipped(self) -> bool:
        """Whether the public target bounds alone clip it, and are taken to hold."""
        return not self.outcome.is_clipped or (self.clip >= 1.0 and not np.any(self.w0))
