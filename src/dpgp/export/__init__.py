"""Fitted models for GPflow and GPyTorch, which then predict the same from raw inputs.

Both get a *specification*, a dictionary of plain numbers, lists and arrays. Neither library needs
dpgp to use one: :mod:`dpgp.export.gpflow_model` and :mod:`dpgp.export.gpytorch_model` import
nothing of dpgp but arithmetic. docs/model-file.md.
"""

from __future__ import annotations

from typing import Any


def specification(estimator: Any, target: int | None = None) -> dict[str, Any]:
    """Return all numbers that predictions are made of, as nested dictionaries of arrays."""
    from dpgp.export.specify import specification_of

    return specification_of(estimator, target)


def to_gpflow(estimator: Any, target: int | None = None) -> Any:
    """Return a ``gpflow.models.SVGP`` that predicts what the estimator predicts.

    ``target`` chooses among several targets. GPflow must be installed.
    """
    from dpgp.export.gpflow_model import build

    return build(specification(estimator, target))


def to_gpytorch(estimator: Any, target: int | None = None) -> Any:
    """Return a ``gpytorch.models.ApproximateGP``, with its ``likelihood``, that predicts the same.

    ``target`` chooses among several targets. GPyTorch must be installed.
    """
    from dpgp.export.gpytorch_model import build

    return build(specification(estimator, target))
