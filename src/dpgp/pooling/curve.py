"""One function from all records: its dictionary, hyperparameters and posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.directions import gradient_metric
from dpgp.inference.many.families import Family, KernelFamily
from dpgp.inference.many.final import SearchEffort
from dpgp.inference.many.metric import MetricFamily, metric_root
from dpgp.inference.many.plan import inducing_points
from dpgp.inference.many.records import Evidence, WeightBelief, climb, condition
from dpgp.inference.many.synthetic import ROWS, anchors_among
from dpgp.inference.recorded import PlaceBelief
from dpgp.kernels.linear import BrokenLines
from dpgp.kernels.stationary import MetricRBF
from dpgp.model.fitted import FittedModel
from dpgp.outcomes import Location
from dpgp.planning.design import choose_design
from dpgp.planning.file_room import most_points
from dpgp.planning.setting import Setting
from dpgp.pooling.common import common_location, releases_in, rows_of, signal_of
from dpgp.pooling.reading import ReadRecords, Release
from dpgp.steps import Purpose, Purse, planned_steps
from dpgp.types import Array

RENEWALS = 3
"""Metrics of the pooled posterior that are tried, one after the other, while the evidence rises. By
hand: later ones changed little."""

SWEEPS = 3
"""Times that hyperparameters are gone through, and records are moved to the new mean."""

DOUBT = 0.2
"""Relative error of where rows are, in moving a record to the common mean: that of a fit."""

MOVES = 1
"""Times that records are moved to the new mean in the same dictionary."""

CAREFUL = SearchEffort(points=96, rounds=2, draws=32)
"""For one or two inputs, whose fits integrate as carefully."""


@dataclass(frozen=True)
class TargetState:
    """What every release says of one target in a dictionary, and what all of them lead to."""

    theta: Array
    belief: WeightBelief
    readings: tuple[ReadRecords, ...]
    evidence: float

    @property
    def together(self) -> ReadRecords:
        """What all of them say."""
        first, *others = self.readings
        return sum(others, start=first)


@dataclass(frozen=True)
class PooledState:
    """A dictionary, and the state of every target in it."""

    dictionary: Dictionary
    targets: tuple[TargetState, ...]

    @property
    def evidence(self) -> float:
        """That of all targets together."""
        return sum(target.evidence for target in self.targets)

    def metric(self, rough: Any) -> Array:
        """Return the average over targets of the metric in which f, less a part, is smooth."""
        found = (gradient_metric(self.dictionary, t.belief, rough) for t in self.targets)
        return np.asarray(sum(found)) / len(self.targets)


Beliefs = Sequence[Sequence[PlaceBelief]]
"""For every target, at the places of every release."""


@dataclass(frozen=True)
class PooledFit:
    """Reads all releases in any dictionary, and chooses by the evidence; never sees a row."""

    models: tuple[FittedModel, ...]
    inputs: UnitInputs
    doubt: float = DOUBT

    @cached_property
    def releases(self) -> list[Release]:
        """The models with their places in the common cube."""
        return releases_in(self.models, self.inputs)

    @cached_property
    def shares(self) -> Array:
        """The part of every release in all rows."""
        rows = rows_of(self.models)
        return np.asarray(rows / rows.sum())

    @property
    def learns_metric(self) -> bool:
        """Whether the releases learned a metric."""
        return self.models[0].options.learns_metric

    @cached_property
    def locations(self) -> tuple[Location, ...]:
        """Where every target lies for all people together."""
        return tuple(common_location(self.releases, k) for k in range(self.models[0].n_targets))

    @cached_property
    def synthetic(self) -> Array:
        """Places that stand for all rows alike: the mixture of the releases' input models."""
        counts = np.maximum(np.round(ROWS * self.shares), 1).astype(int)
        parts = zip(self.releases, counts, strict=True)
        rows = np.vstack([_resampled(release, count) for release, count in parts])
        return np.asarray(rows[np.random.default_rng(7).permutation(len(rows))])

    def own_beliefs(self) -> list[list[PlaceBelief]]:
        """Return what every release believes by itself."""
        targets = range(len(self.locations))
        return [[release.own_belief(k) for release in self.releases] for k in targets]

    def beliefs(self, state: PooledState) -> list[list[PlaceBelief]]:
        """Return what is believed of f now."""
        places = [_values_at(release, state.dictionary) for release in self.releases]
        return [
            [_belief(values, state.dictionary, target.belief, location) for values in places]
            for target, location in zip(state.targets, self.locations, strict=True)
        ]

    def learn(
        self, dictionary: Dictionary, thetas: Sequence[Array], beliefs: Beliefs
    ) -> PooledState:
        """Return the state that the evidence leads to from θ, records moved to what is believed."""
        local = [replace(dictionary, synthetic=release.places) for release in self.releases]
        targets = []
        for k, location in enumerate(self.locations):
            rows = zip(self.releases, local, beliefs[k], strict=True)
            readings = tuple(
                release.read(k, each, dictionary.one, location, belief, self.doubt)
                for release, each, belief in rows
            )
            targets.append(learned(readings, dictionary, thetas[k], location.scale))
        return PooledState(dictionary, tuple(targets))

    def dictionary(self, family: Family) -> Dictionary:
        """Return features for all that the releases know together."""
        options, (n, mu) = self.models[0].options, signal_of(self.models)
        if not self.learns_metric:
            planned = planned_steps(Purse(options, mu, n))
            steps = [step for step in planned if step.purpose is Purpose.FUNCTION]
            design = choose_design(
                Setting.of(options, n, mu),
                steps,
                kernel=options.own_kernel,
                family=options.families,
                inducing_points=options.inducing_points,
            )
            return Dictionary(family, design.features.anchors, self.synthetic, design.features)
        coordinates = self.synthetic.shape[1]
        most = most_points(coordinates, len(self.locations))
        count = min(inducing_points(n * mu, coordinates), most)
        return Dictionary(family, anchors_among(self.synthetic, count), self.synthetic)

    def chosen(self) -> PooledState:
        """Return the state of the largest evidence: metrics, and how far records are believed."""
        starts = list(self.starts())
        beliefs, states = self.own_beliefs(), []
        for family, thetas in starts:
            states.append(self.learn(self.dictionary(family), thetas, beliefs))
        state = max(states, key=lambda each: each.evidence)
        return self._renewed(state) if self.learns_metric else self._moved(state)

    def _moved(self, state: PooledState) -> PooledState:
        """Read all records about the common mean."""
        for _ in range(MOVES):
            thetas = [target.theta for target in state.targets]
            state = self.learn(state.dictionary, thetas, self.beliefs(state))
        return state

    def _renewed(self, state: PooledState) -> PooledState:
        """Take metrics of the pooled posterior while the evidence rises."""
        state = self._moved(state)
        for _ in range(RENEWALS):
            beliefs, thetas = self.beliefs(state), [t.theta for t in state.targets]
            tried = [
                self.learn(replace(state.dictionary, family=family), thetas, beliefs)
                for family in state.dictionary.family.renewed(state.metric)
            ]
            best = max(tried, key=lambda each: each.evidence, default=state)
            if best.evidence <= state.evidence:
                return state
            state = self._moved(best)
        return state

    def starts(self) -> Iterator[tuple[Family, list[Array]]]:
        """Yield families to start from, with θ of every target."""
        options = self.models[0].options
        if self.learns_metric and not options.own_kernels:
            yield from self._metrics()
            return
        seen = set()
        for model in self.models:
            family = KernelFamily.of([model.posteriors[0].kernel], options.columns)
            if str(family.reference) not in seen:
                seen.add(str(family.reference))
                yield family, [_median(model, k) for k in range(len(self.locations))]

    def _metrics(self) -> Iterator[tuple[Family, list[Array]]]:
        """Yield the average metric of all releases, and that of the largest one."""
        found = [metric_family(model, self.inputs) for model in self.models]
        first = found[int(np.argmax(self.shares))]
        metrics = [family.root @ family.root.T for family in found]
        average = np.tensordot(self.shares, metrics, axes=1)
        for root in (metric_root(average), first.root):
            family = replace(first, root=root)
            yield family, [family.start] * len(self.locations)


