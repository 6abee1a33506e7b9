"""A specification as a model of GPyTorch: a variational GP with a kernel of its own.

Imports nothing of dpgp but its formulas. Predicts from raw inputs, in the units of
the target and in double precision: ``model(X)`` for f, ``model.likelihood(model(X))`` for new
observations.
"""

from __future__ import annotations

from typing import Any

import gpytorch  # type: ignore[import-not-found]
import torch
from gpytorch.variational import CholeskyVariationalDistribution, UnwhitenedVariationalStrategy  # type: ignore[import-not-found]

from dpgp.arithmetic import Library
from dpgp.export.specify import Covariances, triangular_root

TORCH = Library(
    array=torch.as_tensor,
    exp=torch.exp,
    sqrt=torch.sqrt,
    sin=torch.sin,
    einsum=torch.einsum,
    stack_rows=lambda parts: torch.cat(parts, dim=0),
    clip=lambda value, low, high: torch.minimum(torch.maximum(value, _as(low)), _as(high)),
    reshape=torch.reshape,
)


def _as(value: Any) -> Any:
    return torch.as_tensor(value, dtype=torch.float64)


class EffectiveKernel(gpytorch.kernels.Kernel):  # type: ignore[misc]
    """k̃ = scale² (φᵀφ' + s s' cov of what φ misses), on rows (φ(x), x, s).

    Rows with s = 1 are f(x); the rows (e_j, 0, 0) are the weights, which miss nothing.
    """

    def __init__(self, specification: dict[str, Any]) -> None:
        super().__init__()
        self.covariances = Covariances(specification, TORCH)
        self.scale = float(specification["scale"])
        self.count = len(specification["m"])

    def _parts(self, rows: Any) -> tuple[Any, Any, Any]:
        return rows[..., : self.count], rows[..., self.count : -1], rows[..., -1]

    def forward(self, x1: Any, x2: Any, diag: bool = False, **_: Any) -> Any:
        """Return the covariances between rows, or their diagonal."""
        (phi, U, s), (phi_y, Y, s_y) = self._parts(x1), self._parts(x2)
        if diag:
            missing = s * s_y * self.covariances.missing_variance(U, phi)
            return self.scale**2 * ((phi * phi_y).sum(dim=-1) + missing)
        missing = self.covariances.missing(U, phi, Y, phi_y)
        return self.scale**2 * (phi @ phi_y.T + s[:, None] * s_y[None, :] * missing)


class ExportedGP(gpytorch.models.ApproximateGP):  # type: ignore[misc]
    """A variational GP with q(u) as given, called with raw inputs, one a row."""

    def __init__(self, specification: dict[str, Any]) -> None:
        m, scale = _as(specification["m"]), float(specification["scale"])
        q = CholeskyVariationalDistribution(len(m)).double()
        super().__init__(_strategy(self, specification, q))
        self.kernel = EffectiveKernel(specification)
        self.centre = float(specification["centre"])
        self.likelihood = _likelihood(scale**2 * float(specification["noise_variance"]))
        q.variational_mean.data = scale * m
        q.chol_variational_covar.data = scale * _as(triangular_root(specification["S"]))
        self.requires_grad_(False)

    def forward(self, rows: Any) -> Any:
        """Return the prior of rows (φ(x), x, s): f(x) has the mean of the target, weights 0."""
        mean = self.centre * rows[..., -1]
        return gpytorch.distributions.MultivariateNormal(mean, self.kernel(rows))

    def __call__(self, X: Any, **options: Any) -> Any:
        """Return the distribution of f at raw inputs."""
        covariances = self.kernel.covariances
        U = covariances.unit_inputs(_as(X))
        ones = torch.ones(len(U), 1, dtype=torch.float64)
        return super().__call__(torch.cat([covariances.evaluate(U), U, ones], dim=1), **options)


def _strategy(model: ExportedGP, specification: dict[str, Any], q: Any) -> Any:
    count, columns = len(specification["m"]), len(specification["anchors"][0])
    weights = torch.eye(count, count + columns + 1, dtype=torch.float64)
    strategy = UnwhitenedVariationalStrategy(
        model, weights, q, learn_inducing_locations=False, jitter_val=0.0
    )
    strategy.variational_params_initialized.fill_(1)
    return strategy


def _likelihood(noise_variance: float) -> Any:
    constraint = gpytorch.constraints.Positive()
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=constraint).double()
    likelihood.noise = _as(noise_variance)  # a bare float would be rounded to single precision
    return likelihood


def build(specification: dict[str, Any]) -> Any:
    """Return the model, ready to predict."""
    return ExportedGP(specification).eval()
