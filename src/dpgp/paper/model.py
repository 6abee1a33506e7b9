"""Everything that HM21 takes as known: kernel, inducing points, bounds, noise. All of it public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from dpgp.domain import Box
from dpgp.features.base import FeatureMap
from dpgp.features.inducing import kernel_features
from dpgp.kernels.base import takes_vectors
from dpgp.paper.norm_bounds import norm_bound as kernel_norm_bound
from dpgp.paper.posterior import (
    CovarianceTerms,
    ReleasedMoments,
    SparsePosterior,
    Update,
    dp_update,
)
from dpgp.point_sets import Grid
from dpgp.privacy.arguments import as_finite_positive
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.mechanism import GramNoise, GramRelease, moments_noise
from dpgp.privacy.neighbours import Neighbours
from dpgp.types import Array

SensitivityFormula = Literal["clamped", "printed"]


@dataclass(frozen=True)
class PaperModel:
    """A sparse Gaussian process with known hyperparameters and the bounds that privacy needs."""

    kernel: Any
    inducing_points: Any
    noise_std: float
    target_bound: float
    norm_bound: float
    ratio: float = 1.0
    sensitivity: SensitivityFormula = "clamped"
    covariance: CovarianceTerms = "complete"

    def __post_init__(self) -> None:
        for name in ("noise_std", "target_bound", "norm_bound", "ratio"):
            as_finite_positive(name, getattr(self, name))
        _check_choice("sensitivity", self.sensitivity, SensitivityFormula)
        _check_choice("covariance", self.covariance, CovarianceTerms)

    def features(self) -> FeatureMap:
        """Return the map from a row to k_Z(x)/R_k."""
        return kernel_features(self.kernel, self.inducing_points, self.norm_bound)

    def noise(self, mu: float, neighbours: Neighbours) -> GramNoise:
        """Return the noise that makes the release of A and B μ-GDP."""
        # σ_a/σ_b in the units of the release, where A is divided by R_k R_y and B by R_k²
        ratio = self.ratio * self.norm_bound / self.target_bound
        return moments_noise(mu, ratio, neighbours, as_printed=self.sensitivity == "printed")

    @cached_property
    def K_zz(self) -> Array:
        """Prior covariance of the inducing values."""
        return np.asarray(self.kernel(self.inducing_points))

    def update(self, release: GramRelease) -> Update:
        """Compute the posterior of the inducing values from a release (HM21 eq. 12)."""
        R_k, R_y = self.norm_bound, self.target_bound
        moments = ReleasedMoments(
            A_hat=R_k * R_y * release.cross[:, 0],
            B_hat=R_k**2 * release.feature_gram,
            sigma_a=R_k * R_y * release.cross_std,
            sigma_b=R_k**2 * release.feature_std,
        )
        return dp_update(moments, self.K_zz, self.noise_std, covariance=self.covariance)

    def posterior(
        self,
        update: Update,
        certificate: Certificate,
        prior_mean: float = 0.0,
        feature_names: Sequence[str] | None = None,
    ) -> SparsePosterior:
        """Return the published posterior: public parameters, released values, certificate."""
        return SparsePosterior(
            kernel=self.kernel,
            inducing_points=self.inducing_points,
            update=update,
            noise_std=self.noise_std,
            prior_mean=prior_mean,
            certificate=certificate,
            feature_names=None if feature_names is None else tuple(feature_names),
        )


def resolve_norm_bound(
    kernel: Any, inducing_points: Any, rule: str | float, box: Box | None
) -> float:
    """Return R_k by one of HM21's rules, the certified maximum, or as given."""
    corners = (None, None) if box is None else (box.low, box.high)
    return kernel_norm_bound(kernel, inducing_points, rule, *corners)


def as_inducing_points(points: Any, kernel: Any, box: Box | None) -> Any:
    """Return public inducing points as an array, checked against the public box."""
    if not takes_vectors(kernel):
        return _structured_points(points)
    array = np.asarray(points.points if isinstance(points, Grid) else points)
    if array.dtype.kind not in "fiu" or array.ndim != 2 or len(array) == 0:
        raise ValueError(
            "`inducing_points` must be numbers of shape (points, columns) with at least one point, "
            f"got {array.dtype} of shape {array.shape}."
        )
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("`inducing_points` must be finite.")
    if box is not None and not box.contains(array):
        raise ValueError("`inducing_points` must lie within `bounds`; move them or widen the box.")
    return array


def _structured_points(points: Any) -> list[Any]:
    if isinstance(points, str) or not isinstance(points, Sequence) or len(points) == 0:
        raise ValueError("`inducing_points` must be a list of at least one object.")
    return list(points)


def _check_choice(name: str, value: str, allowed: Any) -> None:
    if value not in get_args(allowed):
        raise ValueError(f"`{name}` must be one of {get_args(allowed)}, got {value!r}.")
