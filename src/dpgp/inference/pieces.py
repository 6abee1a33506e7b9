"""Functions of points, always evaluated for the same number of points at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpgp.blas import in_order

Array = NDArray[np.float64]

MANY_POINTS = 2**13
"""From here on threads share the pieces: more than a block of rows, which a thread has anyway."""


def in_pieces(function: Callable[[Array], Array], U: Array, size: int) -> Array:
    """Return what a function gives the rows of ``U``, always for ``size`` of them at a time.

    The last piece is filled up: a point's numbers must not depend on how many others there are.
    """

    def of_piece(start: int) -> Array:
        piece = U[start : start + size]
        filled = np.zeros((size, U.shape[1]))
        filled[: len(piece)] = piece
        return function(filled)[:, : len(piece)]

    starts = range(0, max(len(U), 1), size)
    pieces = in_order(starts, of_piece) if len(U) >= MANY_POINTS else map(of_piece, starts)
    return np.concatenate(list(pieces), axis=1)
