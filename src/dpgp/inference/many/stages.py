"""The fit of many inputs between releases: what to ask next, and what the answer changes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from dpgp.features.projected import ProjectedFeatures
from dpgp.inference.many.belief import WeightBelief, lower_root, prior_root
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.metric import first_metric, gradient_metric, metric_root
from dpgp.inference.many.plan import MOST_POINTS, points_that_cover
from dpgp.inference.many.records import gram_correction, operator_of
from dpgp.inference.many.synthetic import anchors_among
from dpgp.inference.many.target import Centre, Measured, Target
from dpgp.inference.many.water_filling import water_filled
from dpgp.outcomes import Location
from dpgp.privacy.mechanism import GramRelease
from dpgp.types import Array

SMALLEST_NORM = 0.3
"""Features of a row are divided by their norm, or by this where it is smaller."""

STEEPER = 4.0
"""Of the metric, half of all lengths: gradients are averages, and a step is steep in one place.
Tried where inducing points cover the box: in more inputs short lengths are taken too early."""

LEAST_NOISE = 1e-4
"""Relative noise below which directions are as good as known: keeps a fit without noise stable."""


@dataclass(frozen=True)
class NextStage:
    """Features of a stage, and their values at the synthetic rows, one a row."""

    features: ProjectedFeatures
    phi: Array


class ManyInputsFit:
    """Takes releases one by one, and says what to release next; never sees a row."""

    def __init__(
        self, synthetic: Array, locations: Sequence[Location], n: float, inducing: int, kappa: float
    ) -> None:
        self.n = n
        first = first_metric(synthetic)
        self.dictionary = Dictionary(first, first, anchors_among(synthetic, inducing), synthetic)
        d = self.dictionary.features.dimension
        nothing = Centre(np.zeros(d), np.zeros(len(synthetic)))
        prior = WeightBelief(np.zeros(d), prior_root(self.dictionary))
        self.targets = [Target(place, n, kappa, nothing, prior) for place in locations]

    def ask(self, noise: float, most: int) -> NextStage:
        """Return features for a stage whose released sums carry noise of this sd."""
        root = _common_root([target.belief.root * target.gain for target in self.targets])
        variance = max(noise / self.n, LEAST_NOISE) ** 2
        P = water_filled(root, self.dictionary.second_moments, variance, most)
        phi = self.dictionary.values @ P
        norms = np.maximum(np.linalg.norm(phi, axis=1), SMALLEST_NORM)
        return NextStage(
            features=ProjectedFeatures(self.dictionary.features, P, SMALLEST_NORM),
            phi=phi / norms[:, None],
        )

    def take(self, release: GramRelease, phi: Array, share: float, *, renew: bool) -> None:
        """Take a stage whose features at the synthetic rows are the rows of ``phi``.

        ``share`` is the stage's part of all of them, ``renew`` says whether to try a new metric.
        """
        n = self.n
        B = np.asarray(phi.T @ phi / len(phi))
        noise = release.feature_std / np.sqrt(2.0) / n
        operator = operator_of(phi, gram_correction(B, release.feature_gram / n, noise))
        # along the eigenvectors of B the sampling errors of a record are independent
        squares, Q = np.linalg.eigh(B)
        operator, squares = np.asarray(Q.T @ operator), np.maximum(squares, 0.0)
        for k, target in enumerate(self.targets):
            target.take(_measured(release, k, n, share, Q), operator, squares)
        value = sum(target.learn(self.dictionary) for target in self.targets)
        if renew:
            self._renew_metric(value)
        for target in self.targets:
            target.move(self.dictionary)

    def _renew_metric(self, value: float) -> None:
        """Read all records in metrics of the posterior, and keep what raises the evidence most."""
        sums = sum(gradient_metric(self.dictionary, target.belief) for target in self.targets)
        metric = np.asarray(sums) / len(self.targets)
        several = [np.diag(np.diag(metric))] if len(metric) > 1 else []
        steeper = [STEEPER * metric] if points_that_cover(len(metric)) <= MOST_POINTS else []
        candidates = [metric, *several, *steeper]
        with ThreadPoolExecutor(len(candidates)) as pool:
            readings = list(pool.map(self._read_in, candidates))
        for evidence, dictionary, targets in readings:
            if evidence > value:
                value, self.dictionary, self.targets = evidence, dictionary, targets

    def _read_in(self, metric: Array) -> tuple[float, Dictionary, list[Target]]:
        """Return what all records say in another metric, with its evidence."""
        dictionary = replace(self.dictionary, root=metric_root(metric))
        targets = [target.copy() for target in self.targets]
        evidence = sum(target.learn(dictionary) for target in targets)
        return evidence, dictionary, targets


def _common_root(roots: Sequence[Array]) -> Array:
    """Return a root of the average covariance over targets."""
    if len(roots) == 1:
        return roots[0]
    average = np.mean([root.T @ root for root in roots], axis=0)
    return np.asarray(lower_root(average).T)


def _measured(release: GramRelease, target: int, n: float, share: float, basis: Array) -> Measured:
    if release.target_gram is None or release.target_std is None:
        raise ValueError("a stage needs the second moment of its residuals.")
    return Measured(
        cross=basis.T @ release.cross[:, target] / n,
        square=float(release.target_gram[target, target]) / n,
        noise=release.cross_std / n,
        square_noise=release.target_std / n,
        share=share,
    )
