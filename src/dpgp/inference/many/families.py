r"""What functions are likely: families of Gaussian processes, by logarithms of hyperparameters.

By default parts in a metric that is learned (:mod:`dpgp.inference.many.metric`), or a kernel of the
user's, with its own hyperparameters.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np

from dpgp.inference.hyperparameters import HyperPrior
from dpgp.kernels.formula import batch_gram
from dpgp.kernels.known import as_kernel
from dpgp.types import Array

FARTHEST = 2.0
"""Prior sds from its median that a hyperparameter of the user's kernel may come to in stages: a
weak prior means no more. By hand."""

SWEEPS = 4
"""Times that a stage goes through the hyperparameters of the user's kernel: their priors are wide,
and each of several kernels starts from them in the end."""

LOG_SD = 0.5
"""Spread of the proposal of hyperparameters about those that the stages found; by hand."""


class Family(Protocol):
    """Kernels that f may be drawn from; θ are the logarithms of their hyperparameters.

    Of θ stages move the first ``climbed``; ``spreads`` are sds of a proposal about what they found.
    """

    @property
    def reference(self) -> Any:
        """The kernel whose features are taken, of variance about one."""
        ...

    @property
    def start(self) -> Array:
        """θ before anything is known."""
        ...

    @property
    def climbed(self) -> int:
        """How many of θ stages move."""
        ...

    @property
    def sweeps(self) -> int:
        """How often a stage goes through them."""
        ...

    @property
    def spreads(self) -> Array:
        """Standard deviations of a proposal of θ."""
        ...

    @property
    def unseen(self) -> float:
        """Precision of a feature's weight below which records say nothing of it."""
        ...

    def within(self, theta: Array) -> Array:
        """Return θ cut to where stages may come."""
        ...

    def log_prior(self, theta: Array) -> float:
        """Return the log density of θ, up to a constant."""
        ...

    def covariances(self, anchors: Array, P: Array) -> PriorCovariances:
        """Return P K_θ(Z, Z) Pᵀ for any θ."""
        ...

    def in_bounds(self, thetas: Array, scale: float) -> tuple[Any, Array]:
        """Return a kernel, and its hyperparameters for every θ, in units of the bounds."""
        ...

    def renewed(self, metric: Callable[[Any], Array]) -> Sequence[Family]:
        """Return families to try between stages.

        ``metric`` tells the one of the posterior, without a part of the reference kernel.
        """
        ...

    @property
    def members(self) -> Sequence[Family]:
        """Families of which one is to be chosen in the end; none where this is the one."""
        ...

    def carried(self, theta: Array) -> Array:
        """Return the θ to start from where the family before this one had come to ``theta``."""
        ...


class PriorCovariances(Protocol):
    """PriorCovariances C_θ of weights, in units of a target's scale."""

    def at(self, theta: Array, scale: float) -> Array:
        """Return C_θ."""
        ...

    def along(self, R: Array) -> PriorCovariances:
        """Return RᵀC_θR, those along some directions of the weights."""
        ...


@dataclass(frozen=True)
class OfKernel:
    """P K_θ Pᵀ of a kernel in units of the bounds."""

    kernel: Any
    anchors: Array
    P: Array

    def at(self, theta: Array, scale: float) -> Array:
        """Return the covariance over the squared scale."""
        gram = batch_gram(self.kernel, theta[None], self.anchors, self.anchors)[0]
        return through(self.P, gram) / scale**2

    def along(self, R: Array) -> OfKernel:
        """Return the same along some directions."""
        return replace(self, P=R.T @ self.P)


@dataclass(frozen=True)
class KernelFamily:
    """A kernel of the user's, in units of the bounds; θ are its own hyperparameters.

    Of several kernels stages take the sum, so that they ask for what any of them can have.
    """

    kernel: Any
    prior: HyperPrior
    members: Sequence[Family] = ()
    sweeps: int = SWEEPS
    unseen: float = 0.0  # how large its variance may be is not known here

    @classmethod
    def of(cls, kernels: Sequence[Any], columns: int) -> KernelFamily:
        """Return the family of one kernel, or of the sum of several, with their weak priors."""
        kernel = reduce(operator.add, map(as_kernel, kernels)) if len(kernels) > 1 else kernels[0]
        priors = as_kernel(kernel).log_priors(columns)
        means, sds = np.array(priors, dtype=np.float64).reshape(-1, 2).T
        members = [cls.of([each], columns) for each in kernels] if len(kernels) > 1 else []
        return cls(kernel, HyperPrior(means, sds), members)

    @cached_property
    def reference(self) -> Any:
        """The kernel at the medians of its prior."""
        return as_kernel(self.kernel).clone_with_theta(self.start)

    @property
    def start(self) -> Array:
        """The medians of the prior."""
        return self.prior.mean

    @property
    def climbed(self) -> int:
        """All of θ."""
        return len(self.start)

    @property
    def spreads(self) -> Array:
        """At most those of the prior."""
        return np.minimum(self.prior.sd, LOG_SD)

    def within(self, theta: Array) -> Array:
        """Return θ cut to two prior sds about the medians."""
        far = FARTHEST * self.prior.sd
        return np.clip(theta, self.start - far, self.start + far)

    def log_prior(self, theta: Array) -> float:
        """Return the weak prior."""
        return float(self.prior.log_density(theta[None])[0])

    def covariances(self, anchors: Array, P: Array) -> OfKernel:
        """Return P K_θ Pᵀ for any θ."""
        return OfKernel(self.kernel, anchors, P)

    def in_bounds(self, thetas: Array, scale: float) -> tuple[Any, Array]:
        """Return the kernel and its θ as they are."""
        return self.kernel, thetas

    def renewed(self, metric: Callable[[Any], Array]) -> list[KernelFamily]:
        """Return nothing: the kernel was asked for."""
        return []

    def carried(self, theta: Array) -> Array:
        """Return where the prior is: hyperparameters of another kernel say nothing."""
        return self.start


def through(P: Array, gram: Any) -> Array:
    """Return P K Pᵀ, where K may be one number for all points."""
    points = P.shape[1]
    return np.asarray(P @ np.broadcast_to(gram, (points, points)) @ P.T)
