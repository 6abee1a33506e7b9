"""Quantiles of new observations, and where an observation stands among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpgp.numeric import as_floats
from dpgp.outcomes.number import checked_targets
from dpgp.types import Array

CENTILES = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
"""Those of a growth chart."""

OUTERMOST = 1e-9
"""Probability beyond which no law is told from a histogram: |z| is at most 6."""


class CentileMethods:
    """Quantiles and z-scores of a fitted estimator and a fitted model alike.

    They follow the released law of (y − m(x))/c(x)s(x), which need not be symmetric.
    docs/how-to/centiles.md
    """

    def predict_quantile(self, X: Any, quantiles: Sequence[float] | float = CENTILES) -> Array:
        """Return quantiles of new observations at ``X``, one row a quantile.

        With several targets they are along the last axis. Quantiles never cross and lie within the
        public bounds of the target.

        >>> low, high = gp.predict_quantile([[10.0]], [0.03, 0.97])
        >>> bool(low[0] < high[0])
        True
        """
        from dpgp.model.fitted import fitted_model, side_by_side

        model, levels = fitted_model(self), checked_levels(quantiles)
        U = model.unit_inputs(X)
        laws = [model.observations(k, U) for k in range(model.n_targets)]
        return side_by_side([np.array([law.quantile(p) for p in levels]) for law in laws])

    def z_score(self, X: Any, y: Any) -> Array:
        r"""Return where observations ``y`` stand among others with the same inputs.

        :math:`z = \Phi^{-1}(F((y - m(x))/c(x)s(x)))`: 0 at the median, 1.88 at the 97th centile.

        >>> short, tall = gp.z_score([[10.0], [10.0]], [100.0, 160.0])
        >>> bool(short < 0 < tall)
        True
        """
        from dpgp.model.fitted import fitted_model

        model = fitted_model(self)
        mean, std = model.predict(X, return_std=True)
        t = (checked_targets(y, mean) - mean) / std
        columns = np.reshape(t, (len(mean), -1)).T
        pairs = zip(model.calibrations, columns, strict=True)
        levels = np.array([calibration.level(column) for calibration, column in pairs]).T
        return np.asarray(ndtri(np.clip(levels, OUTERMOST, 1 - OUTERMOST)).reshape(t.shape))


def checked_levels(quantiles: Any) -> Array:
    """Return levels of quantiles as an array; an error where one is not within (0, 1)."""
    levels = np.atleast_1d(as_floats(quantiles, "quantiles"))
    if levels.ndim != 1 or not levels.size or not np.all((levels > 0.0) & (levels < 1.0)):
        raise ValueError(
            f"`quantiles` must lie strictly between 0 and 1, got {quantiles}; 0.5 is the median."
        )
    return levels


def checked_coverage(coverage: float) -> float:
    """Return how often an interval shall hold; an error where that is not within (0, 1)."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"`coverage` must lie strictly between 0 and 1, got {coverage}.")
    return coverage
