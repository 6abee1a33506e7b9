"""How large the residuals of a stage were, from the released sum of their clipped squares."""

from __future__ import annotations

import numpy as np

from dpgp.inference.residual_law import ResidualLaw

SMALLER, LARGER = 0.3, 0.6
"""Log-normal sds of the residuals' sd about its forecast: surprises are mostly unpleasant. By
hand."""


def residual_sd(
    square: float,
    noise: float,
    clip: float,
    forecast: float,
    n: float,
    law: ResidualLaw | None,
) -> float:
    """Return the posterior of the residuals' sd about its forecast, given a clipped mean square.

    ``square`` is the released mean of (clip(r)/R)², ``noise`` the sd of its noise. Without a law
    nothing was clipped.
    """
    taus = forecast * np.exp(np.linspace(-1.5, 2.0, 141))
    m = np.asarray(taus**2 if law is None else law.second_moment(clip, taus)) / clip**2
    spread = np.where(taus < forecast, SMALLER, LARGER)
    doubt = 0.0 if law is None else law.doubt(clip, taus) / clip**2
    sampling = np.maximum(m * (1 - m), 0.0) / n
    misfit = (square - m) ** 2 / (noise**2 + doubt**2 + sampling + 1e-12)
    log_p = -0.5 * (misfit + (np.log(taus / forecast) / spread) ** 2)
    p = np.exp(log_p - log_p.max())
    return float(np.exp(p @ np.log(taus) / p.sum()))
