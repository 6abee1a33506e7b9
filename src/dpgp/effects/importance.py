r"""What matters: Sobol indices of f by sweeps, interactions of pairs, and a summary of both.

Inputs are independent, each with its private marginal. An input is swept through its values while
the others rest at a row: the variance within sweeps, averaged over rows, is the *total* effect
:math:`E[\mathrm{Var}(f \mid x_{-i})]`; the variance of the average sweep the *first* one,
:math:`\mathrm{Var}(E[f \mid x_i])`. Sobol (2001), Homma & Saltelli (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.effects.averages import partial_dependence
from dpgp.effects.functionals import DrawnFunctions, Variance
from dpgp.effects.records import Effect, Importance, Interactions, percent
from dpgp.inference.conformal import COVERAGE
from dpgp.model.input_model import Nodes, independent_rows, nodes_of
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


VARIANCE_ROWS = 2048  # for the variance of f
NODES, MOST_SWEEPS, FEWEST_SWEEPS = 16, 128, 32  # values of an input, and rows it is swept at
SWEPT_POINTS = 2**15  # of all sweeps together, about
PAIR_NODES, PAIR_ROWS = 8, 16  # values of each of two inputs, and rows they are swept at
MISSED_ROWS, MISSED_SWEEPS, MISSED_PAIRS = 128, 8, 2  # rows for what the features miss

PAIRED_INPUTS = 6
"""Inputs whose pairs are looked at: the most important ones."""

MOST_CURVES = 6
"""Inputs that are shown; all others are summed up in a sentence."""


class Effects(NamedTuple):
    """Total and first effects of one input, for the mean and every draw."""

    total: Array
    first: Array


@dataclass(frozen=True)
class Sensitivity:
    """What the variance of f is made of; everything is computed once."""

    f: DrawnFunctions

    @classmethod
    def of(cls, model: FittedModel, target: int | str | None) -> Sensitivity:
        """Return that of one target of a model."""
        return cls(DrawnFunctions(model, model.chosen_target(target)))

    @property
    def order(self) -> list[int]:
        """Numbers of the inputs, the largest total effect in the mean first."""
        return sorted(range(len(self._effects)), key=lambda n: -self._effects[n].total[0])

    def importance(self) -> Importance:
        """Return total and first indices of every input."""
        effects = [self._effects[n] for n in self.order]
        return Importance(
            self._target,
            self._variance.std,
            [self._names[n] for n in self.order],
            [self._variance.share(each.total) for each in effects],
            [self._variance.share(each.first) for each in effects],
        )

    def interactions(self) -> Interactions:
        """Return the total interaction of every pair of the most important inputs."""
        pairs = combinations(self.order[:PAIRED_INPUTS], 2)
        found = {(i, j): self._variance.share_at_worst(*_together(self.f, i, j)) for i, j in pairs}
        order = sorted(found, key=lambda pair: -found[pair].value)
        names = [(self._names[i], self._names[j]) for i, j in order]
        shares, constant = [found[pair] for pair in order], self._variance.std.low <= 0.0
        return Interactions(self._target, names, shares, constant)

    @cached_property
    def _variance(self) -> Variance:
        scale = self.f.model.options.functions.half_width[self.f.target]
        return Variance(_variance(self.f), float(scale))

    @cached_property
    def _effects(self) -> list[Effects]:
        return [_effects(self.f, n) for n in range(len(self._names))]

    @property
    def _names(self) -> list[str]:
        return self.f.model.input_names

    @property
    def _target(self) -> str:
        return self.f.model.target_in_words(self.f.target)


def _variance(f: DrawnFunctions) -> Array:
    """Return the variance of f, for the mean and every draw."""
    rows = independent_rows(f.model, VARIANCE_ROWS)
    few = independent_rows(f.model, MISSED_ROWS)
    R = f.missing(few)
    # the expected variance among points whose values have covariance R
    missed = float((np.trace(R) - R.sum() / len(R)) / max(len(R) - 1, 1))
    return f.plus_missing(f(rows).var(axis=1), missed)


def _effects(f: DrawnFunctions, column: int) -> Effects:
    """Return E_m Var_g f and Var_g E_m f over values g of an input and rows m of the others."""
    nodes = nodes_of(f.model, column, NODES)
    rows = independent_rows(f.model, _sweeps(f.model))
    values = f(_swept(rows, column, nodes))
    total = _variance_along(values, nodes).mean(axis=1)
    average = _variance_along(values.mean(axis=1), nodes)
    missed_total, missed_first = _missed(f, column, nodes)
    # Var_g E f from that of an average over rows, which is first + (total − first)/rows
    m = len(rows)
    first = np.maximum(average - total / m, 0.0) * (m / (m - 1))
    return Effects(f.plus_missing(total, missed_total), f.plus_missing(first, missed_first))


def _sweeps(model: FittedModel) -> int:
    """Return how many rows every input is swept at."""
    affordable = SWEPT_POINTS // (NODES * model.options.columns)
    return min(max(affordable, FEWEST_SWEEPS), MOST_SWEEPS)


def _swept(rows: Array, column: int, nodes: Nodes) -> Array:
    """Return the rows with an input at each of its values, (rows, values, D)."""
    points = np.repeat(rows[:, None, :], len(nodes.values), axis=1)
    points[:, :, column] = nodes.values
    return points


def _swept_twice(rows: Array, columns: tuple[int, int], nodes: tuple[Nodes, Nodes]) -> Array:
    """Return the rows with two inputs at all pairs of their values, (rows, pairs, D)."""
    points = _swept(rows, columns[0], nodes[0])
    points = np.stack([_swept(part, columns[1], nodes[1]) for part in points])
    return points.reshape(len(rows), -1, points.shape[-1])


def _variance_along(values: Array, nodes: Nodes) -> Array:
    """Return variances over the values of an input, the last axis."""
    centred = values - (values @ nodes.shares)[..., None]
    return np.asarray(np.square(centred) @ nodes.shares)


def _missed(f: DrawnFunctions, column: int, nodes: Nodes) -> tuple[float, float]:
    """Return the expected total and first effect of what the features miss."""
    points = _swept(independent_rows(f.model, MISSED_SWEEPS), column, nodes)
    m, g, D = points.shape
    R = f.missing(points.reshape(-1, D)).reshape(m, g, m, g)
    # E Var_g of one sweep, and the same between two of them: what they have in common
    C = np.einsum("mgnh,g,gh->mn", R, nodes.shares, np.eye(g)) - np.einsum(
        "mgnh,g,h->mn", R, nodes.shares, nodes.shares
    )
    between = (C.sum() - np.trace(C)) / (m * (m - 1))
    return float(np.trace(C)) / m, float(between)


def _together(f: DrawnFunctions, i: int, j: int) -> tuple[float, Array]:
    """Return the variance of all parts of f that hold both inputs. Liu & Owen (2006).

    E_m Var_gh(f − E_g f − E_h f) over values g and h of the inputs and rows m: of the mean, and of
    what every draw adds to it.
    """
    first, second = (nodes_of(f.model, n, PAIR_NODES) for n in (i, j))
    points, few = (
        _swept_twice(independent_rows(f.model, rows), (i, j), (first, second))
        for rows in (PAIR_ROWS, MISSED_PAIRS)
    )
    centring = np.kron(_centring(first), _centring(second))
    shares = np.kron(first.shares, second.shares)
    mean, *draws = f(points) @ centring.T
    unknown = np.array([(np.square(each - mean) @ shares).mean() for each in draws])
    missed = [centring @ f.missing(x) @ centring.T for x in few]
    return float((np.square(mean) @ shares).mean()), unknown + np.mean(
        [shares @ np.diag(R) for R in missed]
    )


def _centring(nodes: Nodes) -> Array:
    """Return the matrix that takes the average over the values of an input away."""
    return np.asarray(np.eye(len(nodes.shares)) - nodes.shares)


@dataclass(frozen=True)
class ImportantInput:
    """The partial dependence of an input, by its number."""

    column: int
    along: Effect


@dataclass(frozen=True)
class WhatMatters:
    """Importance of all inputs of a target, and partial dependence of the most important ones."""

    model: FittedModel
    target: int
    sensitivity: Sensitivity
    importance: Importance
    curves: tuple[ImportantInput, ...]

    @property
    def others(self) -> str:
        """What is to be said of the inputs that are not shown; nothing where all are."""
        rest = self.importance.total[MOST_CURVES:]
        if not rest or self.importance.may_be_constant:
            return ""
        most = percent(max(share.high for share in rest))
        count = f"{len(rest)} more inputs have" if len(rest) > 1 else "One more input has"
        each = " each" if len(rest) > 1 else ""
        return f"{count} a part in at most {most} of the variance{each} (95 % intervals)."


def what_matters(model: FittedModel, target: int | str | None) -> WhatMatters:
    """Return what matters for a target."""
    sensitivity = Sensitivity.of(model, target)
    k = sensitivity.f.target
    curves = tuple(
        ImportantInput(n, partial_dependence(model, n, COVERAGE, k))
        for n in sensitivity.order[:MOST_CURVES]
    )
    return WhatMatters(model, k, sensitivity, sensitivity.importance(), curves)
