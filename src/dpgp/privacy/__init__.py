"""Sensitivity, calibration, noise, books, certificate: no word of Gaussian processes."""

from importlib import import_module
from typing import Any

_EXPORTS = ("LiuTalwarBudget", "RenyiBudget", "select")

__all__ = ["LiuTalwarBudget", "RenyiBudget", "select"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that submodules stay light."""
    if name not in _EXPORTS:
        raise AttributeError(f"module 'dpgp.privacy' has no attribute {name!r}")
    return getattr(import_module("dpgp.privacy.selection"), name)
