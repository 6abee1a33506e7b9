"""The frame of a fit: where rows are, and what every way of fitting can do between releases.

A fit is a loop. It asks for features of the next stage, takes the released sums as a record of f,
and renews its beliefs; in the end it has a posterior for every target. Few inputs have a fixed
dictionary, asked for as a whole, and a density of the inputs read from what stages release anyway;
many have a dictionary whose metric is learned, asked for where most is unknown, and synthetic rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.features.base import FeatureMap
from dpgp.features.inputs import Residuals
from dpgp.inference.clip_choice import ClipInterval
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import StageRelease
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.clipped_squares import ClippedSquare
    from dpgp.inference.recorded import Recorded
    from dpgp.privacy.mechanism import GramRelease


@dataclass(frozen=True)
class InputModel:
    """Where rows are: places in the cube, and how many rows each stands for.

    ``covariance`` is that of these numbers, None where they are as good as known.
    """

    places: Array
    weights: Array
    covariance: Array | None = None

    def thinned(self, most: int) -> InputModel:
        """Return at most so many places that stand for all rows: the first, in no order."""
        return self._some(np.arange(most)) if len(self.places) > most else self

    def thinned_along(self, values: Array, most: int) -> InputModel:
        """Return at most so many places, evenly along a function's values, to keep its average."""
        if len(self.places) <= most:
            return self
        even = (np.arange(most) + 0.5) * len(values) / most
        return self._some(np.argsort(values, kind="stable")[even.astype(np.intp)])

    def _some(self, kept: NDArray[np.intp]) -> InputModel:
        weights = self.weights[kept]
        return InputModel(self.places[kept], weights * (self.weights.sum() / weights.sum()))


class Fit(Protocol):
    """What is believed of all targets between releases, and what to ask next; never sees a row.

    Functions have their weights on one dictionary, in units of the targets' bounds.
    """

    def ask(self, noise_std: float) -> FeatureMap:
        """Return features for a stage whose released sums carry noise of this sd."""
        ...

    def take(self, release: GramRelease, share: float, *, renew: bool) -> None:
        """Take the answer; ``share`` is the stage's part of all of them.

        ``renew`` says whether the dictionary may change.
        """
        ...

    @property
    def centres(self) -> list[Array]:
        """What the next stage takes residuals from."""
        ...

    @property
    def clips(self) -> list[float]:
        """Where the next stage clips them."""
        ...

    @property
    def residual_sds(self) -> list[float]:
        """What is expected of their standard deviations."""
        ...

    def residuals(self, weights: Sequence[Array], clips: Sequence[float]) -> Residuals:
        """Return what functions leave of the targets, to be clipped there."""
        ...

    def learn_laws(self, laws: Sequence[ResidualLaw], mu: float) -> None:
        """Take the law of the residuals of every target; μ is over the rows of a unit."""
        ...

    @property
    def means(self) -> list[Array]:
        """What all stages together believe of f."""
        ...

    def guard_intervals(self, mu: float) -> list[ClipInterval]:
        """Return where a guard of the mean clips."""
        ...

    def guard(self, releases: Sequence[StageRelease]) -> None:
        """Correct the mean of every target by its guard's release."""
        ...

    def follow_scales(self, scales: Sequence[LocalScale]) -> None:
        """Correct the mean of every target by what its local scale says of clipping."""
        ...

    @property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of every target, from the stages and the guard so far."""
        ...

    @property
    def squares(self) -> list[list[ClippedSquare]]:
        """What the last stage and the guard told of the size of residuals, target by target."""
        ...

    @property
    def optimism(self) -> tuple[float, ...]:
        """How many times as large residuals of new rows are as those of the fitted ones."""
        ...

    @property
    def input_model(self) -> InputModel:
        """Where rows are, for all that is known."""
        ...

    @property
    def releases(self) -> tuple[tuple[StageRelease, ...], ...]:
        """What stages released, target by target."""
        ...

    @property
    def recorded(self) -> Recorded:
        """What was measured, for whoever reads it again."""
        ...
