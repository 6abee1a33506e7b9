"""What dpgp must know of a kernel: the one interface of all rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import NUMPY, Library
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.parameters import Learned

Array = NDArray[np.float64]
Box = tuple[Sequence[float] | Array, Sequence[float] | Array]
Tree = dict[str, Any]

MOST_AT_ONCE = 2**20
"""Numbers that covariances of many θ may take in memory at once, about: what a cache holds."""

EVEN_ROWS = 16
"""Rows are cut into multiples of this: matrix products treat the rest of a block in another way,
and a point's numbers must not depend on its place."""


class KernelRule(ABC):
    """All facts of the kernels that are called ``name``, in model files as in scikit-learn.

    A *tree* has the numbers of the formula for many hyperparameters θ: {"type": …, a parameter: one
    row for each θ, "parts": trees within}. ``javascript`` is the same formula for the report,
    an object with ``gram(tree, Z)`` and ``diagonal(tree)``, functions that return functions of x.
    """

    name: ClassVar[str]
    part: ClassVar[str]
    javascript: ClassVar[str]

    def scripts(self) -> dict[str, str]:
        """Return the JavaScript of every type of tree that ``specify`` returns."""
        return {self.name: self.javascript}

    @abstractmethod
    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the tree for every row θ of ``thetas``, in the logarithms of ``kernel.theta``."""

    def tree_of(self, kernel: Any) -> Tree:
        """Return the tree of the kernel as it is."""
        return self.specify(kernel, kernel.theta[None])

    @abstractmethod
    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return K_θ(X, Y), (thetas, |X|, |Y|), with lengths of 1 where it is constant."""

    def gram_of(self, kernel: Any, X: Array, Y: Array) -> Array:
        """Return K(X, Y) of one kernel."""
        return np.asarray(kernel(X, Y))

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t K_t(X, Y) over all θ_t, (|X|, |Y|)."""
        parts = []
        for rows in _few_rows(X, (len(weights) + X.shape[1]) * max(len(Y), 1)):
            grams = self.gram(tree, rows, Y, NUMPY)
            total = np.einsum("t,tnm->nm", weights, grams, optimize=True)
            parts.append(np.broadcast_to(total, (len(rows), len(Y))))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @abstractmethod
    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return k_θ(x, x), (thetas, |X|), where the second length may be 1."""

    @abstractmethod
    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return an upper bound of k(x, x) over the box, or over everything."""

    @abstractmethod
    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return mean and standard deviation of every entry of θ."""

    @abstractmethod
    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return every entry of θ in words; ``scaled`` is what a product multiplies it with."""

    @abstractmethod
    def to_json(self, kernel: Any) -> Tree:
        """Return the kernel as an object of plain values, without its type."""

    @abstractmethod
    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the kernel on ``columns`` inputs that an object describes."""

    def as_sklearn(self, kernel: Any) -> Any:
        """Return scikit-learn's own kernel, which a user may have given."""
        return kernel

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return one-dimensional kernels whose product is this one; None if there are none."""
        return None

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        r"""Return range and majorant on cells: :math:`k(z, x)^2 \le k(z, z)\sup_x k(x, x)`."""
        largest = np.sqrt(self.variance_bound(kernel, None) * kernel.diag(cells.points))
        high = np.tile(largest, (len(cells.low), 1))
        return Envelope.flat(-high, high, cells.points.shape[1])

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        r"""Whether :math:`k(x, z) = \int \exp(-\sum_n t_n (x_n - z_n)^2)\,d\nu(t)`, with ν ≥ 0.

        Such a kernel is positive and decreases with every :math:`|x_n - z_n|`.
        """
        return False

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return the weights 1/ℓ of every column, one row per part that depends on the inputs."""
        weights = 1.0 / np.asarray(getattr(kernel, "length_scale", 1.0))
        return np.broadcast_to(weights, (1, columns))


class PlainRule(KernelRule):
    """A rule that knows a kernel so well that nobody needs a class of it."""

    @abstractmethod
    def as_sklearn(self, kernel: Any) -> Any:
        """Return scikit-learn's own kernel; a ModelFileError where it has none."""

    @abstractmethod
    def theta_of(self, kernel: Any) -> Array:
        """Return the logarithms of what is learned."""

    @abstractmethod
    def parameters_at(self, kernel: Any, theta: Array) -> dict[str, Any]:
        """Return the parameters whose logarithms are θ, by name."""

    @abstractmethod
    def text(self, kernel: Any) -> str:
        """Return the kernel in a line, as scikit-learn writes it."""


def _few_rows(X: Array, numbers: int) -> list[Array]:
    """Cut rows into even parts, each of which needs ``numbers`` numbers."""
    size = -(-len(X) // (1 + len(X) * numbers // MOST_AT_ONCE))
    size = max(-(-size // EVEN_ROWS), 1) * EVEN_ROWS
    return [X[start : start + size] for start in range(0, max(len(X), 1), size)]


def takes_vectors(kernel: Any) -> bool:
    """Return whether the kernel is defined on rows of numbers rather than on strings or graphs."""
    return bool(getattr(kernel, "requires_vector_input", True))
