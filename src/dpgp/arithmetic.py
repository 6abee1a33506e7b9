"""Formulas in the arithmetic of any array library: what libraries spell differently.

Kernels and feature maps write their formula once, with a :class:`Library` to compute it in: NumPy,
TensorFlow, torch, or placeholders. A formula that runs on placeholders leaves its trace, from which
an ONNX graph or the JavaScript of the report's page is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

TINY = 1e-300
"""Keeps 0/0 from happening: below anything that is computed."""

SMALLEST_SQUARE = 1e-36
"""Added to squared distances before their root, so that it has a derivative at 0."""


@dataclass(frozen=True)
class Library:
    """The functions that array libraries spell differently; operators they share."""

    array: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    einsum: Callable[..., Any]
    stack_rows: Callable[[Any], Any]
    clip: Callable[[Any, Any, Any], Any]
    reshape: Callable[[Any, Any], Any]


NUMPY = Library(
    array=np.asarray,
    exp=np.exp,
    sqrt=np.sqrt,
    sin=np.sin,
    einsum=partial(np.einsum, optimize=True),  # contractions by BLAS
    stack_rows=np.concatenate,
    clip=np.clip,
    reshape=np.reshape,
)


def transposed(Y: Any, library: Library) -> Any:
    """Return the transpose of a matrix."""
    return library.einsum("md->dm", Y)


_OPERATIONS: dict[Any, str] = {
    np.add: "Add",
    np.subtract: "Sub",
    np.multiply: "Mul",
    np.divide: "Div",
    np.power: "Pow",
    np.matmul: "MatMul",
    np.exp: "Exp",
    np.log: "Log",
    np.floor: "Floor",
    np.less: "Less",
    np.less_equal: "LessOrEqual",
    np.greater_equal: "GreaterOrEqual",
    np.sqrt: "Sqrt",
    np.sin: "Sin",
    np.maximum: "Max",
    np.minimum: "Min",
}
"""Functions of NumPy, operators among them, and their names in ONNX."""


class Placeholder(NDArrayOperatorsMixin):
    """A value that depends on the inputs: the operation that makes it, and its shape for no rows.

    Operations have the names of ONNX. ``sample`` is the value where inputs have no rows, which
    tells all lengths but the number of rows. What depends on no input is computed, as a constant.
    """

    def __init__(self, operation: str, inputs: Sequence[Any], sample: Any, **options: Any) -> None:
        self.operation, self.inputs, self.options = operation, inputs, options
        self.sample = sample

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes, 0 for the rows."""
        return tuple(self.sample.shape)

    def __array_ufunc__(self, function: np.ufunc, _method: str, *inputs: Any) -> Any:
        """Write down what NumPy, which operators ask too, would compute."""
        if function is np.negative:
            return -1.0 * self
        if function is np.power and not isinstance(inputs[1], Placeholder):
            base, power = inputs
            if np.ndim(power) == 0 and power == 2:
                return base * base
        return _traced(function, _OPERATIONS[function], inputs)

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


def _einsum(equation: str, *inputs: Any) -> Any:
    return _traced(partial(np.einsum, equation), "Einsum", inputs, equation=equation)


def _traced(
    compute: Callable[..., Any], operation: str, inputs: Sequence[Any], **options: Any
) -> Any:
    """Return the operation's result: a formula where an input is one, else numbers."""
    sample = compute(*map(_sample, inputs))
    if not any(isinstance(value, Placeholder) for value in inputs):
        return sample
    doubles = [v if isinstance(v, Placeholder) else np.asarray(v, np.float64) for v in inputs]
    return Placeholder(operation, doubles, sample, **options)


def where(condition: Any, value: Any, other: Any) -> Any:
    """Return a value where a condition holds, else another; of traces or arrays."""
    return _traced(np.where, "Where", (condition, value, other))


def _sample(value: Any) -> Any:
    return value.sample if isinstance(value, Placeholder) else value


def _stack_rows(parts: Sequence[Any]) -> Any:
    return Placeholder("Concat", parts, np.concatenate([*map(_sample, parts)]), axis=0)


def _reshape(value: Any, shape: tuple[int, ...]) -> Any:
    return Placeholder("Reshape", [value, np.array(shape)], np.reshape(value.sample, shape))


def _clip(value: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(value, low), high)


TRACE = Library(
    array=np.asarray,
    exp=np.exp,
    sqrt=np.sqrt,
    sin=np.sin,
    einsum=_einsum,
    stack_rows=_stack_rows,
    clip=_clip,
    reshape=_reshape,
)
