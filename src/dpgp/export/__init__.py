"""Fitted models for GPflow, GPyTorch and ONNX, which then predict the same from raw inputs.

All get a *specification*, a dictionary of plain numbers, lists and arrays. GPflow and GPyTorch do
not need dpgp to use one: :mod:`dpgp.export.gpflow_model` and :mod:`dpgp.export.gpytorch_model`
import nothing of dpgp but its formulas. docs/model-file.md.
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


def to_onnx(estimator: Any, target: int | None = None) -> Any:
    """Return an ``onnx.ModelProto`` that predicts what the estimator predicts; ``onnx.save`` it.

    Input ``X``: rows of raw inputs in double precision. Outputs, one number a row: ``mean``,
    ``std`` of a new observation, ``latent_std`` of the function, and the ends ``lower`` and
    ``upper`` of the calibrated 95 % interval. ``target`` chooses among several targets. Needs the
    package onnx; predicting with the model needs onnxruntime or another runtime, and no dpgp.
    """
    from dpgp.export.onnx_model import COVERAGE, build, describe

    numbers = specification(estimator, target)
    factor = estimator.calibration_[target or 0].factor(COVERAGE)
    model = build(numbers, factor)
    describe(model, estimator, target or 0)
    return model
