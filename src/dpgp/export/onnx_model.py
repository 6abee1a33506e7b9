"""A fitted model as an ONNX model in double precision: raw inputs in, predictions out.

The graph is written from the trace of :mod:`dpgp.export.specify`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgp import __version__
from dpgp.arithmetic import TRACE, Placeholder
from dpgp.effects.functionals import function_factor
from dpgp.export.specify import Covariances, specification_of
from dpgp.export.traced_chances import (
    normal_factor,
    traced_interval,
    traced_order,
    traced_probability,
)
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


def build(model: FittedModel, target: int | str | None) -> Any:
    """Return the graph of one target, with the guarantee in its metadata.

    Outputs of rows ``X`` are those of the link that the kind of outcome has: ``mean``, ``std``,
    ``latent_std``, ``lower`` and ``upper``, or ``probability``, ``lower`` and ``upper``, with the
    label of a class behind them where these are more than two.
    """
    graph, columns = _Graph(), model.options.columns
    values = _classes(model, target) if model.outcome.is_joint else _outputs(model, target)
    outputs = [graph.output(name, value) for name, value in values.items()]
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n", columns])
    constants = list(graph.constants.values())
    drawn = helper.make_graph(graph.nodes, "dpgp", [rows], outputs, constants)
    opset = [helper.make_opsetid("", OPSET)]
    written = helper.make_model(drawn, opset_imports=opset, ir_version=IR_VERSION)
    _describe(written, model, target)
    return written


def _outputs(model: FittedModel, target: int | str | None) -> dict[str, Any]:
    """Return what is predicted of one target, by name."""
    k, link = model.chosen_target(target), LINKS[str(model.outcome.in_browser["link"])]
    return link(model, k, _belief(specification_of(model, k), model.options.columns))


def _classes(model: FittedModel, target: int | str | None) -> dict[str, Any]:
    """Return the probability of every class, or of the one that is asked for, and its interval."""
    beliefs = [
        _belief(specification_of(model, k), model.options.columns) for k in range(model.n_targets)
    ]
    parts = [
        model.odds(k).weight * traced_probability(belief.mean, belief.latent_std, model.odds(k))
        for k, belief in enumerate(beliefs)
    ]
    whole = sum(parts[1:], start=parts[0])
    cuts = [model.odds(k).cut for k in range(model.n_targets)]
    shares = traced_order([part / whole for part in parts], [cut for cut in cuts if cut])
    asked = range(model.n_targets) if target is None else [model.chosen_target(target)]
    return {
        f"{name}_{model.outcome.labels[k]}": value
        for k in asked
        for name, value in _chances(model, k, beliefs[k], shares[k]).items()
    }


class _Belief(NamedTuple):
    """Formulas of what is believed of f and of a new observation, in units of the target."""

    mean: Any
    latent_std: Any
    std: Any


def _belief(specification: dict[str, Any], columns: int) -> _Belief:
    """Return m(x) = φᵀw̄ and the roots of var f = φᵀVφ + what φ misses and c²(var f + σ²)."""
    covariances, scale = Covariances(specification, TRACE), float(specification["scale"])
    m, S = (np.asarray(specification[name], dtype=np.float64) for name in ("m", "S"))
    U = covariances.unit_inputs(Placeholder("Input", [], np.empty((0, columns))))
    phi = covariances.evaluate(U)
    learned = TRACE.clip(TRACE.einsum("nd,nd->n", phi @ S, phi), 0.0, np.inf)
    variance = learned + covariances.missing_variance(U, phi)
    noise = float(specification["noise_variance"])
    return _Belief(
        mean=float(specification["centre"]) + scale * TRACE.einsum("nd,d->n", phi, m),
        latent_std=scale * TRACE.sqrt(variance),
        std=scale * (TRACE.sqrt(variance + noise) * covariances.local_scale(U)),
    )


def _numbers(model: FittedModel, target: int, belief: _Belief) -> dict[str, Any]:
    """Return what is predicted of a number, or of a count, whose interval has whole ends."""
    box = model.options.functions
    low, high = float(box.low[target]), float(box.high[target])
    mean = TRACE.clip(belief.mean, low, high)

    def observed(t: float) -> Any:
        value = TRACE.clip(mean + t * belief.std, low, high)
        if not model.outcome.in_browser["whole"]:
            return value
        return TRACE.clip(np.floor(value + 0.5), np.ceil(low), np.floor(high))

    lower, upper = map(observed, model.calibrations[target].ends(COVERAGE))
    deviations = {"std": belief.std, "latent_std": belief.latent_std}
    return {"mean": mean, **deviations, "lower": lower, "upper": upper}


def _chances(
    model: FittedModel, target: int, belief: _Belief, together: Any = None
) -> dict[str, Any]:
    """Return the probability of the second class, or of one ``together`` with all others.

    The interval for it has both what a class says by itself, and that.
    """
    odds, mean = model.odds(target), belief.mean
    own = traced_probability(mean, belief.latent_std, odds)
    p = own if together is None else together
    factor = function_factor(model.posteriors[target], COVERAGE) / normal_factor(COVERAGE)
    lower, upper = traced_interval(mean, factor * belief.latent_std, COVERAGE, odds, own)
    lower, upper = np.minimum(lower, p), np.maximum(upper, p)
    return {"probability": p, "lower": lower, "upper": upper}


LINKS = {"bounds": _numbers, "chance": _chances}
"""What is predicted from a belief, by the links of kinds of outcomes."""


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


def _describe(graph: Any, model: FittedModel, target: int | str | None) -> None:
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
        "target": json.dumps(targets[0 if model.outcome.is_joint else model.chosen_target(target)]),
        "interval_coverage": f"{COVERAGE}",
    }
    for key, value in facts.items():
        graph.metadata_props.add(key=key, value=value)
