"""Kernels as nested objects: {"type": …, parameters …, "fixed": […]}.

``fixed`` names the hyperparameters that are not learned. Bounds of a search over hyperparameters
are not stored: nothing in dpgp reads them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from dpgp.checked_values import ModelFileError, as_choice, as_fields
from dpgp.kernels.base import Kernel, Leaf, fields_of
from dpgp.kernels.known import KERNELS, as_kernel, as_sklearn
from dpgp.kernels.own import Own
from dpgp.kernels.parameters import Parameter, Part

DEEPEST = 64  # kernels within kernels of a file: far below what would exhaust the stack
LARGEST = 1000  # kernels in all: a file cannot ask for hours of work


def kernel_to_json(kernel: Any) -> dict[str, Any]:
    """Return a kernel as an object of plain values."""
    ours = as_kernel(kernel)
    if isinstance(ours, Own):
        names = ", ".join(KERNELS)
        kind = type(ours.kernel).__name__
        raise ModelFileError(
            f"a kernel of type {kind} cannot be saved; those that can are {names}."
        )
    fields = fields_of(type(ours))
    written = {name: _written(kind, getattr(ours, name)) for name, kind in fields.items()}
    if isinstance(ours, Leaf) and fields_of(type(ours), Parameter):
        written["fixed"] = list(ours.fixed)
    return {"type": ours.name, **written}


def _written(kind: Any, value: Any) -> Any:
    if isinstance(kind, Part):
        return [*map(kernel_to_json, value)] if kind.per_input else kernel_to_json(value)
    return kind.write(value)


def kernel_from_json(value: Any, where: str, columns: int) -> Kernel:
    """Return the kernel on ``columns`` inputs that an object describes."""
    if _size(value) > LARGEST:
        raise ModelFileError(f"`{where}` must be made of at most {LARGEST} kernels.")
    return _kernel_within(value, where, columns, DEEPEST)


def own_kernel_from_json(value: Any, where: str, columns: int) -> Any:
    """Return the same as scikit-learn's kernel, which a user gave."""
    return as_sklearn(kernel_from_json(value, where, columns))


def _size(value: Any, depth: int = DEEPEST) -> float:
    """Return how many objects an object holds, itself included; infinity where it is too deep."""
    if depth == 0:
        return math.inf
    if not isinstance(value, dict | list):
        return 0
    parts = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict) + sum(_size(part, depth - 1) for part in parts)


def _kernel_within(value: Any, where: str, columns: int, depth: int) -> Kernel:
    """Return a kernel that may be part of another one, at most so deep."""
    if depth == 0:
        raise ModelFileError(f"`{where}` is nested too deeply.")
    if not isinstance(value, dict) or "type" not in value:
        raise ModelFileError(f"`{where}` must be an object with a `type`.")
    known = KERNELS[as_choice(value["type"], f"{where}.type", KERNELS)]
    kinds, learned = fields_of(known), fields_of(known, Parameter)
    fields = as_fields(value, where, ("type", *kinds, *(["fixed"] if learned else [])))

    def within(part: Any, columns: int) -> Kernel:
        return _kernel_within(part, where, columns, depth - 1)

    values = {n: k.read(fields[n], f"{where}.{n}", columns, within) for n, k in kinds.items()}
    if learned:
        values["fixed"] = _fixed(fields["fixed"], f"{where}.fixed", learned)
    return known(**values)


def _fixed(value: Any, where: str, learned: Collection[str]) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ModelFileError(f"`{where}` must be a list of hyperparameters.")
    return tuple(as_choice(name, where, learned) for name in value)
