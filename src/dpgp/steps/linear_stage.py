"""The first stage of many inputs: a line, whose Gram matrix is the copula of the inputs as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures, UnitLine
from dpgp.inference.many.mixed import mixed_pool
from dpgp.inference.many.plan import buys_input_model, linear_share
from dpgp.inference.many.synthetic import (
    CONSTANT_SHARE,
    SMALLEST_SIZE,
    InputMoments,
    broad_pool,
    direction_moments,
    input_moments,
    synthetic_pool,
)
from dpgp.inference.many.target import first_clip
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.base import GramQuery, Purpose, gram_noise_stds
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known


class Line(NamedTuple):
    """Features of the linear stage, its release, and its part of all stages."""

    features: LinearFeatures | UnitLine
    release: GramRelease
    weight: float


@dataclass(frozen=True)
class LinearStage:
    """Release the Gram matrix of a constant, the warped inputs and the centred targets."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.FUNCTION
    label: ClassVar[str] = "linear stage"
    activity: ClassVar[str] = "fitting a line"
    effort: ClassVar[float] = 0.02  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[LinearStage, ...]:
        """Return the one step."""
        return (cls(1.0 if purse.is_unlimited else linear_share(purse.signal, purse.columns)),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for constant and linear features and the targets about their centres, clipped."""
        line, places = BoxFeatures(_inputs(known), _features(known)), known.locations
        weights = np.zeros((len(places), line.dimension))
        weights[:, 0] = [place.centre / np.sqrt(CONSTANT_SHARE) for place in places]
        clips = [place.scale * first_clip(place, known.kappa) for place in places]
        residuals = Residuals(line, weights, np.array(clips))
        return GramQuery(line, residuals, joint=known.options.outcome.is_joint)

    def learn(self, known: Known, release: GramRelease) -> None:
        """Draw inputs of these moments; the line itself is read when their model is complete."""
        known.draw(_synthetic(known, release))
        known.line = Line(_features(known), release, known.stage_weight(self.share))

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be unknown after one more stage."""
        return outlook.after_stage(self.share)

    @classmethod
    def why(cls, planned: Sequence[LinearStage]) -> str:
        """Say what the line costs."""
        share = math.fsum(step.share for step in planned)
        return f"a line, and correlations of the inputs: {share:.1%} of the budget"


def _is_in_the_dark(known: Known) -> bool:
    """Whether nothing is known of how the inputs spread, and a line will hardly tell."""
    return known.marginals is None and not buys_input_model(known.signal, known.columns)


def _features(known: Known) -> LinearFeatures | UnitLine:
    """Return constant and linear features of the inputs' coordinates."""
    coordinates = known.inputs.dimension
    if _is_in_the_dark(known):
        return UnitLine(coordinates, CONSTANT_SHARE, SMALLEST_SIZE)
    return LinearFeatures(coordinates, CONSTANT_SHARE)


def _synthetic(known: Known, release: GramRelease) -> Array:
    """Return inputs with the moments that the Gram matrix of these features tells."""
    read = direction_moments if _is_in_the_dark(known) else input_moments
    moments = read(release.feature_gram, release.feature_std, known.n)
    if known.shares_there is not None:
        moments = moments.where_known(known.shares_there[known.inputs.coordinates.source])
    return _pool(known, moments)


def _inputs(known: Known) -> UnitInputs:
    """Return the inputs; rows with gaps are completed as if inputs had nothing to do with others.

    How they go together is what this stage will tell.
    """
    if not known.has_gaps:
        return known.inputs
    return known.inputs.completed_by(_pool(known, InputMoments.unknown(known.inputs.dimension)))


def _pool(known: Known, moments: InputMoments) -> Array:
    """Return inputs of these moments."""
    if known.options.box.categories:
        coordinates = known.inputs.coordinates
        return mixed_pool(coordinates, known.marginals, known.levels, moments, known.n)
    if known.marginals is None:
        return broad_pool(moments)
    return synthetic_pool(known.marginals, known.marginals.warp(), moments)
