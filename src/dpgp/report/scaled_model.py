"""A posterior in natural units: public scales around released values."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpgp.paper.posterior import SparsePosterior
from dpgp.privacy.certificate import Certificate, Selection
from dpgp.privacy.ledger import GaussianRelease

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column with its public bounds, and the public scale that takes them to [−1, 1]."""

    name: str
    unit: str
    low: float
    high: float
    transform: Literal["identity", "square root"] = "identity"

    @property
    def label(self) -> str:
        """Name and unit, for axes and tables."""
        return f"{self.name} ({self.unit})"

    @property
    def half_width(self) -> float:
        """Half the length of the transformed interval."""
        return (self._transformed(self.high) - self._transformed(self.low)) / 2

    @property
    def centre(self) -> float:
        """Middle of the transformed interval."""
        return (self._transformed(self.high) + self._transformed(self.low)) / 2

    def scale(self, values: ArrayLike) -> Array:
        """Clip to the bounds, transform, and scale to [−1, 1]; missing stays missing."""
        clipped = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        root = np.sqrt(clipped) if self.transform == "square root" else clipped
        return np.asarray((root - self.centre) / self.half_width)

    def unscale(self, values: ArrayLike) -> Array:
        """Take [−1, 1] back to natural units."""
        root = self.centre + self.half_width * np.asarray(values, dtype=np.float64)
        return np.asarray(root**2 if self.transform == "square root" else root)

    def _transformed(self, value: float) -> float:
        return math.sqrt(value) if self.transform == "square root" else value


@dataclass(frozen=True)
class ScaledModel:
    """A released posterior with the public scales of its inputs and of its target."""

    posterior: SparsePosterior
    inputs: tuple[Column, ...]
    target: Column

    def predict(self, X: ArrayLike, latent: bool = True) -> tuple[Array, Array]:
        """Return mean and standard deviation in the target's unit, at inputs in theirs."""
        scaled = scale_inputs(self.inputs, X)
        mean, std = self.posterior.predict(scaled, return_std=True, latent=latent)
        return self.target.unscale(mean), self.target.half_width * std

    @property
    def noise_std(self) -> float:
        """The assumed noise of an observation, in the target's unit."""
        return self.target.half_width * self.posterior.noise_std

    def unscaled_inducing_points(self) -> Array:
        """Return the inducing points in the units of the inputs."""
        columns = self.posterior.inducing_points.T
        return np.stack([c.unscale(v) for c, v in zip(self.inputs, columns, strict=True)], axis=-1)

    def save(self, path: Path) -> None:
        """Write public parameters and released values as JSON, floats to the last bit."""
        path.write_text(json.dumps(model_document(self), indent=2) + "\n", encoding="utf-8")


def scale_inputs(inputs: tuple[Column, ...], X: ArrayLike) -> Array:
    """Scale every column of ``X`` by its public bounds."""
    columns = np.asarray(X, dtype=np.float64).T
    return np.stack([c.scale(v) for c, v in zip(inputs, columns, strict=True)], axis=-1)


def model_document(model: ScaledModel) -> dict[str, Any]:
    """Return everything that may be published of a model, in plain types."""
    posterior = model.posterior
    return {
        "format": "dpgp sparse posterior",
        "version": 1,
        "inputs": [asdict(column) for column in model.inputs],
        "target": asdict(model.target),
        "kernel": kernel_document(posterior.kernel),
        "noise_std": posterior.noise_std,
        "prior_mean": posterior.prior_mean,
        "inducing_points": posterior.inducing_points.tolist(),
        "mean": posterior.mean.tolist(),
        "covariance": posterior.covariance.tolist(),
        "certificate": certificate_document(posterior.certificate),
    }


def kernel_document(kernel: Any) -> dict[str, Any]:
    """Return a scikit-learn kernel as its formula and its exact parameters."""
    values = {name: _plain(value) for name, value in kernel.get_params().items()}
    parameters = {name: value for name, value in values.items() if value is not None}
    return {"formula": str(kernel), "parameters": parameters}


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate in plain types."""
    return {
        "epsilon": certificate.epsilon,
        "delta": certificate.delta,
        "neighbours": certificate.neighbours.value,
        "mu": certificate.mu,
        "private": certificate.is_private,
        "releases": [_release_document(release) for release in certificate.releases],
    }


def _release_document(release: GaussianRelease | Selection) -> dict[str, Any]:
    if isinstance(release, GaussianRelease):
        return {**asdict(release), "mu": release.mu}
    return asdict(release)


def _plain(value: Any) -> float | list[float] | None:
    """Return a number or a vector of numbers as Python floats, None for anything else."""
    if isinstance(value, Real):
        return float(value)
    array = np.asarray(value) if isinstance(value, list | tuple | np.ndarray) else np.empty(0)
    return array.astype(np.float64).tolist() if array.size and array.dtype.kind in "if" else None
