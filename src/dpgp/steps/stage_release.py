"""One target's part of a released Gram matrix, as the inference sees it."""

from __future__ import annotations

from dpgp.inference.stage import StageRelease
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.privacy.mechanism import GramRelease
from dpgp.types import Array


def stage_of(
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
    return StageRelease(
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
