r"""All records of several releases as one set of normal equations about one function.

A release m measured :math:`H_k(f - b_m^\top\ell) = a_k + N(0, R_k)` in its stages, where
:math:`b_m^\top\ell(x)` is what clipping may have done, constant, linear and as the scale changes,
and f itself in the guard of its mean. With :math:`f = \phi^\top(c\,\iota + s\,w)` for a dictionary
φ, whose nearest function to one has weights ι, all is linear in :math:`(w, b_m)`, and :math:`b_m`
is integrated out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dpgp.features.linear import LinearFeatures
from dpgp.inference.guard import CONSTANT_SHARE
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.records import NormalEquations, Record
from dpgp.inference.recorded import PlaceBelief, Recorded, guard_record
from dpgp.model.fitted import FittedModel
from dpgp.outcomes import Location
from dpgp.types import Array

LEAST_SD = 1e-9
"""Sd of a bias that cannot be: its precision must be finite."""


@dataclass(frozen=True)
class ReadRecords:
    """Normal equations of records in one dictionary, and their log density at w = 0."""

    J: Array
    h: Array
    constant: float

    @property
    def equations(self) -> NormalEquations:
        """The equations alone."""
        return NormalEquations(self.J, self.h)

    def __add__(self, other: ReadRecords) -> ReadRecords:
        """Return what both say together, of other people each."""
        return ReadRecords(self.J + other.J, self.h + other.h, self.constant + other.constant)


@dataclass(frozen=True)
class Release:
    """One model among others: its records, and where its places are in the common cube."""

    model: FittedModel
    places: Array

    @property
    def recorded(self) -> Recorded:
        """What it measured."""
        if self.model.recorded is None:
            raise ValueError("a model without records cannot be read again.")
        return self.model.recorded

    @property
    def n(self) -> float:
        """How many rows it is about, as it was released."""
        return float(self.model.stages[0][0].n)

    @cached_property
    def line(self) -> Array:
        """Constant and linear functions at its places, a column each, in its own coordinates."""
        U = self.recorded.places
        return LinearFeatures(U.shape[1], CONSTANT_SHARE).evaluate(U).T

    def clipped(self, target: int) -> tuple[Array, Array, Array]:
        """Return what clipping may have done, shapes at its places, and means and sds of each.

        What follows the scale may be none of it or twice as much, as the fit itself has it.
        """
        line, follows = self.line, self.recorded.follows[target]
        mean, sds = self.recorded.biases[target].of_line(line.shape[1])
        if follows is None:
            return line, mean, sds
        return np.column_stack([line, follows]), np.append(mean, 1.0), np.append(sds, 1.0)

    def own_belief(self, target: int) -> PlaceBelief:
        """Return what the model itself believes at its places."""
        posterior, U = self.model.posteriors[target], self.recorded.places
        mean = posterior.moments.w @ posterior.features.evaluate(U)
        return PlaceBelief(mean, lambda: posterior.covariance(U))

    def read(
        self,
        target: int,
        local: Dictionary,
        one: Array,
        location: Location,
        belief: PlaceBelief,
        doubt: float,
    ) -> ReadRecords:
        """Return what it says of w; ``local`` is φ at its places, ``one`` the weights ι."""
        recorded, noise = self.recorded, self.model.posteriors[target].moments.noise
        stages = recorded.records(target, self.model.stages[target], belief, noise, doubt)
        guard = recorded.guards[target]
        guards = (
            [] if guard is None else [guard_record(guard, recorded.places, recorded.weights, noise)]
        )
        X, y, logs = _rows([*stages, *guards], local, one, location)
        shapes, mean, sds = self.clipped(target)
        clipped = [-record.operator @ shapes / _sd(record)[:, None] for record in stages]
        of_guard = [np.zeros((len(record.a), len(mean))) for record in guards]
        return _without_bias(X, y, logs, np.vstack([*clipped, *of_guard]), mean, sds)


def _sd(record: Record) -> Array:
    return np.asarray(np.sqrt(record.variance))


def _rows(
    records: Sequence[Record], local: Dictionary, one: Array, location: Location
) -> tuple[Array, Array, float]:
    """Return X and y of y = Xw + N(0, I), and Σ log sd."""
    X, y, logs = [], [], 0.0
    for record in records:
        sd, seen = _sd(record), local.seen_by(record.operator)
        X.append(location.scale * seen / sd[:, None])
        # a + Hf₀ − cHι
        known = record.a + record.operator @ record.centre - location.centre * (seen @ one)
        y.append(known / sd)
        logs += float(np.log(sd).sum())
    return np.vstack(X), np.concatenate(y), logs


def _without_bias(
    X: Array, y: Array, logs: float, Z: Array, mean: Array, sds: Array
) -> ReadRecords:
    """Integrate over b ~ N(b̄, diag(s²)) in y = Xw + Zb + N(0, I)."""
    sds = np.maximum(sds, LEAST_SD)
    precision, cross = Z.T @ Z + np.diag(sds**-2.0), X.T @ Z
    factor = cho_factor(precision, lower=True)
    linear = Z.T @ y + mean / sds**2
    solved = cho_solve(factor, np.column_stack([linear, cross.T]))
    J = X.T @ X - cross @ solved[:, 1:]
    square = float(y @ y + np.sum((mean / sds) ** 2) - linear @ solved[:, 0])
    log_det = 2.0 * float(np.log(np.diag(factor[0])).sum() + np.log(sds).sum())
    return ReadRecords(
        (J + J.T) / 2, X.T @ y - cross @ solved[:, 0], -0.5 * (square + log_det) - logs
    )
