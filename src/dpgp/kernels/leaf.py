"""Kernels without kernels inside."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpgp.checked_values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_number,
    as_positive,
    as_vector,
    number_to_json,
)
from dpgp.kernels.base import KernelRule, Tree
from dpgp.kernels.parameters import Learned, Measure, Parameter

Array = NDArray[np.float64]


class Leaf(KernelRule):
    """A kernel that its parameters describe; ``others`` are numbers that are never learned."""

    parameters: ClassVar[tuple[Parameter, ...]]
    others: ClassVar[tuple[str, ...]] = ()

    def tree_type(self, kernel: Any) -> str:
        """Return the name of the formula."""
        return self.name

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return exp θ where a parameter is learned, its value where it is fixed."""
        tree: Tree = {"type": self.tree_type(kernel)}
        start = 0
        for parameter in self._in_order_of_theta():
            value = _values(kernel, parameter)
            if _is_fixed(kernel, parameter):
                tree[parameter.name] = np.tile(value, (len(thetas), 1))
            else:
                tree[parameter.name] = np.exp(thetas[:, start : start + len(value)])
                start += len(value)
        return tree

    def tree_of(self, kernel: Any) -> Tree:
        """Return the tree of the kernel as it is."""
        values = {p.name: _values(kernel, p)[None] for p in self.parameters}
        return {"type": self.tree_type(kernel), **values}

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return the parameters' priors, one for each element."""
        return [p.log_prior(v, columns) for p in self._free(kernel) for v in _values(kernel, p)]

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return the words of the parameters, one for each element."""
        found = []
        for parameter in self._free(kernel):
            size = parameter.measure is Measure.VARIANCE
            words = f"{parameter.word} of the {(size and scaled) or self.part}"
            count = len(_values(kernel, parameter))
            columns = range(count) if count > 1 else [None]
            name = f"{prefix}{parameter.name}"
            found += [Learned(name, words, parameter.measure, column) for column in columns]
        return found

    def to_json(self, kernel: Any) -> Tree:
        """Return all parameters, and the names of those that are fixed."""
        names = [*(p.name for p in self.parameters), *self.others]
        values = {name: _value_to_json(getattr(kernel, name)) for name in names}
        return {**values, "fixed": [p.name for p in self.parameters if _is_fixed(kernel, p)]}

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the kernel with these parameters."""
        names = [p.name for p in self.parameters]
        fields = as_fields(value, where, ("type", *names, *self.others, "fixed"))
        values = {p.name: _read(p, fields[p.name], where, columns) for p in self.parameters}
        values |= {k: as_positive(fields[k], f"{where}.{k}", infinite=True) for k in self.others}
        if not isinstance(fields["fixed"], list):
            raise ModelFileError(f"`{where}.fixed` must be a list of hyperparameters.")
        fixed = [as_choice(name, f"{where}.fixed", names) for name in fields["fixed"]]
        return self.kind(**values, **{f"{name}_bounds": "fixed" for name in fixed})

    def _in_order_of_theta(self) -> list[Parameter]:
        return sorted(self.parameters, key=lambda parameter: parameter.name)

    def _free(self, kernel: Any) -> list[Parameter]:
        return [p for p in self._in_order_of_theta() if not _is_fixed(kernel, p)]


def _values(kernel: Any, parameter: Parameter) -> Array:
    return np.atleast_1d(np.asarray(getattr(kernel, parameter.name), dtype=np.float64))


def _is_fixed(kernel: Any, parameter: Parameter) -> bool:
    bounds = getattr(kernel, f"{parameter.name}_bounds")
    return isinstance(bounds, str) and bounds == "fixed"


def _value_to_json(value: Any) -> Any:
    if np.ndim(value) == 0:
        return number_to_json(value)
    return [number_to_json(entry) for entry in np.ravel(value)]


def _read(parameter: Parameter, value: Any, where: str, columns: int) -> Any:
    where = f"{where}.{parameter.name}"
    if isinstance(value, list) and parameter.per_input:
        lengths = as_vector(value, where, columns)
        if not np.all(lengths > 0.0):
            raise ModelFileError(f"`{where}` must be positive.")
        return lengths
    if parameter.may_be_zero:
        return as_number(value, where, low=0.0)
    return as_positive(value, where)