def learned(
    readings: tuple[ReadRecords, ...], dictionary: Dictionary, theta: Array, scale: float
) -> TargetState:
    """Climb the evidence of all readings from θ."""
    first, *others = readings
    together = sum(others, start=first)
    evidence, family = Evidence(together.equations, dictionary, scale), dictionary.family
    value = evidence(theta) + family.log_prior(theta)
    for _ in range(max(SWEEPS, family.sweeps)):
        theta, value = climb(evidence, family, theta)
    belief = condition(together.equations, dictionary.priors.at(theta, scale))
    return TargetState(theta, belief, readings, value + together.constant)


def metric_family(model: FittedModel, inputs: UnitInputs) -> MetricFamily:
    """Return the family that a model ended with, lines in long tails in the common cube."""
    parts = list(_leaves(model.posteriors[0].kernel))
    broad, smooth = (part.root for part in parts if isinstance(part, MetricRBF))
    tails = next((part for part in parts if isinstance(part, BrokenLines)), None)
    if tails is not None and inputs.warp is not None:
        own, heights = model.inputs.warp, np.asarray(tails.heights)
        source = inputs.coordinates.source
        edges = inputs.warp.edges
        theirs = edges if own is None else own.edges
        moved = np.array([np.interp(edges, theirs, row) for row in heights])
        tails = BrokenLines(inputs.warp.values[source], moved)
    return MetricFamily(np.asarray(smooth), np.asarray(broad), tails)


def _leaves(kernel: Any) -> Iterator[Any]:
    """Yield the parts of a sum of products, in their order."""
    if hasattr(kernel, "k1"):
        yield from _leaves(kernel.k1)
        yield from _leaves(kernel.k2)
    else:
        yield kernel


def _median(model: FittedModel, target: int) -> Array:
    return np.asarray(np.median(model.posteriors[target].thetas[:, :-1], axis=0))


def _resampled(release: Release, count: int) -> Array:
    """Return places of a release, each as often as rows are there."""
    weights = np.maximum(release.recorded.weights, 0.0)
    steps = np.cumsum(weights) / weights.sum()
    return release.places[
        np.minimum(np.searchsorted(steps, (np.arange(count) + 0.5) / count), len(steps) - 1)
    ]


def _values_at(release: Release, dictionary: Dictionary) -> Array:
    return replace(dictionary, synthetic=release.places).values


def _belief(
    values: Array, dictionary: Dictionary, belief: WeightBelief, location: Location
) -> PlaceBelief:
    weights = location.centre * dictionary.one + location.scale * belief.mean
    root = location.scale * belief.root

    def covariance() -> Array:
        half = root @ values.T
        return np.asarray(half.T @ half)

    return PlaceBelief(values @ weights, covariance)
