"""New observations at scaled inputs: what calibration counts, and what predictions state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.inference.series import series_of
from dpgp.types import Array


@dataclass(frozen=True)
class Predictive:
    """Mean m(x) and standard deviation c(x)s(x) of a new observation of one target.

    ``moments`` gives m and c²s², which are smooth where their root need not be, one below the
    other.
    """

    moments: Callable[[Array], Array]

    def at(self, U: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation at the rows of ``U``."""
        mean, variance = self.moments(U)
        return mean, np.sqrt(variance)


@dataclass(frozen=True)
class PosteriorMoments:
    """m and c²s² as the posterior says at every point."""

    posterior: Posterior
    scale: LocalScale | None

    def __call__(self, U: Array) -> Array:
        """Return both at the rows of ``U``, one below the other."""
        mean, std = self.posterior.predict(U)
        c = 1.0 if self.scale is None else self.scale.factor(U)
        return np.stack([mean, (c * std) ** 2])


def predictives(
    posteriors: Sequence[Posterior], scales: Sequence[LocalScale]
) -> tuple[Predictive, ...]:
    """Return those of all targets; ``scales`` is empty where none was learned.

    Of one or two inputs moments become series, the same for every point; of more inputs, or where
    functions are not smooth, the posterior is asked at every point.
    """
    pairs = zip_longest(posteriors, scales)
    moments = (PosteriorMoments(posterior, scale) for posterior, scale in pairs)
    return tuple(Predictive(series_of(of, of.posterior.columns) or of) for of in moments)
