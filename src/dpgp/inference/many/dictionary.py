r"""The functions a fit of many inputs is about: features with a prior of their weights.

Features are those of inducing points at synthetic rows, :math:`\phi = K_{ZZ}^{-1/2}k_Z` of the
family's reference kernel, or the user's own. Another kernel of the family enters through the prior
of the weights, :math:`C_\theta = PK_\theta(Z, Z)P^\top`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.features.base import WrittenMap
from dpgp.features.inducing import InducingFeatures
from dpgp.inference.many.families import Family, PriorCovariances
from dpgp.types import Array

RIDGE = 1e-6
"""Of the mean eigenvalue, in the least squares of the nearest function: above rounding errors."""


@dataclass(frozen=True)
class Dictionary:
    """Features under a family of kernels, and what they are at the synthetic rows.

    ``own`` are features that were asked for; otherwise they are those of the ``points``.
    """

    family: Family
    points: Array
    synthetic: Array
    own: WrittenMap | None = None
    _seen: dict[int, tuple[Array, Array]] = field(init=False, repr=False, default_factory=dict)

    @cached_property
    def features(self) -> WrittenMap:
        """φ, whose weights functions have."""
        return self.own or InducingFeatures(self.family.reference, self.points)

    @cached_property
    def values(self) -> Array:
        """φ at the synthetic rows, one a row."""
        return self.features.evaluate(self.synthetic).T

    @cached_property
    def second_moments(self) -> Array:
        """E[φφᵀ] over the synthetic rows."""
        return np.asarray(self.values.T @ self.values / len(self.values))

    @cached_property
    def priors(self) -> PriorCovariances:
        """Prior covariances of the weights."""
        return self.family.covariances(self.features.anchors, self.features.projection)

    def without(self, part: Any, U: Array) -> Array:
        """Return what is left of φ, as columns, without a part of the reference kernel."""
        phi = self.features.evaluate(U)
        if part is not None and isinstance(self.features, InducingFeatures):
            phi -= self.features.evaluate_part(part, U)
        return phi

    def seen_by(self, operator: Array) -> Array:
        """Return HΦ, what a record of this operator H sees of the weights; computed once."""
        if id(operator) not in self._seen:
            # the operator is kept as well, so that no other one takes its place
            self._seen[id(operator)] = (operator, np.asarray(operator @ self.values))
        return self._seen[id(operator)][1]

    def nearest(self, values: Array) -> Array:
        """Return the weights of the function nearest to values at the synthetic rows."""
        C, m = self.second_moments, len(values)
        ridge = RIDGE * np.trace(C) / len(C) * np.eye(len(C))
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
