"""Covariances of scikit-learn kernels for many hyperparameter vectors at once."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import kernels as sk

Array = NDArray[np.float64]


@singledispatch
def batch_gram(kernel: Any, thetas: Array, X: Array, Y: Array) -> Array:
    """Return K_θ(X, Y) for every row θ of ``thetas``, in the logarithms of ``kernel.theta``.

    Shape (thetas, |X|, |Y|); parts that do not depend on X, Y or θ may have length one there.
    """
    return np.stack([kernel.clone_with_theta(theta)(X, Y) for theta in thetas])


@batch_gram.register
def _(kernel: sk.Sum, thetas: Array, X: Array, Y: Array) -> Array:
    split = kernel.k1.n_dims
    return batch_gram(kernel.k1, thetas[:, :split], X, Y) + batch_gram(
        kernel.k2, thetas[:, split:], X, Y
    )


@batch_gram.register
def _(kernel: sk.Product, thetas: Array, X: Array, Y: Array) -> Array:
    split = kernel.k1.n_dims
    return batch_gram(kernel.k1, thetas[:, :split], X, Y) * batch_gram(
        kernel.k2, thetas[:, split:], X, Y
    )


@batch_gram.register
def _(kernel: sk.ConstantKernel, thetas: Array, X: Array, Y: Array) -> Array:
    return _values(kernel, thetas, kernel.constant_value)[:, :1, None]


@batch_gram.register
def _(kernel: sk.DotProduct, thetas: Array, X: Array, Y: Array) -> Array:
    return np.asarray((X @ Y.T)[None] + _values(kernel, thetas, kernel.sigma_0)[:, :1, None] ** 2)


@batch_gram.register
def _(kernel: sk.RBF, thetas: Array, X: Array, Y: Array) -> Array:
    return np.exp(-0.5 * _scaled_squares(kernel, thetas, X, Y))


@batch_gram.register
def _(kernel: sk.Matern, thetas: Array, X: Array, Y: Array) -> Array:
    # scikit-learn derives Matern from RBF
    squares = _scaled_squares(kernel, thetas, X, Y)
    if kernel.nu == 0.5:
        return np.exp(-np.sqrt(squares))
    if kernel.nu == 1.5:
        t = np.sqrt(3 * squares)
        return np.asarray((1 + t) * np.exp(-t))
    if kernel.nu == 2.5:
        t = np.sqrt(5 * squares)
        return np.asarray((1 + t + t * t / 3) * np.exp(-t))
    return np.stack([kernel.clone_with_theta(theta)(X, Y) for theta in thetas])


def batch_diag(kernel: Any, thetas: Array, X: Array) -> Array:
    """Return k_θ(x, x) for every θ and x, (thetas, |X|)."""
    return np.stack([kernel.clone_with_theta(theta).diag(X) for theta in thetas])


def _values(kernel: Any, thetas: Array, fixed: Any) -> Array:
    if kernel.n_dims:
        return np.exp(thetas)
    return np.tile(np.atleast_1d(np.asarray(fixed, dtype=np.float64)), (len(thetas), 1))


def _scaled_squares(kernel: Any, thetas: Array, X: Array, Y: Array) -> Array:
    """Σ_n (x_n − y_n)²/ℓ_n²."""
    lengths = _values(kernel, thetas, kernel.length_scale)
    lengths = np.broadcast_to(lengths, (len(thetas), X.shape[1]))
    squares = (X[:, None, :] - Y[None, :, :]) ** 2
    return np.asarray(np.tensordot(lengths**-2.0, squares, axes=(1, 2)))
