"""Functions of points, always evaluated for the same number of points at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpgp.blas import in_order
from dpgp.types import Array

SHARE = 2**14
"""Points that a thread takes at a time: more than a block of rows, which has its thread already."""


def in_pieces(function: Callable[[Array], Array], U: Array, size: int) -> Array:
    """Return what a function gives the rows of ``U``, always for ``size`` of them at a time.

    The last piece is filled up: a point's numbers must not depend on how many others there are.
    """

    def of_piece(piece: Array) -> Array:
        filled = np.zeros((size, U.shape[1]))
        filled[: len(piece)] = piece
        return function(filled)[:, : len(piece)]

    def of_share(share: Array) -> Array:
        return np.concatenate([of_piece(piece) for piece in _cut(share, size)], axis=1)

    if len(U) <= SHARE:
        return of_share(U)
    return np.concatenate(list(in_order(_cut(U, SHARE), of_share)), axis=1)


def _cut(rows: Array, size: int) -> list[Array]:
    return [rows[start : start + size] for start in range(0, max(len(rows), 1), size)]
