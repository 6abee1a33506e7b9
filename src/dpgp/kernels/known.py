"""The kernels that dpgp knows, and the door at which scikit-learn's become ours; also in files.

Kernels are looked up by the exact type, so a subclass with a formula of its own is never taken for
its parent; those that are not known, such as a class of the user's, are called as they are.

A file has nested objects: {"type": …, parameters …, "fixed": […]}. ``fixed`` names the
hyperparameters that are not learned. Bounds of a search over hyperparameters are not stored:
nothing in dpgp reads them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import ModelFileError, as_choice, as_fields
from dpgp.kernels.base import OWN_TYPE, Box, Kernel, Leaf, Tree, fields_of
from dpgp.kernels.combined import Exponentiation, Normalized, PerColumn, Product, Sum
from dpgp.kernels.linear import (
    AdditiveRBF,
    BrokenLines,
    ConstantKernel,
    DotProduct,
    WhiteKernel,
)
from dpgp.kernels.parameters import Learned, Measure, Parameter, Part
from dpgp.kernels.stationary import RBF, ExpSineSquared, Matern, MetricRBF, RationalQuadratic
from dpgp.types import Array

# --- kernels that are not known -------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class Own(Kernel):
    """Any object with ``kernel(X, Y)`` and ``kernel.diag(X)``; learned if it is scikit-learn's."""

    name = "Kernel"

    kernel: Any

    @property
    def part(self) -> str:  # type: ignore[override]
        """The name of its class."""
        return f"{type(self.kernel).__name__} part"

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the kernel for each θ."""
        own = np.empty((1, 0)) if thetas is None else thetas
        kernels = [self.kernel.clone_with_theta(row) if len(row) else self.kernel for row in own]
        return {"type": OWN_TYPE, "thetas": own, "kernels": kernels}

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return one call for each θ."""
        return np.stack([kernel(X, Y) for kernel in tree["kernels"]])

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return one call for each θ."""
        return np.stack([kernel.diag(X) for kernel in tree["kernels"]])

    def variance_bound(self, box: Box | None) -> float:
        """Return what the kernel declares; what its class inherits from is no promise."""
        declared = getattr(self.kernel, "variance_bound", None)
        if declared is None:
            raise ValueError(
                f"`kernel` must have a bounded variance, and none is known for "
                f"{type(self.kernel).__name__}; wrap it in NormalizedKernel, or give it a float "
                "attribute `variance_bound`."
            )
        return float(declared)

    @property
    def theta(self) -> Array:
        """What the kernel says, if it can be learned."""
        return np.asarray(getattr(self.kernel, "theta", np.empty(0)))

    @property
    def n_dims(self) -> int:
        """How many numbers it says."""
        return len(self.theta)

    def clone_with_theta(self, theta: Array) -> Self:
        """Return the kernel that it makes of θ."""
        return type(self)(self.kernel.clone_with_theta(theta))

    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return priors around the kernel's own values."""
        return [
            Parameter(h.name, Measure.NUMBER).log_prior(h.name, value, columns)
            for h in self._free()
            for value in np.atleast_1d(self.kernel.get_params()[h.name])
        ]

    def learned(self, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return the names that the kernel gives."""
        return [
            Learned(f"{prefix}{h.name}", f"{h.name} of the {self.part}", Measure.NUMBER, column)
            for h in self._free()
            for column in (range(h.n_elements) if h.n_elements > 1 else [None])
        ]

    def _free(self) -> list[Any]:
        return [h for h in getattr(self.kernel, "hyperparameters", ()) if not h.fixed]

    def __repr__(self) -> str:
        return repr(self.kernel)


# --- kernels that are known -----------------------------------------------------------------------


SKLEARN, GIVEN = "sklearn.gaussian_process.kernels", "dpgp.kernels.given"
"""Where classes of these names mean what we think."""

KERNELS: dict[str, type[Kernel]] = {
    known.name: known
    for known in (
        ConstantKernel,
        DotProduct,
        ExpSineSquared,
        Matern,
        RBF,
        RationalQuadratic,
        WhiteKernel,
        Sum,
        Product,
        Exponentiation,
        Normalized,
        PerColumn,
        AdditiveRBF,
        BrokenLines,
        MetricRBF,
    )
}

FORMULAS: dict[str, type[Kernel]] = {
    OWN_TYPE: Own,
    **{kind: known for known in KERNELS.values() for kind in known.tree_types or (known.name,)},
}
"""The kernel that every type of tree has the numbers of."""


def as_kernel(kernel: Any) -> Kernel:
    """Return any kernel as ours."""
    if isinstance(kernel, Kernel):
        return kernel
    kind = type(kernel)
    known = KERNELS.get(kind.__name__) if kind.__module__ in (SKLEARN, GIVEN) else None
    if known is None:
        return Own(kernel)
    values = {name: getattr(kernel, name) for name in fields_of(known)}
    for name, part in fields_of(known, Part).items():
        inner = values[name]
        values[name] = tuple(map(as_kernel, inner)) if part.per_input else as_kernel(inner)
    bounds = {name: getattr(kernel, f"{name}_bounds") for name in fields_of(known, Parameter)}
    fixed = tuple(name for name, b in bounds.items() if isinstance(b, str) and b == "fixed")
    return known(**values, **({"fixed": fixed} if fixed else {}))


def as_sklearn(kernel: Kernel) -> Any:
    """Return scikit-learn's own kernel, which a user may have given; refuse where it has none."""
    values = {name: getattr(kernel, name) for name in fields_of(type(kernel))}
    for name, part in fields_of(type(kernel), Part).items():
        inner = values[name]
        values[name] = [*map(as_sklearn, inner)] if part.per_input else as_sklearn(inner)
    homes = map(import_module, (SKLEARN, GIVEN))
    found = next((vars(home)[kernel.name] for home in homes if kernel.name in vars(home)), None)
    if found is None:
        raise ModelFileError(
            f"{kernel.name} is no kernel that can be given: not of scikit-learn, nor of {GIVEN}."
        )
    fixed = [f"{name}_bounds" for name in getattr(kernel, "fixed", ())]
    return found(**values, **dict.fromkeys(fixed, "fixed"))


def is_sklearn_kernel(kernel: Any) -> bool:
    """Return whether an object is a kernel of scikit-learn's, without importing that."""
    bases = type(kernel).__mro__
    return any((base.__module__, base.__name__) == (SKLEARN, "Kernel") for base in bases)


# --- kernels in files -----------------------------------------------------------------------------


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
