"""Gaussian-process regression under differential privacy, for inputs and outputs."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "BudgetError": "dpgp.privacy.books",
    "Grid": "dpgp.features.placement",
    "Ledger": "dpgp.ledger",
    "LedgerError": "dpgp.ledger",
    "NormalizedKernel": "dpgp.kernels.given",
    "Plan": "dpgp.planning.plan",
    "PrivateGPClassifier": "dpgp.classifier",
    "PrivateGPRegressor": "dpgp.regressor",
    "ProductKernel": "dpgp.kernels.given",
    "export": "dpgp",
    "load": "dpgp.model.file",
    "low_discrepancy_points": "dpgp.features.placement",
    "paper": "dpgp",
    "plan": "dpgp.planning.plan",
    "regular_grid": "dpgp.features.placement",
}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import dpgp`` stays fast."""
    if name not in _EXPORTS:
        raise AttributeError(f"module 'dpgp' has no attribute {name!r}")
    home = _EXPORTS[name]
    return import_module(f"dpgp.{name}") if home == "dpgp" else getattr(import_module(home), name)
