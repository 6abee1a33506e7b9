"""Fitted models for GPflow, GPyTorch and ONNX, which then predict the same from raw inputs.

All get a *specification*, a dictionary of plain numbers, lists and arrays. GPflow and GPyTorch do
not need dpgp to use one: :mod:`dpgp.export.gpflow_model` and :mod:`dpgp.export.gpytorch_model`
import nothing of dpgp but its formulas. docs/model-file.md.
"""

from __future__ import annotations

from typing import Any


def specification(model: Any, target: int | str | None = None) -> dict[str, Any]:
    """Return all numbers that predictions are made of, as nested dictionaries of arrays."""
    from dpgp.export.specify import specification_of
    from dpgp.model.fitted import fitted_model

    fitted = fitted_model(model)
    if fitted.outcome.why_no_export is not None:
        raise ValueError(fitted.outcome.why_no_export)
    return specification_of(fitted, target)


def rows(model: Any, X: Any) -> Any:
    """Return rows as exported models take them.

    A category is the number of its level, from 0, and a date the days since its lower bound.
    """
    from dpgp.model.fitted import fitted_model

    return fitted_model(model).raw_inputs(X)


def to_gpflow(model: Any, target: int | str | None = None) -> Any:
    """Return a ``gpflow.models.SVGP`` that predicts what the model predicts.

    ``target`` chooses among several targets. GPflow must be installed.
    """
    from dpgp.export.gpflow_model import build

    return build(specification(model, target))


def to_gpytorch(model: Any, target: int | str | None = None) -> Any:
    """Return a ``gpytorch.models.ApproximateGP``, with its ``likelihood``, that predicts the same.

    ``target`` chooses among several targets. GPyTorch must be installed.
    """
    from dpgp.export.gpytorch_model import build

    return build(specification(model, target))


def to_onnx(model: Any, target: int | str | None = None) -> Any:
    """Return an ``onnx.ModelProto`` that predicts what the model predicts; ``onnx.save`` it.

    Input ``X``: rows of raw inputs in double precision, as :func:`rows` returns them. Outputs, one
    number a row: ``mean``, ``std`` of a new observation, ``latent_std`` of the function, and the
    ends ``lower`` and ``upper`` of the calibrated 95 % interval; of two classes ``probability`` of
    the second one, and the ends of the interval for it; of more the same of each class, as in
    ``probability_never``. ``target`` chooses among several targets.
    Needs the package onnx; predicting with the model needs onnxruntime or another runtime,
    and no dpgp.
    """
    from dpgp.export.onnx_model import build
    from dpgp.model.fitted import fitted_model

    return build(fitted_model(model), target)
