"""The kernels that dpgp knows: one line each, the name of its module."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from dpgp.kernels.base import KernelRule
from dpgp.kernels.own import OWN, OWN_TYPE

KERNELS = (
    "constant",
    "dot_product",
    "exp_sine_squared",
    "matern",
    "rbf",
    "rational_quadratic",
    "white",
    "sum",
    "product",
    "exponentiation",
    "normalized",
    "per_column",
    "additive_rbf",
    "metric_rbf",
)


@cache
def rules() -> dict[type, KernelRule]:
    """Return the rule of every type of kernel."""
    known = [import_module(f"dpgp.kernels.{name}").RULE for name in KERNELS]
    return {rule.kind: rule for rule in known}


def rule_of(kernel: Any) -> KernelRule:
    """Return the rule of exactly this type; a subclass may have a formula of its own."""
    return rules().get(type(kernel), OWN)


@cache
def rules_of_trees() -> dict[str, KernelRule]:
    """Return the rule of every type of tree."""
    return {name: rule for rule in rules().values() for name in rule.scripts()} | {OWN_TYPE: OWN}


def part_of(kernel: Any) -> str:
    """Say in a few words what a kernel describes."""
    rule = rule_of(kernel)
    return f"{type(kernel).__name__} part" if rule is OWN else rule.part


def kernel_scripts() -> dict[str, str]:
    """Return the JavaScript of every type of tree."""
    return {name: script for rule in rules().values() for name, script in rule.scripts().items()}
