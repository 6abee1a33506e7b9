"""An ONNX graph, written from the trace of :mod:`dpgp.export.arithmetic`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Placeholder
from dpgp.package import install

try:
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    raise ImportError(
        f"`to_onnx` needs the package onnx: {install('onnx')}.", name=error.name
    ) from error

OPSET, IR_VERSION = 17, 8  # readable by every runtime since 2022


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


def write_model(columns: int, values: dict[str, Placeholder]) -> Any:
    """Return the ONNX model of these outputs, functions of rows ``X`` of so many columns."""
    graph = _Graph()
    outputs = [graph.output(name, value) for name, value in values.items()]
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n", columns])
    constants = list(graph.constants.values())
    drawn = helper.make_graph(graph.nodes, "dpgp", [rows], outputs, constants)
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(drawn, opset_imports=opset, ir_version=IR_VERSION)
