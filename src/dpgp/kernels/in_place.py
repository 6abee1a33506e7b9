"""Covariances of sums and constant factors, without an array of their own for every constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import ConstantKernel, Product, Sum

from dpgp.kernels.formula import gram_of

Array = NDArray[np.float64]

OPERATIONS = {Sum: np.add, Product: np.multiply}


def gram_in_place(kernel: Any, X: Any, Y: Any) -> Array:
    """Return k(X, Y), as ``kernel(X, Y)`` does, with one array a part at most."""
    found = _gram(kernel, X, Y)
    return found if isinstance(found, np.ndarray) else np.full((len(X), len(Y)), found)


def _gram(kernel: Any, X: Any, Y: Any) -> Array | float:
    if type(kernel) is ConstantKernel:
        return float(kernel.constant_value)
    if type(kernel) not in OPERATIONS:
        return gram_of(kernel, X, Y)
    left, right = _gram(kernel.k1, X, Y), _gram(kernel.k2, X, Y)
    out = next((part for part in (left, right) if isinstance(part, np.ndarray)), None)
    combined = OPERATIONS[type(kernel)](left, right, out=out)
    return combined if out is not None else float(combined)
