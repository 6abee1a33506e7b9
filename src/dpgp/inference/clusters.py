r"""Several rows of a unit: sampling errors that go together.

The posterior takes rows to be independent given f, so that the sums have the sampling covariance
:math:`\sigma^2B`. Rows of one unit may err together. With at most m of them, whatever their
correlation, :math:`\mathrm{Var}\sum_{i \le m}\phi_i\epsilon_i \preceq m\sigma^2\sum_i\phi_i
\phi_i^\top` by Cauchy's inequality, so the covariance of the sums is at most :math:`m\sigma^2B`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpgp.inference.evidence import Measurement
from dpgp.inference.moments import Moments


def clustered(moments: Moments, measurement: Measurement, rows_per_unit: int) -> Moments:
    r"""Return beliefs with the sampling error that m rows of a unit may share.

    The mean is :math:`\bar w = Ka`, :math:`K = VBN^{-1}`, :math:`N = (\sigma^2 + \sigma_R^2)B + Q`,
    so V grows by :math:`(m - 1)\sigma^2KBK^\top`.
    """
    if rows_per_unit == 1:
        return moments
    # N⁻¹ = U D⁻¹ Uᵀ with D = 1 + (σ² + σ_R²)Λ
    variance = moments.noise**2
    D = 1 + (variance + measurement.distortion) * measurement.Lambda
    K = moments.V @ measurement.B @ (measurement.U / D) @ measurement.U.T
    extra = (rows_per_unit - 1) * variance * K @ measurement.B @ K.T
    return replace(moments, V=np.asarray(moments.V + (extra + extra.T) / 2))
