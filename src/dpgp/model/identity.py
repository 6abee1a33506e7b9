"""A name for a fitted model that no other has, from its noisy releases alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from dpgp.inference.stage import StageRelease

ID_DIGITS = 32  # 128 bits


def model_id(stages: Iterable[Iterable[StageRelease]]) -> str:
    """Return the start of SHA-256 over the sums (c, A) of all stages, as little-endian doubles.

    Their noise is fresh in every fit, so that two fits of the same study have two names, and a copy
    of a file, or the same model saved anew, has one.
    """
    sums = [np.append(stage.c, stage.A) for target in stages for stage in target]
    content = np.concatenate(sums).astype("<f8").tobytes()
    return hashlib.sha256(content).hexdigest()[:ID_DIGITS]
