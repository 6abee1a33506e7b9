"""A specification as an ONNX model in double precision: raw inputs in, mean and deviations out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dpgp import __version__
from dpgp.domain import Box
from dpgp.export.arithmetic import Covariances
from dpgp.export.onnx_graph import ONNX, Placeholder, write_model

COVERAGE = 0.95


def build(specification: dict[str, Any], interval_factor: float) -> Any:
    """Return the model: ``mean``, ``std``, ``latent_std``, ``lower`` and ``upper`` of rows ``X``.

    The interval is the mean ± ``interval_factor`` standard deviations of a new observation; both
    are cut to the public bounds of the target.
    """
    columns = len(specification["inputs"]["low"])
    return write_model(columns, _predictions(specification, columns, interval_factor))


def _predictions(
    specification: dict[str, Any], columns: int, interval_factor: float
) -> dict[str, Any]:
    """Return the outputs of the graph, m(x) = φᵀw̄ and var f = φᵀVφ + what φ misses, as formulas."""
    covariances, scale = Covariances(specification, ONNX), float(specification["scale"])
    m, S = (np.asarray(specification[name], dtype=np.float64) for name in ("m", "S"))
    U = covariances.unit_inputs(Placeholder("Input", [], np.empty((0, columns))))
    phi = covariances.evaluate(U)
    learned = ONNX.clip(ONNX.einsum("nd,nd->n", phi @ S, phi), 0.0, np.inf)
    variance = learned + covariances.missing_variance(U, phi)
    noise = float(specification["noise_variance"])
    centre = float(specification["centre"])

    def cut(value: Any) -> Any:
        return ONNX.clip(value, centre - scale, centre + scale)

    mean = cut(centre + scale * ONNX.einsum("nd,d->n", phi, m))
    std = scale * ONNX.sqrt(variance + noise)
    half_width = interval_factor * std
    return {
        "mean": mean,
        "std": std,
        "latent_std": scale * ONNX.sqrt(variance),
        "lower": cut(mean - half_width),
        "upper": cut(mean + half_width),
    }


def describe(model: Any, estimator: Any, target: int) -> None:
    """Write the guarantee, the columns and their bounds into the model's metadata."""
    certificate = estimator.certificate_
    model.producer_name, model.producer_version = "dpgp", __version__
    statement, neighbours = str(certificate).split("\n")[:2]
    model.doc_string = f"A Gaussian-process regression fitted by dpgp. {statement} {neighbours}"
    targets = _columns(estimator.target_box_, "target")
    facts = {
        "epsilon": f"{float(certificate.epsilon)}",
        "delta": f"{float(certificate.delta)}",
        "neighbours": certificate.neighbours.value,
        "statement": statement,
        "dpgp_version": __version__,
        "inputs": json.dumps(_columns(estimator.inputs_.box, "input")),
        "target": json.dumps(targets[target]),
        "interval_coverage": f"{COVERAGE}",
    }
    for key, value in facts.items():
        model.metadata_props.add(key=key, value=value)


def _columns(box: Box, kind: str) -> list[dict[str, Any]]:
    names = box.names or [f"{kind} {position + 1}" for position in range(len(box.low))]
    triples = zip(names, box.low, box.high, strict=True)
    return [{"name": str(n), "low": float(low), "high": float(high)} for n, low, high in triples]
