r"""Gradients of mean-field networks, clipped row by row, for several networks side by side.

A network has weights W (inputs and 1 → hidden units), v and b: f(x) = Σ_h v_h relu(W_hᵀ(x, 1)) + b,
each with an independent posterior N(μ, softplus(ρ)²). Its parameters are one vector
θ = (μ, ρ, log σ), σ the observation noise; networks lie along the first axis, rows along the last.

Gradients are never formed row by row. Where a ReLU unit is active it is linear, so a row's output
is linear, and the squared norm of its gradient quadratic, in (x, 1), with coefficients that are
sums over active units: one product with the matrix of active units for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpgp_experiments.baselines.private_gradients import clip_weights, load_torch


@dataclass(frozen=True)
class MeanField:
    """The shape of a network, and all that is computed from its parameters."""

    columns: int
    hidden: int

    @property
    def inputs(self) -> int:
        """Number of inputs, the constant included."""
        return self.columns + 1

    @property
    def weights(self) -> int:
        """Number of weights."""
        return (self.inputs + 1) * self.hidden + 1

    @cached_property
    def prior_std(self) -> Any:
        """Prior standard deviations: 1 in the first layer, one over the root of units after it."""
        std = load_torch().ones(self.weights)
        std[self.inputs * self.hidden :] = self.hidden**-0.5
        return std

    @cached_property
    def _pairs(self) -> tuple[Any, Any]:
        upper = load_torch().triu_indices(self.inputs, self.inputs)
        return upper[0], upper[1]

    def features(self, X: Any) -> Any:
        """Return (x, 1) and its products j ≤ k, one a line, rows along the last axis."""
        torch, (j, k) = load_torch(), self._pairs
        x = torch.nn.functional.pad(X, (0, 1), value=1.0).transpose(1, 2)
        return torch.cat([x, x[:, j] * x[:, k]], dim=1)

    def parts(self, theta: Any) -> tuple[Any, Any, Any]:
        """Return μ, ρ and log σ."""
        mu, rho, log_std = theta.split([self.weights, self.weights, 1], dim=1)
        return mu, rho, log_std

    def layers(self, weights: Any) -> tuple[Any, Any, Any]:
        """Return W (inputs × units), v and b of flat weights."""
        W, v, b = weights.split([self.inputs * self.hidden, self.hidden, 1], dim=1)
        return W.reshape(len(W), self.inputs, self.hidden), v, b

    def output(self, weights: Any, x: Any) -> Any:
        """Return f at rows (x, 1)."""
        torch, (W, v, b) = load_torch(), self.layers(weights)
        return torch.bmm(v[:, None], torch.relu(torch.bmm(W.transpose(1, 2), x)))[:, 0] + b

    def prior_gradient(self, theta: Any) -> Any:
        """Return the gradient of the Kullback–Leibler divergence from the prior; it sees no row."""
        torch, precision = load_torch(), self.prior_std**-2
        mu, rho, log_std = self.parts(theta)
        std = torch.nn.functional.softplus(rho)
        in_rho = (std * precision - 1.0 / std) * torch.sigmoid(rho)
        return torch.cat([mu * precision, in_rho, torch.zeros_like(log_std)], dim=1)

    def clipped_gradients(
        self, theta: Any, features: Any, y: Any, draws: Any, clip: Any, with_noise: bool
    ) -> Any:
        """Return the sum over rows of the clipped gradients of the log likelihood.

        All rows share the standard normal ``draws`` behind the weights. A row of features that is
        all zero, its constant too, stands for no row. The last entry, of log σ, is zero unless
        ``with_noise``.
        """
        torch, x = load_torch(), features[:, : self.inputs]
        mu, rho, log_std = self.parts(theta)
        slopes = draws * torch.sigmoid(rho)  # ∂w/∂ρ
        weights = mu + draws * torch.nn.functional.softplus(rho)
        W, v, _ = self.layers(weights)
        active = torch.bmm(W.transpose(1, 2), x)
        torch.gt(active, 0.0, out=active)
        output, squared_norm = self._output_and_norm(weights, slopes, active, features)
        precision, residual = torch.exp(-2.0 * log_std), y - output
        error, misfit = residual * precision, residual**2 * precision - 1.0
        squares = squared_norm * error**2 + (misfit**2 if with_noise else 0.0)
        factors = clip_weights(squares, clip) * x[:, -1]
        error = factors * error
        sums = torch.bmm(error[:, None] * x, active.transpose(1, 2))
        in_W = (v[:, None] * sums).reshape(len(sums), -1)
        in_weights = torch.cat([in_W, (W * sums).sum(1), error.sum(1, keepdim=True)], dim=1)
        in_noise = (factors * misfit).sum(1, keepdim=True) * float(with_noise)
        return torch.cat([in_weights, in_weights * slopes, in_noise], dim=1)

    def _output_and_norm(
        self, weights: Any, slopes: Any, active: Any, features: Any
    ) -> tuple[Any, Any]:
        r"""Return every row's output f, and :math:`\|\partial f/\partial(\mu, \rho)\|^2`."""
        torch, (j, k) = load_torch(), self._pairs
        W, v, b = self.layers(weights)
        in_W, in_v, in_b = self.layers(1.0 + slopes**2)
        quadratic = in_v[:, None] * W[:, j] * W[:, k] * torch.where(j == k, 1.0, 2.0)[:, None]
        quadratic[:, j == k] += v[:, None] ** 2 * in_W
        coefficients = torch.cat([v[:, None] * W, quadratic], dim=1)
        terms = torch.bmm(coefficients, active) * features
        return terms[:, : self.inputs].sum(1) + b, terms[:, self.inputs :].sum(1) + in_b
