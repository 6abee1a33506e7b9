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
from dpgp.kernels.base import PlainRule, Tree
from dpgp.kernels.parameters import Learned, Measure, Parameter
from dpgp.kernels.plain import PlainKernel, sklearn_class

Array = NDArray[np.float64]


class Leaf(PlainRule):
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
        bounds = {f"{name}_bounds": "fixed" if name in fixed else None for name in names}
        return PlainKernel(self.name, **values, **bounds)

    def as_sklearn(self, kernel: Any) -> Any:
        """Return the kernel of this name with the same parameters."""
        names = [*(p.name for p in self.parameters), *self.others]
        values = {name: getattr(kernel, name) for name in names}
        fixed = [f"{p.name}_bounds" for p in self.parameters if _is_fixed(kernel, p)]
        return sklearn_class(self.name)(**values, **dict.fromkeys(fixed, "fixed"))

    def theta_of(self, kernel: Any) -> Array:
        """Return the logarithms of all parameters that are not fixed."""
        values = [_values(kernel, parameter) for parameter in self._free(kernel)]
        return np.asarray(np.log(np.concatenate([[], *values])))

    def parameters_at(self, kernel: Any, theta: Array) -> dict[str, Any]:
        """Return exp θ for every parameter that is not fixed."""
        found, rest = {}, np.exp(theta)
        for parameter in self._free(kernel):
            size = np.size(getattr(kernel, parameter.name))
            own, rest = rest[:size], rest[size:]
            found[parameter.name] = own if np.ndim(getattr(kernel, parameter.name)) else own[0]
        return found

    def text(self, kernel: Any) -> str:
        """Return the name with all parameters."""
        names = [*(p.name for p in self._in_order_of_theta()), *self.others]
        return f"{self.name}({', '.join(f'{n}={_short(getattr(kernel, n))}' for n in names)})"

    def _in_order_of_theta(self) -> list[Parameter]:
        return sorted(self.parameters, key=lambda parameter: parameter.name)

    def _free(self, kernel: Any) -> list[Parameter]:
        return [p for p in self._in_order_of_theta() if not _is_fixed(kernel, p)]


def _values(kernel: Any, parameter: Parameter) -> Array:
    return np.atleast_1d(np.asarray(getattr(kernel, parameter.name), dtype=np.float64))


def _short(value: Any) -> str:
    parts = [f"{part:.3g}" for part in np.ravel(value)]
    return parts[0] if np.ndim(value) == 0 else f"[{', '.join(parts)}]"


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
