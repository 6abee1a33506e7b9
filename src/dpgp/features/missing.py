r"""The covariance that features miss: of f around its interpolation through the anchors.

With :math:`a(x) = P^\top \phi(x)` the model's value at x is :math:`a(x)^\top f(Z)`, and what it
misses is :math:`r(x) = f(x) - a(x)^\top f(Z)`. All covariances are averages over hyperparameters θ,
in which the formulas are linear. Rows are points: a is (points, anchors).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.arithmetic import Library


def missing_covariance(
    K_xy: Any, K_xz: Any, K_yz: Any, K_zz: Any, a_x: Any, a_y: Any, library: Library
) -> Any:
    """Return cov(r(x), r(y)) = k(x, y) − a(x)ᵀk(Z, y) − k(x, Z)a(y) + a(x)ᵀK_zz a(y)."""
    einsum = library.einsum
    cross = einsum("nz,mz->nm", a_x, K_yz) + einsum("nz,mz->nm", K_xz, a_y)
    return K_xy - cross + einsum("nz,mz->nm", a_x @ K_zz, a_y)


def missing_variance(k_xx: Any, K_xz: Any, K_zz: Any, a: Any, library: Library) -> Any:
    """Return its diagonal, k(x, x) − 2k(x, Z)a(x) + a(x)ᵀK_zz a(x), not below 0."""
    missing = k_xx - library.einsum("nz,nz->n", 2.0 * K_xz - a @ K_zz, a)
    return library.clip(missing, 0.0, np.inf)
