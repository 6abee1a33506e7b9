"""What Python alone can ask of a fit: kernels, features, inducing points, stages, threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from dpgp.study.values import Value

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.options import Options

FAMILIES = ("grid", "linear", "additive", "joint")
STAGES = (1.0, 1.0, 2.0, 3.0, 4.0, 6.0)  # later ones see smaller residuals; by hand
MOST_STAGES = 100  # each is a pass over the rows
LARGEST_RATIO = 1e6  # of weights: a stage with less of the budget is nothing but noise


@dataclass(frozen=True)
class KernelValue(Value):
    """Kernels to choose from; none where the default one is taken."""

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> tuple[Any, ...]:
        """Return kernels of as many inputs."""
        import numpy as np

        from dpgp.kernels.bounds import check_kernel
        from dpgp.kernels.known import is_sklearn_kernel

        if value is None:
            return ()
        columns = len(box.low)
        kernels = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not kernels:
            raise ValueError(
                "`kernel` must hold at least one kernel; leave it out for the default."
            )
        for kernel in kernels:
            if not is_sklearn_kernel(kernel):
                raise TypeError(
                    "`kernel` must be a scikit-learn kernel or a list of them, got "
                    f"{type(kernel).__name__}; other kernels work in dpgp.paper."
                )
            try:
                kernel(np.zeros((1, columns)))
            except ValueError:
                raise ValueError(
                    f"`kernel` does not take {columns} input(s): give it one length scale, or one "
                    "an input."
                ) from None
            check_kernel(kernel, columns)
        return kernels

    def setting(self, name: str, options: Options) -> list[dict[str, Any]] | None:
        from dpgp.kernels.known import kernel_to_json

        return [kernel_to_json(kernel) for kernel in options.own_kernels] or None

    def of_setting(self, where: str, value: Any, columns: int) -> Any:
        from dpgp.checked_values import as_items
        from dpgp.kernels.known import own_kernel_from_json

        if value is None or isinstance(value, dict):
            return value and own_kernel_from_json(value, where, columns)
        return [own_kernel_from_json(each, where, columns) for each in as_items(value, where, 100)]


@dataclass(frozen=True)
class FamiliesValue(Value):
    """Families of features."""

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> tuple[str, ...] | None:
        """Return families that there are; None where the plan chooses."""
        if value is None:
            return None
        several = value if isinstance(value, Sequence) else ()
        families = (value,) if isinstance(value, str) else tuple(several)
        if not families or any(family not in FAMILIES for family in families):
            raise ValueError(f"`features` must be among {FAMILIES}, got {value!r}.")
        return families

    def setting(self, name: str, options: Options) -> list[str] | None:
        return None if options.families is None else list(options.families)

    def of_setting(self, where: str, value: Any, columns: int) -> Any:
        from dpgp.checked_values import as_choice, as_items

        if value is None or isinstance(value, str):
            return value and as_choice(value, where, FAMILIES)
        return [as_choice(family, where, FAMILIES) for family in as_items(value, where, 100)]


@dataclass(frozen=True)
class PointsValue(Value):
    """How many inducing points, or the points themselves."""

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> Any:
        """Return their number, or points scaled to [−1, 1]^D."""
        import numpy as np

        from dpgp.numeric import as_floats
        from dpgp.privacy.arguments import as_count

        if value is None:
            return None
        if np.ndim(value) == 0:
            return as_count(name, value)
        points, columns = as_floats(value, name), len(box.low)
        of_inputs = points.ndim == 2 and points.shape[1] == columns
        if not of_inputs or not len(points) or not box.contains(points):
            raise ValueError(
                "`inducing_points` must be a number, or points of shape (points, "
                f"{columns}) inside `bounds`."
            )
        return np.asarray((points - box.centre) / box.half_width)

    def setting(self, name: str, options: Options) -> Any:
        """Return their number, or points in the units of the inputs."""
        points, box = options.inducing_points, options.box
        if points is None or isinstance(points, int):
            return points
        return (box.centre + points * box.half_width).tolist()

    def of_setting(self, where: str, value: Any, columns: int) -> Any:
        from dpgp.checked_values import as_matrix

        return as_matrix(value, where, columns) if isinstance(value, list) else _whole(where, value)


@dataclass(frozen=True)
class StagesValue(Value):
    """Weights of the stages in the budget, or how many of equal weight."""

    def parsed(self, name: str, value: Any, box: Box, target_box: Box) -> tuple[float, ...]:
        from dpgp.numeric import as_floats
        from dpgp.privacy.arguments import as_count

        if value is None:
            return STAGES
        is_number = isinstance(value, Real)
        given = (1.0,) * min(as_count(name, value), MOST_STAGES + 1) if is_number else value
        weights = tuple(as_floats(given, name).ravel().tolist())
        if not weights or min(weights) <= 0.0 or not math.isfinite(math.fsum(weights)):
            raise ValueError(f"`stages` must hold positive weights, got {value!r}.")
        if max(weights) > LARGEST_RATIO * min(weights):
            raise ValueError(
                f"`stages` must hold weights within a factor of {LARGEST_RATIO:,.0f} of each other."
            )
        if len(weights) > MOST_STAGES:
            raise ValueError(f"`stages` must be at most {MOST_STAGES}, got {len(weights)} or more.")
        return weights

    def setting(self, name: str, options: Options) -> list[float]:
        return list(options.stages)

    def of_setting(self, where: str, value: Any, columns: int) -> Any:
        from dpgp.checked_values import as_items, as_positive

        if isinstance(value, list):
            return [as_positive(weight, where) for weight in as_items(value, where)]
        return _whole(where, value)


@dataclass(frozen=True)
class ThreadsValue(Value):
    """How many threads: no part of a model, whose file had a place for it once."""

    is_parsed: ClassVar[bool] = False

    def setting(self, name: str, options: Options) -> None:
        return

    def of_setting(self, where: str, value: Any, columns: int) -> int | None:
        return _whole(where, value, -(10**6))


def _whole(where: str, value: Any, low: int = 1) -> int | None:
    from dpgp.checked_values import as_whole

    return None if value is None else as_whole(value, where, low)
