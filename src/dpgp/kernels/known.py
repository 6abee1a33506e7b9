"""The kernels that dpgp knows, and the door at which scikit-learn's become ours.

Kernels are looked up by the exact type, so a subclass with a formula of its own is never taken for
its parent; those that are not known are called as they are (:mod:`dpgp.kernels.own`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpgp.checked_values import ModelFileError
from dpgp.kernels.base import OWN_TYPE, Kernel, fields_of
from dpgp.kernels.combined import Exponentiation, Normalized, PerColumn, Product, Sum
from dpgp.kernels.linear import AdditiveRBF, ConstantKernel, DotProduct, WhiteKernel
from dpgp.kernels.own import Own
from dpgp.kernels.parameters import Parameter, Part
from dpgp.kernels.stationary import RBF, ExpSineSquared, Matern, MetricRBF, RationalQuadratic

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
    home = GIVEN if isinstance(kernel, Normalized | PerColumn) else SKLEARN
    found = getattr(import_module(home), kernel.name, None)
    if found is None:
        raise ModelFileError(
            f"{kernel.name} is no kernel of scikit-learn, which alone can be given."
        )
    fixed = [f"{name}_bounds" for name in getattr(kernel, "fixed", ())]
    return found(**values, **dict.fromkeys(fixed, "fixed"))


def is_sklearn_kernel(kernel: Any) -> bool:
    """Return whether an object is a kernel of scikit-learn's, without importing that."""
    bases = type(kernel).__mro__
    return any((base.__module__, base.__name__) == (SKLEARN, "Kernel") for base in bases)
