"""Arithmetic that is written down as an ONNX graph instead of being computed.

:mod:`dpgp.export.arithmetic` runs on placeholders, so the graph has the formulas of the other
exports. What does not depend on the inputs is computed here and stored as a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.extras import install

try:
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    raise ImportError(
        f"`to_onnx` needs the package onnx: {install('onnx')}.", name=error.name
    ) from error

OPSET, IR_VERSION = 17, 8  # readable by every runtime since 2022
_NUMPY: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "MatMul": np.matmul,
    "Exp": np.exp,
    "Sqrt": np.sqrt,
    "Sin": np.sin,
    "Max": np.maximum,
    "Min": np.minimum,
}


class Placeholder:
    """A value that depends on the inputs: the operation that makes it, and its shape for no rows.

    ``sample`` is the value where ``X`` has no rows, which tells all lengths but the number of rows.
    """

    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(self, operation: str, inputs: Sequence[Any], sample: Any, **options: Any) -> None:
        self.operation, self.inputs, self.options = operation, inputs, options
        self.sample = sample

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes, 0 for the rows."""
        return tuple(self.sample.shape)

    def __add__(self, other: Any) -> Any:
        return _apply("Add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("Add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("Sub", self, other)

    def __mul__(self, other: Any) -> Any:
        return _apply("Mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("Mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("Div", self, other)

    def __matmul__(self, other: Any) -> Any:
        return _apply("MatMul", self, other)

    def __neg__(self) -> Any:
        return _apply("Mul", -1.0, self)

    def __pow__(self, power: Any) -> Any:
        is_square = np.ndim(power) == 0 and power == 2
        return _apply("Mul", self, self) if is_square else _apply("Pow", self, power)

    def __getitem__(self, index: tuple[Any, ...]) -> Any:
        """Return slices of axes, with new axes where the index says None."""
        slices = tuple(part for part in index if part is not None)
        new_axes = [axis for axis, part in enumerate(index) if part is None]
        result = self
        for axis, part in enumerate(slices):
            if part != slice(None):
                result = result._sliced(axis, part)
        if not new_axes:
            return result
        sample = np.expand_dims(result.sample, new_axes)
        return Placeholder("Unsqueeze", [result, np.array(new_axes)], sample)

    def _sliced(self, axis: int, part: slice) -> Placeholder:
        start, stop, _ = part.indices(self.shape[axis])
        sample = np.take(self.sample, range(start, stop), axis=axis)
        ends = [np.array([number]) for number in (start, stop, axis)]
        return Placeholder("Slice", [self, *ends], sample)


def _apply(operation: str, *inputs: Any) -> Any:
    """Return the operation's result: a formula where an input is one, else numbers."""
    sample = _NUMPY[operation](*map(_sample, inputs))
    symbolic = any(isinstance(value, Placeholder) for value in inputs)
    return Placeholder(operation, _doubles(inputs), sample) if symbolic else sample


def _doubles(inputs: Sequence[Any]) -> list[Any]:
    return [v if isinstance(v, Placeholder) else np.asarray(v, dtype=np.float64) for v in inputs]


def _sample(value: Any) -> Any:
    return value.sample if isinstance(value, Placeholder) else value


def _einsum(equation: str, *inputs: Any) -> Any:
    sample = np.einsum(equation, *map(_sample, inputs))
    symbolic = any(isinstance(value, Placeholder) for value in inputs)
    if not symbolic:
        return sample
    return Placeholder("Einsum", _doubles(inputs), sample, equation=equation)


def _stack_rows(parts: Sequence[Any]) -> Any:
    return Placeholder("Concat", parts, np.concatenate([*map(_sample, parts)]), axis=0)


def _reshape(value: Any, shape: tuple[int, ...]) -> Any:
    return Placeholder("Reshape", [value, np.array(shape)], np.reshape(value.sample, shape))


def _clip(value: Any, low: Any, high: Any) -> Any:
    return _apply("Min", _apply("Max", value, low), high)


ONNX = Library(
    array=np.asarray,
    exp=lambda value: _apply("Exp", value),
    sqrt=lambda value: _apply("Sqrt", value),
    sin=lambda value: _apply("Sin", value),
    einsum=_einsum,
    stack_rows=_stack_rows,
    clip=_clip,
    reshape=_reshape,
)


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
