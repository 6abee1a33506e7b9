"""Local scale: how far observations scatter at each x, from distances between rows and the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpgp.features.inducing import ProjectedFeatures
from dpgp.features.inputs import BoxFeatures, CutDistances, UnitInputs
from dpgp.inference.local_scale import FAR, NEAR, Distances, learn_scale
from dpgp.inference.posterior import Posterior
from dpgp.planning.file_room import has_room_for_scale
from dpgp.planning.scale_design import (
    WORTH,
    ScaleLayout,
    forecast_error,
    scale_layout,
    scale_share,
)
from dpgp.privacy.mechanism import GramRelease
from dpgp.privacy.parts import RowPart
from dpgp.steps.base import GramQuery, Purpose, gram_noise_stds, noise_of_gram

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known


SYNTHETIC_PLACES = 1024
"""Synthetic rows that stand for all: the model's own sd at each takes time."""


@dataclass(frozen=True)
class MeasureScale:
    """Release the Gram matrix of a few features and of cut distances from the mean."""

    share: float
    part: RowPart | None = None
    purpose: ClassVar[Purpose] = Purpose.SCALE
    label: ClassVar[str] = "local scale"
    activity: ClassVar[str] = "looking how far observations scatter"
    effort: ClassVar[float] = 0.4  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Self, ...]:
        """Return the step where intervals are calibrated and the scale can be told from noise."""
        options = purse.options
        if not options.calibrate or not _has_room(options):
            return ()
        if purse.is_unlimited:
            return (cls(1.0),)
        layout, whole = layout_of(options), noise_of_gram(options, purse.mu).cross_std
        share = scale_share(purse.rows, whole, layout.sweeps) / layout.sweeps
        if forecast_error(layout, purse.rows, float(whole / np.sqrt(share))) > WORTH:
            return ()
        return (cls(share),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, distances and between them."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for features and q = 2 min(max(|y − m(x)|/s₀ − T₀, 0)/(T₁ − T₀), 1) − 1."""
        posteriors = known.fit.posteriors
        clips = [FAR * size for size in _sizes(posteriors)]
        residuals = known.fit.residuals([posterior.moments.w for posterior in posteriors], clips)
        sizes = np.array(_sizes(posteriors))[:, None]
        distances = CutDistances(residuals, NEAR / FAR, sizes)
        return GramQuery(BoxFeatures(known.inputs, _asked(known)), distances)

    def learn(self, known: Known, release: GramRelease) -> None:
        """Learn the function of the scale of every target, from all sweeps so far."""
        layout, posteriors = layout_of(known.options), known.fit.posteriors
        release = release.for_all(self.part)
        inputs, sizes = known.fit.input_model.thinned(SYNTHETIC_PLACES), _sizes(posteriors)
        asked = _asked(known)
        told = (release.cross_std, release.fraction)
        released = [Distances(asked, a, *told) for a in release.cross.T]
        known.distances = (*known.distances, released)
        beliefs = [
            learn_scale(
                [sweep[k] for sweep in known.distances],
                layout.features,
                layout.parts,
                inputs,
                np.log(posterior.predict(inputs.places)[1] / sizes[k]),
            )
            for k, posterior in enumerate(posteriors)
        ]
        known.scales = tuple(belief.scale for belief in beliefs)
        known.fit.follow_scales(known.scales)
        known.scale_variances = np.mean([belief.variances for belief in beliefs], axis=0)

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


@dataclass(frozen=True)
class MeasureScaleAgain(MeasureScale):
    """Ask once more, most of those inputs along which the first sweep saw the scale change."""

    label: ClassVar[str] = "local scale again"
    activity: ClassVar[str] = "looking where observations scatter most"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Self, ...]:
        """Return the step where there is a first sweep, and inputs share the norm of its rows."""
        has_second = layout_of(purse.options).sweeps > 1 and not purse.is_unlimited
        return super().planned(purse) if has_second else ()

    @classmethod
    def why(cls, planned: Sequence[MeasureScale]) -> str:
        """Say what the second sweep costs, or why there is none."""
        if not planned:
            return "no second look at the scale: one input, or no first look"
        share = planned[0].share
        return f"the same once more, for inputs along which it changes: {share:.1%} of the budget"


def _sizes(posteriors: Sequence[Posterior]) -> list[float]:
    """Return s₀ of every target: what the model takes for the noise of one observation."""
    return [posterior.moments.noise for posterior in posteriors]


def _has_room(options: Options) -> bool:
    """Return whether a file has room for the scale of so many inputs."""
    dimension = UnitInputs(options.box).dimension
    return not options.learns_metric or has_room_for_scale(dimension, options.n_targets)


def layout_of(options: Options) -> ScaleLayout:
    """Return the features of the scale, of the coordinates that inputs become."""
    coordinates = UnitInputs(options.box).coordinates
    counts = np.bincount(coordinates.source, coordinates.is_indicator).astype(int)
    return scale_layout(tuple(counts.tolist()), not options.learns_metric)


def _asked(known: Known) -> ProjectedFeatures:
    """Return the features of the next sweep."""
    return layout_of(known.options).asked(known.scale_variances)
