"""Covariances of any kernel for many hyperparameter vectors at once, in any array library."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.arithmetic import NUMPY, Library, transposed
from dpgp.kernels.base import OWN_TYPE, Tree, filled, formula_of
from dpgp.kernels.known import KERNELS, as_kernel
from dpgp.types import Array


def batch_gram(kernel: Any, thetas: Array, X: Array, Y: Array) -> Array:
    """Return K_θ(X, Y) for every row θ of ``thetas``, in the logarithms of ``kernel.theta``.

    Shape (thetas, |X|, |Y|); parts that do not depend on X or Y may have length one there.
    """
    return np.asarray(gram(specify(kernel, thetas), X, Y, NUMPY))


def batch_diag(kernel: Any, thetas: Array, X: Array) -> Array:
    """Return k_θ(x, x) for every θ and x, (thetas, |X|)."""
    return np.broadcast_to(diagonal(specify(kernel, thetas), X, NUMPY), (len(thetas), len(X)))


def gram_in_place(kernel: Any, X: Any, Y: Any) -> Array:
    """Return k(X, Y) of one kernel, as ``kernel(X, Y)`` does, with one array a part at most."""
    return filled(as_kernel(kernel).values(X, Y), len(X), len(Y))


def specify(kernel: Any, thetas: Array) -> Tree:
    """Return the numbers of the kernel's formula, a row of every parameter for each row of θ."""
    return as_kernel(kernel).tree(thetas)


def exported_tree(kernel: Any, thetas: Array) -> Tree:
    """Return the same where it is all numbers, for a formula that another program computes."""
    tree = specify(kernel, thetas)
    if OWN_TYPE in _types(tree):
        names = ", ".join(KERNELS)
        raise ValueError(
            f"the kernel {kernel} cannot be exported: a part of it has no formula that other "
            f"programs know. Those of {names} do, a Matern with nu among 0.5, 1.5, 2.5 and inf."
        )
    return tree


def gram(tree: Tree, X: Any, Y: Any, library: Library) -> Any:
    """Return K_θ(X, Y) for every θ of a tree."""
    return formula_of(tree).gram(tree, X, Y, library)


def diagonal(tree: Tree, X: Any, library: Library) -> Any:
    """Return k_θ(x, x) for every θ of a tree."""
    return formula_of(tree).diagonal(tree, X, library)


def mean_gram(tree: Tree, X: Any, Y: Any, library: Library) -> Any:
    """Return K_θ(X, Y) averaged over θ, (|X|, |Y|)."""
    mean = library.einsum("tnm->nm", gram(tree, X, Y, library)) / draws(tree)
    return mean + 0.0 * (X @ transposed(Y, library))


def weighted_gram(tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
    """Return Σ_t ω_t K_t(X, Y) over all θ_t, (|X|, |Y|)."""
    return formula_of(tree).weighted_gram(tree, weights, X, Y)


def mean_diagonal(tree: Tree, X: Any, library: Library) -> Any:
    """Return k_θ(x, x) averaged over θ, (|X|)."""
    mean = library.einsum("tn->n", diagonal(tree, X, library)) / draws(tree)
    return mean + 0.0 * library.einsum("nd->n", X)


def draws(tree: Tree) -> int:
    """Return the number of θ of a tree."""
    if "parts" in tree:
        return draws(tree["parts"][0])
    return int(next(value.shape[0] for name, value in tree.items() if name != "type"))


def _types(tree: Tree) -> set[str]:
    return {tree["type"]}.union(*(_types(part) for part in tree.get("parts", [])))
