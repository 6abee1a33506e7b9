"""Kernels as nested objects: {"type": …, parameters …, "fixed": […]}.

``fixed`` names the hyperparameters that are not learned. Bounds of a search over hyperparameters
are not stored: nothing in dpgp reads them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from dpgp.checked_values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_items,
    as_number,
    as_positive,
    as_vector,
    number_to_json,
)
from dpgp.features.kernels import NormalizedKernel, ProductKernel

DEEPEST = 64
LARGEST = 1000


@dataclass(frozen=True)
class _Leaf:
    """A kernel without kernels inside; ``others`` are parameters that are never learned."""

    make: Any
    hyperparameters: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.hyperparameters, *self.others)


_LEAVES = {
    "ConstantKernel": _Leaf(sk.ConstantKernel, ("constant_value",)),
    "DotProduct": _Leaf(sk.DotProduct, ("sigma_0",)),
    "ExpSineSquared": _Leaf(sk.ExpSineSquared, ("length_scale", "periodicity")),
    "Matern": _Leaf(sk.Matern, ("length_scale",), ("nu",)),
    "RBF": _Leaf(sk.RBF, ("length_scale",)),
    "RationalQuadratic": _Leaf(sk.RationalQuadratic, ("length_scale", "alpha")),
    "WhiteKernel": _Leaf(sk.WhiteKernel, ("noise_level",)),
}
_MAY_BE_ZERO = ("constant_value", "noise_level", "sigma_0")
_MAY_BE_VECTOR = ("RBF", "Matern")
_PAIRS = {"Sum": sk.Sum, "Product": sk.Product}
_OTHERS = {
    "Exponentiation": sk.Exponentiation,
    "NormalizedKernel": NormalizedKernel,
    "ProductKernel": ProductKernel,
}
_CLASSES = {name: leaf.make for name, leaf in _LEAVES.items()} | _PAIRS | _OTHERS
_NAMES = {made: name for name, made in _CLASSES.items()}


def kernel_to_json(kernel: Any) -> dict[str, Any]:
    """Return a kernel as an object of plain values."""
    name = _NAMES.get(type(kernel))
    if name is None:
        raise ModelFileError(
            f"a kernel of type {type(kernel).__name__} cannot be saved; those that can are "
            f"{', '.join(_CLASSES)}."
        )
    if name in _PAIRS:
        return {"type": name, "k1": kernel_to_json(kernel.k1), "k2": kernel_to_json(kernel.k2)}
    if name == "ProductKernel":
        return {"type": name, "kernels": [kernel_to_json(inner) for inner in kernel.kernels]}
    if name == "NormalizedKernel":
        return {"type": name, "kernel": kernel_to_json(kernel.kernel)}
    if name == "Exponentiation":
        inner, exponent = kernel_to_json(kernel.kernel), number_to_json(kernel.exponent)
        return {"type": name, "kernel": inner, "exponent": exponent}
    return _leaf_to_json(name, kernel)


def _leaf_to_json(name: str, kernel: Any) -> dict[str, Any]:
    leaf, values = _LEAVES[name], kernel.get_params()
    fixed = [h for h in leaf.hyperparameters if _is_fixed(values[f"{h}_bounds"])]
    parameters = {name: _value_to_json(values[name]) for name in leaf.parameters}
    return {"type": name, **parameters, "fixed": fixed}


def _is_fixed(bounds: Any) -> bool:
    return isinstance(bounds, str) and bounds == "fixed"


def _value_to_json(value: Any) -> Any:
    if np.ndim(value) == 0:
        return number_to_json(value)
    return [number_to_json(entry) for entry in np.ravel(value)]


def kernel_from_json(value: Any, where: str, columns: int) -> Any:
    """Return the kernel on ``columns`` inputs that an object describes."""
    if _size(value) > LARGEST:
        raise ModelFileError(f"`{where}` must be made of at most {LARGEST} kernels.")
    return _kernel(value, where, columns, DEEPEST)


def _size(value: Any, depth: int = DEEPEST) -> float:
    """Return how many objects an object holds, itself included; infinity where it is too deep."""
    if depth == 0:
        return math.inf
    if not isinstance(value, dict | list):
        return 0
    parts = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict) + sum(_size(part, depth - 1) for part in parts)


def _kernel(value: Any, where: str, columns: int, depth: int) -> Any:
    if depth == 0:
        raise ModelFileError(f"`{where}` is nested too deeply.")
    if not isinstance(value, dict) or "type" not in value:
        raise ModelFileError(f"`{where}` must be an object with a `type`.")
    name = as_choice(value["type"], f"{where}.type", _CLASSES)
    if name in _LEAVES:
        return _leaf(name, value, where, columns)
    if name in _PAIRS:
        fields = as_fields(value, where, ("type", "k1", "k2"))
        return _PAIRS[name](*(_kernel(fields[k], where, columns, depth - 1) for k in ("k1", "k2")))
    if name == "ProductKernel":
        kernels = as_items(as_fields(value, where, ("type", "kernels"))["kernels"], where)
        if len(kernels) != columns:
            raise ModelFileError(f"`{where}` must have one kernel for each of {columns} inputs.")
        return ProductKernel([_kernel(kernel, where, 1, depth - 1) for kernel in kernels])
    if name == "NormalizedKernel":
        inner = as_fields(value, where, ("type", "kernel"))["kernel"]
        return NormalizedKernel(_kernel(inner, where, columns, depth - 1))
    fields = as_fields(value, where, ("type", "kernel", "exponent"))
    exponent = as_number(fields["exponent"], f"{where}.exponent")
    return sk.Exponentiation(_kernel(fields["kernel"], where, columns, depth - 1), exponent)


def _leaf(name: str, value: Any, where: str, columns: int) -> Any:
    leaf = _LEAVES[name]
    fields = as_fields(value, where, ("type", *leaf.parameters, "fixed"))
    values = {p: _parameter(name, p, fields[p], where, columns) for p in leaf.parameters}
    if not isinstance(fields["fixed"], list):
        raise ModelFileError(f"`{where}.fixed` must be a list of hyperparameters.")
    fixed = [as_choice(h, f"{where}.fixed", leaf.hyperparameters) for h in fields["fixed"]]
    return leaf.make(**values, **{f"{h}_bounds": "fixed" for h in fixed})


def _parameter(kernel: str, name: str, value: Any, where: str, columns: int) -> Any:
    where = f"{where}.{name}"
    if isinstance(value, list) and name == "length_scale" and kernel in _MAY_BE_VECTOR:
        lengths = as_vector(value, where, columns)
        if not np.all(lengths > 0.0):
            raise ModelFileError(f"`{where}` must be positive.")
        return lengths
    if name in _MAY_BE_ZERO:
        return as_number(value, where, low=0.0)
    return as_positive(value, where, infinite=name == "nu")
