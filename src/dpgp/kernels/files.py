"""Kernels as nested objects: {"type": …, parameters …, "fixed": […]}.

``fixed`` names the hyperparameters that are not learned. Bounds of a search over hyperparameters
are not stored: nothing in dpgp reads them.
"""

from __future__ import annotations

import math
from typing import Any

from dpgp.checked_values import ModelFileError, as_choice
from dpgp.kernels.own import OWN
from dpgp.kernels.registry import KERNELS, rule_named, rule_of

DEEPEST = 64  # kernels within kernels of a file: far below what would exhaust the stack
LARGEST = 1000  # kernels in all: a file cannot ask for hours of work


def kernel_to_json(kernel: Any) -> dict[str, Any]:
    """Return a kernel as an object of plain values."""
    rule = rule_of(kernel)
    if rule is OWN:
        names = ", ".join(KERNELS)
        raise ModelFileError(
            f"a kernel of type {type(kernel).__name__} cannot be saved; those that can are {names}."
        )
    return {"type": rule.name, **rule.to_json(kernel)}


def kernel_from_json(value: Any, where: str, columns: int) -> Any:
    """Return the kernel on ``columns`` inputs that an object describes."""
    if _size(value) > LARGEST:
        raise ModelFileError(f"`{where}` must be made of at most {LARGEST} kernels.")
    return kernel_within(value, where, columns, DEEPEST)


def own_kernel_from_json(value: Any, where: str, columns: int) -> Any:
    """Return the same as scikit-learn's kernel, which a user gave."""
    kernel = kernel_from_json(value, where, columns)
    return rule_of(kernel).as_sklearn(kernel)


def _size(value: Any, depth: int = DEEPEST) -> float:
    """Return how many objects an object holds, itself included; infinity where it is too deep."""
    if depth == 0:
        return math.inf
    if not isinstance(value, dict | list):
        return 0
    parts = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict) + sum(_size(part, depth - 1) for part in parts)


def kernel_within(value: Any, where: str, columns: int, depth: int) -> Any:
    """Return a kernel that may be part of another one, at most so deep."""
    if depth == 0:
        raise ModelFileError(f"`{where}` is nested too deeply.")
    if not isinstance(value, dict) or "type" not in value:
        raise ModelFileError(f"`{where}` must be an object with a `type`.")
    name = as_choice(value["type"], f"{where}.type", KERNELS)
    return rule_named(name).from_json(value, where, columns, depth)
