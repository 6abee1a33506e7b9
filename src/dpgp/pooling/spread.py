r"""How far observations scatter about the pooled mean: what the releases told of it, combined.

Each release has a law of :math:`t = (y - m_m(x))/c_m(x)s_m(x)` about its own mean. Averages over
all places of squares of residuals tell what they are about the pooled mean,

.. math:: E(y - m)^2 = E(y - m_m)^2 - E(m_m - m)^2

where the pooled mean has an error that is uncorrelated with its difference from that of a part. The
law is the mixture of the releases' laws by their rows, stretched to that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpgp.features.inputs import UnitInputs
from dpgp.inference.conformal import Calibration
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.model.fitted import FittedModel
from dpgp.types import Array

LEAST_LEFT = 0.5
"""Share of a release's mean square residual that is noise at least: the rest may be its mean's
error, which is itself an estimate. By hand, to the wide side."""

RIDGE = 1e-6  # of the mean eigenvalue, where a function of the scale is written in other features
LEVELS = np.linspace(-12.0, 12.0, 481)
"""Scaled residuals at which mixed laws are kept, in their root mean squares."""


def common_noise(models: Sequence[FittedModel], shares: Array, target: int) -> float:
    """Return the sd of an observation: the root mean square of what the releases found."""
    squares = [model.posteriors[target].moments.noise ** 2 for model in models]
    return float(np.sqrt(shares @ squares))


def common_scale(
    models: Sequence[FittedModel],
    shares: Array,
    inputs: UnitInputs,
    target: int,
    posterior: Posterior,
    X: Array,
) -> LocalScale | None:
    """Return the average by rows of log c(x)s(x), less that of the pooled s; None if any lacks it.

    Its covariance is not divided by the number of releases, which share their approximation.
    """
    if not all(model.scales for model in models):
        return None
    features = models[0].scales[target].features
    phi = features.evaluate(inputs(X)).T
    gram = phi.T @ phi
    ridge = RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    nearest = np.linalg.solve(gram + ridge, phi.T)
    own = np.log(posterior.predict(inputs(X))[1])
    w, V = np.zeros(len(gram)), np.zeros_like(gram)
    for share, model in zip(shares, models, strict=True):
        scale, U = model.scales[target], model.inputs(X)
        theirs = scale.features.evaluate(U)
        log_sd = scale.w @ theirs + np.log(model.posteriors[target].predict(U)[1])
        T = nearest @ theirs.T
        w = w + share * nearest @ (log_sd - own)
        V = V + share * T @ scale.V @ T.T
    return LocalScale(features, w, (V + V.T) / 2)


def common_law(
    models: Sequence[FittedModel],
    shares: Array,
    inputs: UnitInputs,
    target: int,
    posterior: Posterior,
    scale: LocalScale | None,
    X: Array,
) -> Calibration:
    """Return the law of residuals of the pooled mean in units of its c(x)s(x)."""
    U = inputs(X)
    mean, sd = posterior.predict(U)
    sd = sd if scale is None else sd * scale.factor(U)
    squares, laws = [], []
    for model in models:
        V, law = model.inputs(X), model.calibrations[target]
        theirs, own = model.posteriors[target].predict(V)
        square = float(np.mean((model.local_scale(target, V) * own * law.scale) ** 2))
        squares.append(max(square - float(np.mean((theirs - mean) ** 2)), LEAST_LEFT * square))
        laws.append(law.level(law.scale * LEVELS))
    size = float(np.sqrt(shares @ squares) / np.sqrt(np.mean(sd**2)))
    cdf = np.maximum.accumulate(np.clip(shares @ laws, 0.0, 1.0))
    cdf[0], cdf[-1] = 0.0, 1.0
    mixed = Calibration(LEVELS, cdf + np.linspace(0.0, 1e-12, len(cdf)))
    mixed = Calibration(LEVELS, mixed.cdf / mixed.cdf[-1])
    return mixed.widened(size / mixed.scale)
