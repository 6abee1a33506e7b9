"""A specification as a model of GPflow: a standard SVGP with a kernel of its own.

Imports nothing of dpgp but its formulas. Predicts from raw inputs, in the units of
the target: ``model.predict_f(X)``, ``model.predict_y(X)``.
"""

from __future__ import annotations

from typing import Any

import gpflow  # type: ignore[import-not-found]
import numpy as np
import tensorflow as tf  # type: ignore[import-untyped]

from dpgp.arithmetic import Library
from dpgp.export.specify import Covariances, triangular_root

TENSORFLOW = Library(
    array=tf.constant,
    exp=tf.exp,
    sqrt=tf.sqrt,
    sin=tf.sin,
    einsum=tf.einsum,
    stack_rows=lambda parts: tf.concat(parts, axis=0),
    clip=lambda value, low, high: tf.minimum(tf.maximum(value, low), high),
    reshape=tf.reshape,
)


class EffectiveKernel(gpflow.kernels.Kernel):  # type: ignore[misc]
    """k̃(x, x') = scale² (φ(x)ᵀφ(x') + cov of what φ misses), on raw inputs."""

    def __init__(self, specification: dict[str, Any]) -> None:
        super().__init__()
        self.covariances = Covariances(specification, TENSORFLOW)
        self.scale = float(specification["scale"])

    def points(self, X: Any) -> tuple[Any, Any]:
        """Return scaled inputs and their features."""
        U = self.covariances.unit_inputs(tf.cast(X, tf.float64))
        return U, self.covariances.evaluate(U)

    def K(self, X: Any, X2: Any = None) -> Any:
        """Return the covariances of f between raw inputs."""
        U, phi = self.points(X)
        Y, phi_y = (U, phi) if X2 is None else self.points(X2)
        shared = tf.matmul(phi, phi_y, transpose_b=True)
        return self.scale**2 * (shared + self.covariances.missing(U, phi, Y, phi_y))

    def K_diag(self, X: Any) -> Any:
        """Return the variances of f at raw inputs."""
        U, phi = self.points(X)
        missing = self.covariances.missing_variance(U, phi)
        return self.scale**2 * (tf.reduce_sum(phi**2, axis=1) + missing)


class Weights(gpflow.inducing_variables.InducingVariables):  # type: ignore[misc]
    """Inducing variables that are the weights of the features, times the target's scale."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    @property
    def num_inducing(self) -> int:
        """Number of weights."""
        return self.count

    @property
    def shape(self) -> tuple[int, None, int]:
        """Weights, no dimensions of inputs, one output."""
        return (self.count, None, 1)


@gpflow.covariances.Kuu.register(Weights, EffectiveKernel)  # type: ignore[untyped-decorator]
def _(weights: Weights, kernel: EffectiveKernel, *, jitter: float = 0.0) -> Any:
    """cov(u, u) = scale² I, which needs no jitter."""
    return kernel.scale**2 * tf.eye(weights.count, dtype=tf.float64)


@gpflow.covariances.Kuf.register(Weights, EffectiveKernel, object)  # type: ignore[untyped-decorator]
def _(weights: Weights, kernel: EffectiveKernel, X: Any) -> Any:
    """cov(u, f(x)) = scale² φ(x)."""
    return kernel.scale**2 * tf.transpose(kernel.points(X)[1])


def build(specification: dict[str, Any]) -> Any:
    """Return a ``gpflow.models.SVGP`` with q(u) as given; nothing is left to train."""
    scale = float(specification["scale"])
    m = np.asarray(specification["m"], dtype=np.float64)
    variance = scale**2 * float(specification["noise_variance"])
    model = gpflow.models.SVGP(
        EffectiveKernel(specification),
        gpflow.likelihoods.Gaussian(variance=variance, variance_lower_bound=variance / 2),
        inducing_variable=Weights(len(m)),
        mean_function=gpflow.functions.Constant(float(specification["centre"])),
        q_mu=scale * m[:, None],
        q_sqrt=scale * triangular_root(specification["S"])[None],
        whiten=False,
    )
    gpflow.utilities.set_trainable(model, False)
    return model
