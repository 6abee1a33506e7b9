"""A specification as an ONNX model in double precision: raw inputs in, mean and deviations out.

The graph is written from the trace of :mod:`dpgp.export.specify`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpgp import __version__
from dpgp.arithmetic import TRACE, Placeholder
from dpgp.export.specify import Covariances
from dpgp.inference.conformal import COVERAGE
from dpgp.package import install

try:
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    raise ImportError(
        f"`to_onnx` needs the package onnx: {install('onnx')}.", name=error.name
    ) from error

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

OPSET, IR_VERSION = 17, 8  # readable by every runtime since 2022


def build(specification: dict[str, Any], ends: tuple[float, float]) -> Any:
    """Return the model: ``mean``, ``std``, ``latent_std``, ``lower`` and ``upper`` of rows ``X``.

    The interval lies between the ``ends``, in standard deviations of a new observation from the
    mean; all are cut to the public bounds of the target.
    """
    columns, graph = len(specification["inputs"]["low"]), _Graph()
    values = _predictions(specification, columns, ends)
    outputs = [graph.output(name, value) for name, value in values.items()]
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n", columns])
    constants = list(graph.constants.values())
    drawn = helper.make_graph(graph.nodes, "dpgp", [rows], outputs, constants)
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(drawn, opset_imports=opset, ir_version=IR_VERSION)


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


class _Graph:
    """Nodes and constants in the order in which they are needed, each written once."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[tuple[Any, ...], Any] = {}
        self._names: dict[int, str] = {}

    def name(self, value: Any) -> str:
        """Return the name of a value, after all that it needs has been written."""
        if not isinstance(value, Placeholder):
            return self._constant(np.asarray(value))
        if value.operation == "Input":
            return "X"
        if id(value) not in self._names:
            inputs = [self.name(each) for each in value.inputs]
            self._names[id(value)] = f"{value.operation.lower()}_{len(self.nodes)}"
            self._write(value.operation, inputs, self._names[id(value)], **value.options)
        return self._names[id(value)]

    def output(self, name: str, value: Placeholder) -> Any:
        """Write an output, one number a row."""
        self._write("Identity", [self.name(value)], name)
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n"])

    def _write(self, operation: str, inputs: list[str], name: str, **options: Any) -> None:
        self.nodes.append(helper.make_node(operation, inputs, [name], **options))

    def _constant(self, value: NDArray[Any]) -> str:
        key = (value.shape, value.dtype.str, value.tobytes())
        if key not in self.constants:
            name = f"constant_{len(self.constants)}"
            self.constants[key] = numpy_helper.from_array(value, name)
        return str(self.constants[key].name)


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
