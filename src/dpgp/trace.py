"""Arithmetic that is written down instead of being computed.

A formula that runs on placeholders leaves its trace, from which an ONNX graph or the JavaScript of
the report's page is written. What does not depend on inputs is computed here, as a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpgp.arithmetic import Library

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

    Operations have the names of ONNX. ``sample`` is the value where inputs have no rows, which
    tells all lengths but the number of rows.
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

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("Div", other, self)

    def __matmul__(self, other: Any) -> Any:
        return _apply("MatMul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply("MatMul", other, self)

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


TRACE = Library(
    array=np.asarray,
    exp=lambda value: _apply("Exp", value),
    sqrt=lambda value: _apply("Sqrt", value),
    sin=lambda value: _apply("Sin", value),
    einsum=_einsum,
    stack_rows=_stack_rows,
    clip=_clip,
    reshape=_reshape,
)
