"""Sensitivity, calibration, noise, books, certificate: no word of Gaussian processes.

Of ``neighbours`` a sum differs by its ``sensitivity``; ``exact_sums`` has no rounding that could
add to it; ``calibration`` says how much ``noise`` that needs; ``books`` are kept of every release;
``mechanism`` puts these together, and nothing is released but by it; a ``certificate`` says what
was, and its ``provenance``. ``selection`` is of the best of many runs. ``arguments`` are checked,
and ``rounding`` goes to the private side.
"""

from importlib import import_module
from typing import Any

_EXPORTS = ("LiuTalwarBudget", "RenyiBudget", "select")

__all__ = ["LiuTalwarBudget", "RenyiBudget", "select"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that submodules stay light."""
    if name not in _EXPORTS:
        raise AttributeError(f"module 'dpgp.privacy' has no attribute {name!r}")
    return getattr(import_module("dpgp.privacy.selection"), name)
