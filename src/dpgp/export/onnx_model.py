"""A specification as an ONNX model in double precision: raw inputs in, mean and deviations out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp import __version__
from dpgp.arithmetic import TRACE, Placeholder
from dpgp.export.arithmetic import Covariances
from dpgp.export.onnx_graph import write_model
from dpgp.inference.conformal import COVERAGE

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


def build(specification: dict[str, Any], ends: tuple[float, float]) -> Any:
    """Return the model: ``mean``, ``std``, ``latent_std``, ``lower`` and ``upper`` of rows ``X``.

    The interval lies between the ``ends``, in standard deviations of a new observation from the
    mean; all are cut to the public bounds of the target.
    """
    columns = len(specification["inputs"]["low"])
    return write_model(columns, _predictions(specification, columns, ends))


def _predictions(
    specification: dict[str, Any], columns: int, ends: tuple[float, float]
) -> dict[str, Any]:
    """Return the outputs of the graph, m(x) = φᵀw̄ and var f = φᵀVφ + what φ misses, as formulas."""
    covariances, scale = Covariances(specification, TRACE), float(specification["scale"])
    m, S = (np.asarray(specification[name], dtype=np.float64) for name in ("m", "S"))
    U = covariances.unit_inputs(Placeholder("Input", [], np.empty((0, columns))))
    phi = covariances.evaluate(U)
    learned = TRACE.clip(TRACE.einsum("nd,nd->n", phi @ S, phi), 0.0, np.inf)
    variance = learned + covariances.missing_variance(U, phi)
    noise = float(specification["noise_variance"])
    centre = float(specification["centre"])

    def cut(value: Any) -> Any:
        return TRACE.clip(value, centre - scale, centre + scale)

    mean = cut(centre + scale * TRACE.einsum("nd,d->n", phi, m))
    std = scale * (TRACE.sqrt(variance + noise) * covariances.local_scale(U))
    lower, upper = ends
    return {
        "mean": mean,
        "std": std,
        "latent_std": scale * TRACE.sqrt(variance),
        "lower": cut(mean + lower * std),
        "upper": cut(mean + upper * std),
    }


def describe(graph: Any, model: FittedModel, target: int) -> None:
    """Write the guarantee, the columns and their bounds into the model's metadata."""
    certificate = model.certificate
    graph.producer_name, graph.producer_version = "dpgp", __version__
    statement, neighbours = str(certificate).split("\n")[:2]
    graph.doc_string = f"A Gaussian-process regression fitted by dpgp. {statement} {neighbours}"
    targets = model.options.target_box.named_bounds("target")
    facts = {
        "epsilon": f"{float(certificate.epsilon)}",
        "delta": f"{float(certificate.delta)}",
        "neighbours": certificate.neighbours.value,
        "statement": statement,
        "dpgp_version": __version__,
        "inputs": json.dumps(model.inputs.box.named_bounds("input")),
        "target": json.dumps(targets[target]),
        "interval_coverage": f"{COVERAGE}",
    }
    for key, value in facts.items():
        graph.metadata_props.add(key=key, value=value)
