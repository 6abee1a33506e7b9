"""Gaussian-process regression under differential privacy, for inputs and outputs."""

from dpgp.package import lazy_names

__version__ = "0.1.0"

_EXPORTS = {
    "BudgetError": "dpgp.privacy.books",
    "Grid": "dpgp.point_sets",
    "Ledger": "dpgp.ledger",
    "LedgerError": "dpgp.ledger",
    "NormalizedKernel": "dpgp.kernels.given",
    "Plan": "dpgp.planning.plan",
    "PrivateGPClassifier": "dpgp.classifier",
    "PrivateGPRegressor": "dpgp.regressor",
    "ProductKernel": "dpgp.kernels.given",
    "export": "dpgp.export",
    "load": "dpgp.model.file",
    "low_discrepancy_points": "dpgp.point_sets",
    "paper": "dpgp.paper",
    "plan": "dpgp.planning.plan",
    "pool": "dpgp.pooling",
    "regular_grid": "dpgp.point_sets",
}

__all__ = ["__version__", *_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
