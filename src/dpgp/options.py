"""The estimator's options, checked and brought into one form: the name, the rule, the remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from dpgp.design import FAMILIES, STAGES
from dpgp.domain import Box
from dpgp.features.kernels import variance_bound
from dpgp.inference.priors import default_kernel
from dpgp.privacy.arguments import as_count
from dpgp.privacy.neighbours import Neighbours

Array = NDArray[np.float64]

MAX_FEATURES = 2000
MISSING = ("error", "ignore")


def read_kernels(kernel: Any, columns: int) -> list[Any]:
    """Return the kernels to choose from; by default a smooth function around a line."""
    if kernel is None:
        return [default_kernel(columns)]
    kernels = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
    if not kernels:
        raise ValueError("`kernel` must hold at least one kernel; leave it out for the default.")
    for candidate in kernels:
        if not isinstance(candidate, Kernel):
            raise TypeError(
                "`kernel` must be a scikit-learn kernel or a list of them, got "
                f"{type(candidate).__name__}; other kernels work in dpgp.paper."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            is_proper = bool(np.isfinite(candidate.theta).all())  # θ are logarithms
        if not is_proper:
            raise ValueError("`kernel` must have positive, finite hyperparameters.")
        variance_bound(candidate, (np.full(columns, -1.0), np.ones(columns)))
    return kernels


def read_families(features: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the families of features asked for; None leaves them to the plan."""
    if features is None:
        return None
    families = (features,) if isinstance(features, str) else tuple(features)
    if not families or any(name not in FAMILIES for name in families):
        raise ValueError(f"`features` must be among {FAMILIES}, got {features!r}.")
    return families


def read_inducing_points(
    points: Any, families: tuple[str, ...] | None, box: Box
) -> Array | int | None:
    """Return how many inducing points, or the points themselves scaled to [−1, 1]^D."""
    if points is None:
        return None
    columns = len(box.low)
    if np.ndim(points) == 0:
        return _checked_count(as_count("inducing_points", points), columns, families)
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != columns or not len(array) or not box.contains(array):
        raise ValueError(
            "`inducing_points` must be a number, or points of shape (points, "
            f"{columns}) inside `bounds`."
        )
    if families is not None:
        raise ValueError("`features` and given `inducing_points` contradict; give one.")
    return np.asarray((array - box.centre) / box.half_width)


def read_stages(stages: Any) -> Sequence[float]:
    """Return the weights of the stages in the budget."""
    if stages is None:
        return STAGES
    if np.ndim(stages) == 0:
        return [1.0] * as_count("stages", stages)
    weights = [float(weight) for weight in stages]
    if not weights or min(weights) <= 0.0 or not math.isfinite(math.fsum(weights)):
        raise ValueError(f"`stages` must hold positive weights, got {stages!r}.")
    return weights


def read_missing(missing: Any) -> str:
    """Return what is to be done with incomplete rows."""
    if missing not in MISSING:
        raise ValueError(f"`missing` must be 'error' or 'ignore', got {missing!r}.")
    return str(missing)


def row_count_is_public(neighbours: Neighbours, missing: str, per_person: bool) -> bool:
    """Return whether neighbours have the same number of rows that count. Decided here alone.

    A person who is replaced may bring fewer rows, and an incomplete row does not count.
    """
    return neighbours is Neighbours.REPLACE and missing == "error" and not per_person


def _checked_count(points: int, columns: int, families: tuple[str, ...] | None) -> int:
    on_grid = "grid" in families if families is not None else columns <= 3
    features = points**columns if on_grid else points
    if features > MAX_FEATURES:
        raise ValueError(
            f"`inducing_points` = {points} make {features} features, more than {MAX_FEATURES}; "
            "ask for fewer."
        )
    return points
