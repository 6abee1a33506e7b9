"""Local scale: how far observations scatter at each x, from distances between rows and the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpgp.features.inputs import BoxFeatures, CutDistances, Residuals, UnitInputs
from dpgp.inference.gram_estimate import DoubtedEstimate, density_estimate
from dpgp.inference.local_scale import CUT, Distances, Places, learn_scale
from dpgp.inference.posterior import Posterior
from dpgp.planning.file_room import has_room_for_scale
from dpgp.planning.scale_design import WORTH, ScaleLayout, scale_layout, scale_share
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.queries import GramQuery, gram_noise_stds, noise_of_gram
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse


SYNTHETIC_PLACES = 1024
"""Synthetic rows that stand for all: the model's own sd at each takes time."""

MOST_SCATTERED = 8
"""Inputs up to which a density of them is looked for, where no metric is learned."""

EXACT_DENSITY = 1e-3
"""Noise, as a share of the rows, that an exact Gram matrix is read with to find a density."""


@dataclass(frozen=True)
class MeasureScale:
    """Release the Gram matrix of a few features and of cut distances from the mean."""

    share: float
    label: ClassVar[str] = "local scale"
    activity: ClassVar[str] = "looking how far observations scatter"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[MeasureScale, ...]:
        """Return the step where intervals are calibrated and the scale can be told from noise."""
        options = purse.options
        if not options.calibrate or not _has_places(options):
            return ()
        if purse.is_unlimited:
            return (cls(1.0),)
        whole = noise_of_gram(options, 1.0, purse.mu).cross_std
        share = scale_share(purse.rows, whole)
        error = layout_of(options).error(purse.rows, whole / np.sqrt(share))
        return (cls(share),) if error <= WORTH else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, distances and between them, at the smallest weight."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for features and q = 2 min(|y − m(x)|/Ts₀, 1) − 1."""
        posteriors = known.posteriors
        clips = [CUT * size for size in self._sizes(known, posteriors)]
        residuals = _residuals(known, [posterior.moments.w for posterior in posteriors], clips)
        features = layout_of(known.options).features
        return GramQuery(BoxFeatures(known.inputs, features), CutDistances(residuals))

    def learn(self, known: Known, release: GramRelease) -> None:
        """Learn the function of the scale of every target."""
        layout, posteriors = layout_of(known.options), known.posteriors
        U, weights, covariance = _places(known, release)
        sizes = self._sizes(known, posteriors)
        known.scales = tuple(
            learn_scale(
                Distances(release.cross[:, k], release.cross_std),
                layout.features,
                layout.priors(),
                Places(U, weights, np.log(posterior.predict(U)[1] / sizes[k]), covariance),
            )
            for k, posterior in enumerate(posteriors)
        )

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: it is about the mean."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[MeasureScale]) -> str:
        """Say what the function of the scale costs, or why there is none."""
        if not planned:
            return (
                "no function of the scale: declined, or rows and budget could not tell it, or a "
                "file not hold it"
            )
        share = planned[0].share
        return f"how far observations scatter at each x: {share:.1%} of the budget"

    def _sizes(self, known: Known, posteriors: Sequence[Posterior]) -> list[float]:
        """Return s₀ of every target: what the model takes for the noise of one observation."""
        return [posterior.moments.noise for posterior in posteriors]


def _has_places(options: Options) -> bool:
    """Return whether there are places that stand for the rows, and room for what they tell."""
    if options.learns_metric:
        return has_room_for_scale(UnitInputs(options.box).dimension, options.n_targets)
    return options.columns <= MOST_SCATTERED


def layout_of(options: Options) -> ScaleLayout:
    """Return the features of the scale, of the coordinates that inputs become."""
    return scale_layout(UnitInputs(options.box).dimension, not options.learns_metric)


def _residuals(known: Known, weights: list[Array], clips: list[float]) -> Residuals:
    """Return what the means leave of the targets, in units of the clips."""
    if known.options.learns_metric:
        return known.many.residuals_from(known.inputs, weights, clips)
    return Residuals(known.features, np.array(weights), np.array(clips))


def _places(known: Known, release: GramRelease) -> tuple[Array, Array, Array | None]:
    """Return places that stand for the rows, how many each, and the covariance of these numbers."""
    if known.options.learns_metric:
        rows = known.many.fit.dictionary.synthetic[:SYNTHETIC_PLACES]
        return rows, np.full(len(rows), known.n / len(rows)), None
    state, positions = known.targets[0].state, known.design.positions
    if state is None or positions is None:
        raise ValueError("a function of the scale needs places that stand for the rows.")
    if isinstance(state.gram, DoubtedEstimate):
        density = state.gram.density
        return positions, density.weights, density.weights_covariance
    F = layout_of(known.options).features.evaluate(positions).T
    found = density_estimate(release.feature_gram, EXACT_DENSITY * known.n, F, positions, known.n)
    return positions, found.weights, None
