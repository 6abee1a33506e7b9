"""Covariances of sums and constant factors, without an array of their own for every constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.kernels.formula import gram_of
from dpgp.kernels.registry import rule_of

Array = NDArray[np.float64]

OPERATIONS = {"Sum": np.add, "Product": np.multiply}


def gram_in_place(kernel: Any, X: Any, Y: Any) -> Array:
    """Return k(X, Y), as ``kernel(X, Y)`` does, with one array a part at most."""
    found = _gram(kernel, X, Y)
    return found if isinstance(found, np.ndarray) else np.full((len(X), len(Y)), found)


def _gram(kernel: Any, X: Any, Y: Any) -> Array | float:
    name = rule_of(kernel).name
    if name == "ConstantKernel":
        return float(kernel.constant_value)
    if name not in OPERATIONS:
        return gram_of(kernel, X, Y)
    left, right = _gram(kernel.k1, X, Y), _gram(kernel.k2, X, Y)
    out = next((part for part in (left, right) if isinstance(part, np.ndarray)), None)
    combined = OPERATIONS[name](left, right, out=out)
    return combined if out is not None else float(combined)
