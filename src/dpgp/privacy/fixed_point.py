r"""Columns of real numbers as columns of integers whose norm bound is checked exactly.

The grid has :math:`2^b` steps to the unit, b = 20. A column :math:`\psi` with norm at most one is
shrunk by the public factor :math:`1 - \sqrt d\,2^{-b}` and rounded to the nearest grid point, which
keeps the norm below one; the norm is then verified in integers, and a column that fails contributes
nothing. Proof: docs/proofs/exact_sums.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgp.types import Array

FRACTION_BITS = 20  # rounding below any noise, and 2¹² rows a block: docs/proofs/exact_sums.md
UNIT = 2.0**FRACTION_BITS  # integers that stand for one


def shrinkage(dimension: int) -> float:
    r"""Return :math:`1 - \sqrt d\,2^{-b}`, the factor that leaves room for rounding."""
    return 1.0 - math.sqrt(dimension) / UNIT


def round_columns(psi: Array) -> None:
    """Turn columns of norm at most one into integer columns of norm at most 2^b, in place.

    Longer columns are scaled back to norm one; what is still too long, or not a number, becomes
    zero.
    """
    psi *= shrinkage(len(psi)) * UNIT
    np.rint(psi, out=psi)
    squares = _squared_norms(psi)
    if not _fit(squares).all():
        # of the whole block: the memory layout of some of its columns depends on which they are
        np.copyto(psi, _shortened(psi, squares), where=~_fit(squares))


def _squared_norms(columns: Array) -> Array:
    """‖q‖², exact up to 2^53: every term and every partial sum is an integer."""
    return np.asarray(np.einsum("ij,ij->j", columns, columns))


def _fit(squares: Array) -> NDArray[np.bool_]:
    """‖q‖² ≤ 2^{2b}; not where it is no number."""
    return np.asarray(squares <= UNIT**2)


def _shortened(columns: Array, squares: Array) -> Array:
    """Return all columns at norm one, in integers; zero where that fails."""
    with np.errstate(all="ignore"):  # whatever is infinite or no number ends as zero
        shortened = columns / np.sqrt(squares)
        shortened *= shrinkage(len(columns)) * UNIT
        np.rint(shortened, out=shortened)
        shortened[:, ~_fit(_squared_norms(shortened))] = 0.0
    return shortened


def round_targets(targets: Array) -> None:
    """Turn targets in [−1, 1] into integers in [−2^b, 2^b], in place; what is no number into 0."""
    np.clip(targets, -1.0, 1.0, out=targets)
    targets *= UNIT
    np.rint(targets, out=targets)
    targets[np.isnan(targets)] = 0.0
