"""Features of straight lines, also for inputs whose spread nobody knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import ModelFileError, as_number, as_whole, number_to_json
from dpgp.features.base import SLACK, Tree, least_squares, side_by_side
from dpgp.types import Array


@dataclass(frozen=True)
class LinearFeatures:
    r"""A constant and the inputs, :math:`\phi(x) = (\sqrt a, x\sqrt{(1 - a)/D})`."""

    tree_type: ClassVar[str] = "linear"
    fields: ClassVar[tuple[str, ...]] = ("columns", "constant_share")
    javascript: ClassVar[str] = """(tree) =>
    (u) => Float64Array.of(tree.constant, ...u.map((value) => tree.slope * value))"""

    columns: int
    constant_share: float = 0.5

    @property
    def dimension(self) -> int:
        """One more than the number of inputs."""
        return self.columns + 1

    @cached_property
    def anchors(self) -> Array:
        """The centre of the box and the centres of its faces."""
        return np.vstack([np.zeros(self.columns), np.eye(self.columns), -np.eye(self.columns)])

    @cached_property
    def projection(self) -> Array:
        """Least squares over the anchors."""
        return least_squares(self.evaluate(self.anchors))

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the constant and the scaled inputs as columns."""
        phi = np.empty((self.dimension, len(U))) if out is None else out
        phi[0] = math.sqrt(self.constant_share)
        phi[1:] = U.T * math.sqrt((1.0 - self.constant_share) / self.columns)
        return phi

    @property
    def most_anchors(self) -> int:
        """The centre, and two faces an input."""
        return 2 * self.columns + 1

    def to_json(self) -> Tree:
        """Return the number of inputs and the constant's share."""
        share = number_to_json(self.constant_share)
        return {"columns": int(self.columns), "constant_share": share}

    @classmethod
    def from_json(cls, fields: Tree, where: str, columns: int, depth: int) -> Self:
        """Return a constant and ``columns`` inputs."""
        as_whole(fields["columns"], f"{where}.columns", columns, columns)
        share = as_number(fields["constant_share"], f"{where}.constant_share", low=0.0)
        if share > 1.0:
            raise ModelFileError(f"`{where}.constant_share` must be at most 1.")
        return cls(columns, share)

    def specify(self) -> Tree:
        """Return √a and √((1 − a)/D)."""
        return {
            "constant": math.sqrt(self.constant_share),
            "slope": math.sqrt((1.0 - self.constant_share) / self.columns),
        }

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return the constant and the scaled inputs."""
        return side_by_side([0.0 * U[:, :1] + tree["constant"], U * tree["slope"]], library)


@dataclass(frozen=True)
class UnitLine:
    r"""A constant and a direction, :math:`\phi = (\sqrt a, \sqrt{1 - a}\,x/\max(\|x\|, b\sqrt D))`.

    Inputs that fill a quarter of their box would leave fifteen sixteenths of the squared norm of
    :class:`~dpgp.features.linear.LinearFeatures` unused; here every row that is not nearly zero
    uses all of it. The norm is at most one by construction.
    """

    columns: int
    constant_share: float
    smallest: float  # b, the root mean square of a row's inputs below which it is left as it is

    @property
    def dimension(self) -> int:
        """One more than the number of inputs."""
        return self.columns + 1

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the constant and the directions as columns."""
        phi = np.empty((self.dimension, len(U))) if out is None else out
        phi[0] = SLACK * math.sqrt(self.constant_share)
        phi[1:] = U.T
        norms = np.sqrt(np.einsum("dn,dn->n", phi[1:], phi[1:]))
        slope = SLACK * math.sqrt(1.0 - self.constant_share)
        phi[1:] *= slope / np.maximum(norms, self.smallest * math.sqrt(self.columns))
        return phi
