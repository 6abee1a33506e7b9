r"""The functions a fit of many inputs is about: one Gaussian process of five parts.

.. math:: k = s_0^2 + s_1^2\,\tfrac1D x^\top y + s_2^2\,k_{add} + s_3^2\,k_{L_0}(x, y)
          + s_4^2\,k_L(x, y)

a constant, a line, a sum of functions of one input, a broad function in the metric :math:`L_0` that
treats all inputs alike, and a smooth function in the learned metric L. A metric that has learned
too early that an input does not matter is never sure of it: the broad part keeps looking. The
features are those of inducing points at synthetic rows, :math:`\phi = K_{ZZ}^{-1/2}k_Z`; other
weights s enter through the prior of the weights, :math:`C_s = \sum_b s_b^2 PK_bP^\top`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.features.inducing import InducingFeatures
from dpgp.kernels.linear import AdditiveRBF, constant, straight
from dpgp.kernels.stationary import MetricRBF
from dpgp.types import Array

REFERENCE = np.array([0.5, 0.8, 0.6, 0.3, 0.7])
"""Prior sds of constant, line, sum, broad and smooth part, in sds of the target. By hand: a line
may explain most, and what is broad is there to keep doubt alive."""


def parts(root: Array, broad: Array) -> tuple[Any, ...]:
    """Return the kernels of the five parts, each of variance about one at most."""
    line = constant(1.0 / len(root), fixed=True) * straight()
    return constant(1.0, fixed=True), line, AdditiveRBF(), MetricRBF(broad), MetricRBF(root)


def kernel_of(root: Array, broad: Array, sds: Array) -> Any:
    """Return the sum of the parts; its hyperparameters are their variances and the length."""
    level, line, additive, everywhere, smooth = (float(sd) ** 2 for sd in sds)
    return (
        constant(level)
        + constant(line / len(root)) * straight()
        + constant(additive) * AdditiveRBF()
        + constant(everywhere) * MetricRBF(broad, fixed=("length_scale",))
        + constant(smooth) * MetricRBF(root)
    )


def theta_of(sds: Array, length: float, columns: int) -> Array:
    """Return the logarithms of the hyperparameters of :func:`kernel_of`."""
    sizes = np.array([1.0, columns, 1.0, 1.0, 1.0])
    return np.append(2.0 * np.log(sds) - np.log(sizes), np.log(length))


@dataclass(frozen=True)
class Dictionary:
    """Features of inducing points under a metric, and what they are at the synthetic rows."""

    root: Array  # L, (D, D)
    broad: Array  # L₀
    anchors: Array  # Z
    synthetic: Array
    _seen: dict[int, tuple[Array, Array]] = field(init=False, repr=False, default_factory=dict)

    @cached_property
    def features(self) -> InducingFeatures:
        """φ = K_ZZ^{−1/2}k_Z of the kernel with the reference sds."""
        return InducingFeatures(kernel_of(self.root, self.broad, REFERENCE), self.anchors)

    @cached_property
    def values(self) -> Array:
        """φ at the synthetic rows, one a row."""
        return self.features.evaluate(self.synthetic).T

    @cached_property
    def part_covariances(self) -> Array:
        """P K_b(Z, Z) Pᵀ of the five parts."""
        P, Z = self.features.projection, self.anchors
        kernels = parts(self.root, self.broad)
        grams = (np.broadcast_to(kernel(Z), (len(Z), len(Z))) for kernel in kernels)
        return np.stack([P @ gram @ P.T for gram in grams])

    @cached_property
    def second_moments(self) -> Array:
        """E[φφᵀ] over the synthetic rows."""
        return np.asarray(self.values.T @ self.values / len(self.values))

    def prior(self, sds: Array, length: float = 1.0) -> Array:
        """Return C = Σ s_b² P K_b Pᵀ, where the metric is divided by a length."""
        C = np.tensordot(sds**2, self.part_covariances, axes=1)
        if length != 1.0:
            C += sds[-1] ** 2 * (self.smooth_covariance(length) - self.part_covariances[-1])
        return np.asarray(C)

    def smooth_covariance(self, length: float) -> Array:
        """Return P K Pᵀ of the smooth part, where the metric is divided by a length."""
        P = self.features.projection
        return np.asarray(P @ MetricRBF(self.root, length)(self.anchors) @ P.T)

    def seen_by(self, operator: Array) -> Array:
        """Return HΦ, what a record of this operator H sees of the weights; computed once."""
        if id(operator) not in self._seen:
            # the operator is kept as well, so that no other one takes its place
            self._seen[id(operator)] = (operator, np.asarray(operator @ self.values))
        return self._seen[id(operator)][1]

    def nearest(self, values: Array) -> Array:
        """Return the weights of the function nearest to values at the synthetic rows."""
        C, m = self.second_moments, len(values)
        ridge = 1e-6 * np.trace(C) / len(C) * np.eye(len(C))
        cross = self.values.T @ values / m
        return np.asarray(np.linalg.solve(C + ridge, cross))

    def at_synthetic(self, weights: Array) -> Array:
        """Return a function at the synthetic rows."""
        return np.asarray(self.values @ weights)

    @cached_property
    def one(self) -> Array:
        """The weights of the function that is nearest to one everywhere."""
        return self.nearest(np.ones(len(self.synthetic)))

    @cached_property
    def one_gap(self) -> Array:
        """How far that function is from one at the synthetic rows."""
        return self.at_synthetic(self.one) - 1.0
