"""Kernels of our own making: the names and parameters of scikit-learn's, without its import."""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import NUMPY
from dpgp.checked_values import ModelFileError
from dpgp.kernels.base import PlainRule
from dpgp.kernels.registry import SKLEARN, rule_named

Array = NDArray[np.float64]


class PlainKernel:
    """What scikit-learn calls a kernel, and its parameters; its rule knows the rest.

    Fits and files make these: to import scikit-learn takes longer than a prediction. A parameter p
    that is not learned has p_bounds = "fixed", as there.
    """

    def __init__(self, type_name: str, **parameters: Any) -> None:
        self.type_name = type_name
        vars(self).update(parameters)

    @property
    def rule(self) -> PlainRule:
        """Everything that is known of the kernel."""
        rule = rule_named(self.type_name)
        assert isinstance(rule, PlainRule)
        return rule

    @property
    def theta(self) -> Array:
        """The logarithms of what is learned."""
        return self.rule.theta_of(self)

    @property
    def n_dims(self) -> int:
        """How many numbers are learned."""
        return len(self.rule.learned(self))

    def changed(self, **parameters: Any) -> Self:
        """Return the same kernel with other values of some parameters."""
        other = copy(self)
        vars(other).update(parameters)
        return other

    def clone_with_theta(self, theta: Array) -> Self:
        """Return the kernel with these logarithms of what is learned."""
        return self.changed(**self.rule.parameters_at(self, theta))

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        X = np.asarray(X, dtype=np.float64)
        other = X if Y is None else np.asarray(Y, dtype=np.float64)
        K = self.rule.gram(self.rule.tree_of(self), X, other, NUMPY)[0]
        K = np.array(np.broadcast_to(K, (len(X), len(other))))
        if Y is None:
            np.fill_diagonal(K, self.diag(X))
        return K

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``."""
        rows = np.asarray(X, dtype=np.float64)
        variances = self.rule.diagonal(self.rule.tree_of(self), rows, NUMPY)[0]
        return np.array(np.broadcast_to(variances, len(rows)))

    def __add__(self, other: Any) -> PlainKernel:
        return PlainKernel("Sum", k1=self, k2=other)

    def __mul__(self, other: Any) -> PlainKernel:
        return PlainKernel("Product", k1=self, k2=other)

    def __pow__(self, exponent: float) -> PlainKernel:
        return PlainKernel("Exponentiation", kernel=self, exponent=exponent)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlainKernel) or self.type_name != other.type_name:
            return NotImplemented
        return bool(self.rule.to_json(self) == other.rule.to_json(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.rule.text(self)


def sklearn_class(name: str) -> Any:
    """Return a class of scikit-learn's, which is imported for kernels that a user gave alone."""
    found = getattr(import_module(SKLEARN), name, None)
    if found is None:
        raise ModelFileError(f"{name} is no kernel of scikit-learn, which alone can be given.")
    return found


def constant(value: float, *, fixed: bool = False) -> PlainKernel:
    """Return the kernel of an unknown level, or the size of what it multiplies."""
    bounds = "fixed" if fixed else None
    return PlainKernel("ConstantKernel", constant_value=value, constant_value_bounds=bounds)


def rbf(length_scale: float | Array) -> PlainKernel:
    """Return the kernel of smooth functions."""
    return PlainKernel("RBF", length_scale=length_scale, length_scale_bounds=None)


def straight() -> PlainKernel:
    """Return the kernel of straight lines through the centre."""
    return PlainKernel("DotProduct", sigma_0=0.0, sigma_0_bounds="fixed")
