"""The kernels that dpgp knows: one line each, its name and that of its module."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from dpgp.kernels.base import KernelRule
from dpgp.kernels.own import OWN, OWN_TYPE

KERNELS = {
    "ConstantKernel": "constant",
    "DotProduct": "dot_product",
    "ExpSineSquared": "exp_sine_squared",
    "Matern": "matern",
    "RBF": "rbf",
    "RationalQuadratic": "rational_quadratic",
    "WhiteKernel": "white",
    "Sum": "sum",
    "Product": "product",
    "Exponentiation": "exponentiation",
    "NormalizedKernel": "normalized",
    "ProductKernel": "per_column",
    "AdditiveRBF": "additive_rbf",
    "MetricRBF": "metric_rbf",
}

SKLEARN = "sklearn.gaussian_process.kernels"
HOMES = (SKLEARN, "dpgp.kernels.")
"""Where classes of these names mean what we think."""


@cache
def rule_named(name: str) -> KernelRule:
    """Return the rule of one kernel, and import no other."""
    rule: KernelRule = import_module(f"dpgp.kernels.{KERNELS[name]}").RULE
    return rule


@cache
def rules() -> dict[str, KernelRule]:
    """Return all rules by name."""
    return {name: rule_named(name) for name in KERNELS}


def rule_of(kernel: Any) -> KernelRule:
    """Return the rule of exactly this type; a subclass may have a formula of its own."""
    kind = type(kernel)
    name = getattr(kernel, "type_name", kind.__name__)
    is_known = kind.__module__.startswith(HOMES) and name in KERNELS
    return rule_named(name) if is_known else OWN


def is_sklearn_kernel(kernel: Any) -> bool:
    """Return whether an object is a kernel of scikit-learn's, without importing that."""
    bases = type(kernel).__mro__
    return any((base.__module__, base.__name__) == (SKLEARN, "Kernel") for base in bases)


@cache
def rule_of_tree(tree_type: str) -> KernelRule:
    """Return the rule of a type of tree: a kernel's name, and an ending where it has several."""
    if tree_type == OWN_TYPE:
        return OWN
    known = (name for name in KERNELS if tree_type.startswith(name))
    return rule_named(max(known, key=len))


def part_of(kernel: Any) -> str:
    """Say in a few words what a kernel describes."""
    rule = rule_of(kernel)
    return f"{type(kernel).__name__} part" if rule is OWN else rule.part


def kernel_scripts() -> dict[str, str]:
    """Return the JavaScript of every type of tree."""
    return {name: script for rule in rules().values() for name, script in rule.scripts().items()}
