r"""New observations at scaled inputs: what calibration counts, and what predictions state.

Smooth functions of one or two inputs as short sums of products of Chebyshev series.

What a posterior says at x in :math:`[-1, 1]^D` takes d² multiplications and an average over draws
of θ, but it is a smooth function of x. Read once at Chebyshev points it becomes

.. math:: f(x) = \sum_r \prod_n a_{nr}^\top T(x_n), \qquad T_k(\cos t) = \cos kt,

whose coefficients fall off so fast that some forty an input give all digits that matter. It is
evaluated in polynomials that cost one multiplication each, :math:`b_{m+k} = T_mb_k` for k < m and
m a power of two.
Townsend & Trefethen (2013), "An extension of Chebfun to two dimensions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from dpgp.blas import aligned
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior, in_pieces
from dpgp.types import Array

NODES = {1: (128, 256), 2: (64, 96)}
"""Chebyshev points along each input that are tried, by the number of inputs. With three, a product
of series would cost as much as what it stands for."""

TOLERANCE = 1e-10
"""What may be left out of a series, in root mean square, relative to the smallest value of a
function that is positive, and to the largest of another. A tenth of what is promised."""

CONVERGED = 0.8
"""Share of the coefficients beyond which none may be needed: then the points were enough."""

POINTS = 1024
"""Points at a time: few enough that their polynomials stay in the cache."""


@dataclass(frozen=True)
class ProductSeries:
    """Several functions; ``factors`` has coefficients of b, (terms, degrees), for every input.

    ``terms`` says which terms belong to each function.
    """

    factors: tuple[Array, ...]
    terms: tuple[slice, ...]

    def __call__(self, U: Array) -> Array:
        """Return all functions at the rows of ``U``, (functions, rows)."""
        return in_pieces(self._of_points, U, POINTS)

    def _of_points(self, U: Array) -> Array:
        b = polynomials(U.T, self.factors[0].shape[1])
        products, *others = (A @ b[:, n] for n, A in enumerate(self.factors))
        for other in others:
            products *= other
        return np.stack([products[terms].sum(axis=0) for terms in self.terms])


def series_of(function: Callable[[Array], Array], columns: int) -> ProductSeries | None:
    """Return functions (functions, rows) of so many inputs as series; None where none converges."""
    for nodes in NODES.get(columns, ()):
        values = function(_chebyshev_grid(columns, nodes)).reshape(-1, *[nodes] * columns)
        if not np.isfinite(values).all():
            return None
        found = [Coefficients.of(value) for value in values]
        degrees = max(one.degrees() for one in found)
        if degrees <= CONVERGED * nodes:
            return _product_series([one.cut(degrees) for one in found])
    return None


def polynomials(u: Array, count: int) -> Array:
    """Return b_0 = 1, b_1 = u, …: b_{m+k} = T_m b_k for k < m, m a power of two."""
    b = aligned(count, *u.shape)
    b[0], T_m, m = 1.0, u, 1
    while m < count:
        np.multiply(b[: count - m][:m], T_m, out=b[m : 2 * m])
        # T_2m = 2T_m² − 1
        T_m, m = 2.0 * T_m * T_m - 1.0, 2 * m
    return b


def _angles(nodes: int) -> Array:
    return np.pi * (np.arange(nodes) + 0.5) / nodes


def _chebyshev_grid(columns: int, nodes: int) -> Array:
    axis = np.cos(_angles(nodes))
    return np.stack(np.meshgrid(*[axis] * columns, indexing="ij"), axis=-1).reshape(-1, columns)


@dataclass(frozen=True)
class Coefficients:
    """Chebyshev coefficients of one function, and what may be left out of their sum."""

    C: Array
    allowed: float

    @classmethod
    def of(cls, values: Array) -> Coefficients:
        """c_k = (2 − δ_k0)/N Σ_j f(cos t_j) cos kt_j, along every input."""
        nodes, columns = len(values), values.ndim
        M = np.cos(np.outer(np.arange(nodes), _angles(nodes))) * 2.0 / nodes
        M[0] /= 2.0
        size = values.min() if values.min() > 0.0 else np.abs(values).max()
        return cls(M @ values if columns == 1 else M @ values @ M.T, TOLERANCE * float(size))

    def cut(self, degrees: int) -> Coefficients:
        """Return the first coefficients along every input."""
        return Coefficients(self.C[(slice(degrees),) * self.C.ndim], self.allowed)

    def degrees(self) -> int:
        """Return how many along an input are needed: T_k are orthogonal, so squares add up."""
        axes, squares = range(self.C.ndim), self.C**2
        return max(self._kept(squares.sum(axis=tuple({*axes} - {n}))) for n in axes)

    def factors(self) -> tuple[Array, ...]:
        """Return a_1r and a_2r with C = Σ_r a_1r ⊗ a_2r, from its singular values."""
        if self.C.ndim == 1:
            return (self.C[None],)
        u, s, vt = np.linalg.svd(self.C)
        kept = self._kept(s**2)
        return u[:, :kept].T, s[:kept, None] * vt[:kept]

    def _kept(self, squares: Array) -> int:
        """Return how many to keep, so that rounding errors of all others do not count."""
        beyond = np.sqrt(np.cumsum(squares[::-1])[::-1])
        return max(int(np.count_nonzero(beyond > self.allowed)), 1)


def _product_series(found: Sequence[Coefficients]) -> ProductSeries:
    parts, change = [one.factors() for one in found], _change_of_basis(len(found[0].C))
    ends = np.cumsum([0, *(len(part[0]) for part in parts)]).tolist()
    factors = tuple(np.concatenate(axis) @ change for axis in zip(*parts, strict=True))
    return ProductSeries(factors, tuple(map(slice, ends, ends[1:])))


def _change_of_basis(count: int) -> Array:
    """Return L with T = Lb, from their values at Chebyshev points."""
    t = _angles(count)
    T = np.cos(np.outer(np.arange(count), t))
    return np.asarray(np.linalg.solve(polynomials(np.cos(t), count).T, T.T).T)


@dataclass(frozen=True)
class Predictive:
    """Mean m(x) and standard deviation c(x)s(x) of a new observation of one target.

    ``moments`` gives m and c²s², which are smooth where their root need not be, one below the
    other.
    """

    moments: Callable[[Array], Array]

    def at(self, U: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation at the rows of ``U``."""
        mean, variance = self.moments(U)
        return mean, np.sqrt(variance)


@dataclass(frozen=True)
class PosteriorMoments:
    """m and c²s² as the posterior says at every point."""

    posterior: Posterior
    scale: LocalScale | None

    def __call__(self, U: Array) -> Array:
        """Return both at the rows of ``U``, one below the other."""
        mean, std = self.posterior.predict(U)
        c = 1.0 if self.scale is None else self.scale.factor(U)
        return np.stack([mean, (c * std) ** 2])


def predictives(
    posteriors: Sequence[Posterior], scales: Sequence[LocalScale]
) -> tuple[Predictive, ...]:
    """Return those of all targets; ``scales`` is empty where none was learned.

    Of one or two inputs moments become series, the same for every point; of more inputs, or where
    functions are not smooth, the posterior is asked at every point.
    """
    pairs = zip_longest(posteriors, scales)
    moments = (PosteriorMoments(posterior, scale) for posterior, scale in pairs)
    return tuple(Predictive(series_of(of, of.posterior.columns) or of) for of in moments)
