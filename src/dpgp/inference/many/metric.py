r"""Functions in a metric that is learned: what f is drawn from where nobody asked for a kernel.

Five parts with prior sds s, a constant, a line, a sum of functions of one input, a broad function
in the metric :math:`L_0` that treats all inputs alike, and a smooth function in the learned metric
L:

.. math:: k = s_0^2 + s_1^2\,\tfrac1D x^\top y + s_2^2\,k_{add} + s_3^2\,k_{L_0}(x, y)
          + s_4^2\,k_L(x, y)

A metric that has learned too early that an input does not matter is never sure of it: the broad
part keeps looking.

Where inputs have long tails there is a line in these as they are, too. One row in a hundred lies
far out, and the warp gives it and its like a hundredth of the room: no smooth function of the
warped input climbs there. The line is

.. math:: h_n(x) = \mathrm{clip}\bigl((u_n - m_n)/s_n, \pm c\bigr)/\sqrt q

for the q inputs whose released marginal, of mean :math:`m_n` and sd :math:`s_n`, has long tails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.many.families import LOG_SD, Family, through
from dpgp.inference.many.marginals import Marginals
from dpgp.kernels.linear import AdditiveRBF, BrokenLines, constant, straight
from dpgp.kernels.stationary import MetricRBF
from dpgp.types import Array

REFERENCE = np.array([0.5, 0.8, 0.6, 0.3, 0.7])
"""Prior sds of constant, line, sum, broad and smooth part, in sds of the target. By hand: a line
may explain most, and what is broad is there to keep doubt alive."""

LOG_SD_OF_SDS, LENGTH_SD = 0.7, 0.5
"""Prior sds of the logarithm of every prior sd around the reference, and of that of the length:
factors of two and of 1.65. With 1.0 lines and constants gain a twentieth, and sums of functions of
five inputs, whose parts are then given up before they are found, lose a third."""

LOWEST, HIGHEST = 0.3, 1.35
"""Smallest prior sd, relative to the reference, and largest one, that stages may come to: no part
is given up while records are few, and none explains much more than there is. By hand."""

TAIL_SD, LOG_SD_OF_TAIL_SD, LOWEST_TAIL = 0.3, 1.5, 0.03
"""Reference sd of a line in inputs with long tails, that of its logarithm, and the least one. By
hand: it may explain nothing or all. From a reference of 0.1 it grows too slowly, and a tenth of the
accuracy is lost where it explains most."""

LOG_LENGTH_SD = 0.25
"""Spread of the proposal of the length about the one that the stages found; by hand."""

FIRST_LENGTH = 0.7
"""Length of the first metric, in √D sds of the inputs: shorter than most need. By hand."""

SMALLEST_SD = 0.05
"""Sd of inputs below which the first metric is not adapted to them: there is nothing to learn."""

FLOOR = 1e-3
"""Smallest eigenvalue of a metric, relative to its largest. By hand: no input is given up for
good."""

UNSEEN = 1e-4
"""Precision of a weight below which records say nothing of it: prior variances of weights are about
one, and so of 800 the evidence is off by a hundredth of what could decide anything."""

LONG = 20.0
"""Kurtosis of a released marginal from which on tails are long. By hand: noise in empty bins adds
to it, so that bells in wide bounds come to 17 and exponential laws, which have 9, beyond; counts
of visits come to 40, and lognormal laws of log-sd 1 to 60 and more."""

FEW = 3
"""Cells of a marginal, its heaviest, that are no tail however far they lie: of so few values, such
as 0 and 1, each is learned by itself. By hand: in a tail they are those about the mode."""

FARTHEST_IN_TAILS = 12.0
"""Sds from the mean beyond which the line is flat: less than one row in a thousand of such laws
lies there. By hand."""


@dataclass(frozen=True)
class MetricFamily:
    """The five parts, or six with ``tails``; θ are the logarithms of their sds and of a length.

    The length divides L.
    """

    root: Array  # L, (D, D)
    broad: Array  # L₀
    tails: BrokenLines | None = None
    sweeps: int = 1
    unseen: float = UNSEEN

    @cached_property
    def _sds(self) -> Array:
        """Reference sds of the parts."""
        return REFERENCE if self.tails is None else np.insert(REFERENCE, -2, TAIL_SD)

    def _with_tails(self, usual: float, of_tails: float) -> Array:
        """Return one number for every part, another one for tails."""
        every = np.full(len(REFERENCE), usual)
        return every if self.tails is None else np.insert(every, -2, of_tails)

    @property
    def climbed(self) -> int:
        """All but the length."""
        return len(self._sds)

    @cached_property
    def reference(self) -> Any:
        """The kernel with the reference sds."""
        return kernel_of(self.root, self.broad, self._sds, self.tails)

    @property
    def start(self) -> Array:
        """The reference sds, and a length of one."""
        return np.append(np.log(self._sds), 0.0)

    @property
    def spreads(self) -> Array:
        """Those of the sds, and a smaller one of the length."""
        return np.append(np.full(self.climbed, LOG_SD), LOG_LENGTH_SD)

    def within(self, theta: Array) -> Array:
        """Return sds cut to their range; the length stays."""
        lowest = self._with_tails(LOWEST, LOWEST_TAIL) * self._sds
        return np.append(np.clip(theta[:-1], np.log(lowest), np.log(HIGHEST)), theta[-1])

    def log_prior(self, theta: Array) -> float:
        """Return independent Gaussians on θ."""
        z = (theta - self.start) / np.append(
            self._with_tails(LOG_SD_OF_SDS, LOG_SD_OF_TAIL_SD), LENGTH_SD
        )
        return float(-0.5 * np.sum(z**2))

    def covariances(self, anchors: Array, P: Array) -> SumOfParts:
        """Return Σ s_b² P K_b Pᵀ for any sds."""
        *thin, broad, smooth = parts(self.root, self.broad, self.tails)
        factors = tuple(P @ kernel.factor(anchors) for kernel in thin)
        return SumOfParts(self.root, anchors, P, factors, broad(anchors), smooth(anchors))

    def in_bounds(self, thetas: Array, scale: float) -> tuple[Any, Array]:
        """Return the sum of the parts, whose hyperparameters are variances and the length."""
        sizes = np.ones(self.climbed)
        sizes[1] = len(self.root)
        variances = 2.0 * (np.log(scale) + thetas[:, :-1]) - np.log(sizes)
        kernel = kernel_of(self.root, self.broad, scale * self._sds, self.tails)
        return kernel, np.column_stack([variances, thetas[:, -1]])

    def renewed(self, metric: Callable[[Any], Array]) -> list[MetricFamily]:
        """Return the same in the metric of the posterior, and in one along the inputs alone."""
        found = metric(None if self.tails is None else constant(TAIL_SD**2) * self.tails)
        return [replace(self, root=metric_root(M)) for M in (found, np.diag(np.diag(found)))]

    @property
    def members(self) -> Sequence[Family]:
        """None: it is the one."""
        return ()

    def carried(self, theta: Array) -> Array:
        """Return θ as it is."""
        return theta


@dataclass(frozen=True)
class SumOfParts:
    """Σ s_b² C_b of parts whose sds are in units of the scale already; the last has a length.

    ``factors`` are thin F_b of the first parts, C_b = F_bF_bᵀ; ``broad`` and ``smooth`` are the
    other two at the anchors.
    """

    root: Array
    anchors: Array
    P: Array
    factors: tuple[Array, ...]
    broad: Array
    smooth: Array

    def at(self, theta: Array, scale: float) -> Array:
        """Return the sum; only another length than one needs the kernel again."""
        sds, log_length = np.exp(theta[:-1]), theta[-1]
        thin = np.hstack([sd * F for sd, F in zip(sds, self.factors, strict=False)])
        smooth = self._C_smooth
        if log_length != 0.0:
            kernel = MetricRBF(self.root, float(np.exp(log_length)))
            smooth = through(self.P, kernel(self.anchors))
        return np.asarray(thin @ thin.T + sds[-2] ** 2 * self._C_broad + sds[-1] ** 2 * smooth)

    @cached_property
    def _C_broad(self) -> Array:
        return through(self.P, self.broad)

    @cached_property
    def _C_smooth(self) -> Array:
        return through(self.P, self.smooth)

    def along(self, R: Array) -> SumOfParts:
        """Return the same along some directions."""
        return replace(self, P=R.T @ self.P, factors=tuple(R.T @ F for F in self.factors))


def parts(root: Array, broad: Array, tails: BrokenLines | None = None) -> tuple[Any, ...]:
    """Return the kernels of the parts, each of variance about one; the smooth one is the last."""
    line = constant(1.0 / len(root), fixed=True) * straight()
    long = () if tails is None else (tails,)
    level = constant(1.0, fixed=True)
    return level, line, AdditiveRBF(), *long, MetricRBF(broad), MetricRBF(root)


def kernel_of(root: Array, broad: Array, sds: Array, tails: BrokenLines | None = None) -> Any:
    """Return the sum of the parts; its hyperparameters are their variances and the length."""
    level, line, additive, *long, everywhere, smooth = (float(sd) ** 2 for sd in sds)
    kernel = (
        constant(level)
        + constant(line / len(root)) * straight()
        + constant(additive) * AdditiveRBF()
    )
    if tails is not None:
        kernel += constant(long[0]) * tails
    kernel += constant(everywhere) * MetricRBF(broad, fixed=("length_scale",))
    return kernel + constant(smooth) * MetricRBF(root)


def first_metric(synthetic: Array) -> Array:
    """Return the root of the metric before anything is known: the same in all directions."""
    D = synthetic.shape[1]
    sd = max(float(np.mean(synthetic.std(axis=0))), SMALLEST_SD)
    return np.asarray(np.eye(D) / (FIRST_LENGTH * np.sqrt(D) * sd))


def metric_root(metric: Array) -> Array:
    """Return L with LLᵀ = M, small eigenvalues raised to the floor."""
    eigenvalues, Q = np.linalg.eigh(metric)
    return np.asarray(Q * np.sqrt(np.maximum(eigenvalues, FLOOR * eigenvalues[-1])))


def line_of_tails(marginals: Marginals, is_number: NDArray[np.bool_]) -> BrokenLines | None:
    """Return the line, if any input has long tails; ``is_number`` says which coordinates have."""
    z, kurtosis = _standardised(marginals)
    long = kurtosis > LONG
    if not long.any():
        return None
    heights = np.zeros((len(is_number), z.shape[1]))
    heights[is_number] = np.where(long[:, None], z, 0.0) / np.sqrt(long.sum())
    return BrokenLines(marginals.warp_among(is_number).values, heights)


def _standardised(marginals: Marginals) -> tuple[Array, Array]:
    """Return (u − m)/s at the edges of the bins for every input, cut, and its kurtosis.

    Without what few heavy cells add to it.
    """
    edges, masses = marginals.edges, marginals.masses / marginals.masses.sum(axis=1)[:, None]
    middles = (edges[1:] + edges[:-1]) / 2
    places = np.where(np.isnan(marginals.atoms), middles, marginals.atoms)
    mean = np.sum(masses * places, axis=1)[:, None]
    sd = np.sqrt(np.sum(masses * (places - mean) ** 2, axis=1))[:, None]
    sd = np.maximum(sd, (edges[1] - edges[0]) / 2)
    heavy = np.partition(masses, -FEW, axis=1)[:, [-FEW]]
    kurtosis = np.sum(np.where(masses < heavy, masses, 0.0) * ((places - mean) / sd) ** 4, axis=1)
    return np.clip((edges - mean) / sd, -FARTHEST_IN_TAILS, FARTHEST_IN_TAILS), kurtosis
