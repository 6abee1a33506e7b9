r"""Largest Euclidean change of a released sum between neighbouring data sets.

Squares are computed in exact rational arithmetic and their roots rounded up, so the returned
double is never below the true sensitivity for the given (double) bounds.
"""

from fractions import Fraction

from dpgp.privacy.arguments import as_count, as_finite_positive
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import sqrt_up


def _as_fraction(name: str, value: float) -> Fraction:
    """Return `value` as an exact fraction; an error unless it is positive and finite."""
    return Fraction(as_finite_positive(name, value))


def _units(neighbours: Neighbours) -> int:
    """How many orthogonal contributions differ: two when a unit is replaced, otherwise one."""
    return 2 if neighbours is Neighbours.REPLACE else 1


def gram_sensitivity(norm_bound: float, neighbours: Neighbours, rows_per_unit: int = 1) -> float:
    r"""Largest Frobenius change of :math:`\sum_i \psi_i\psi_i^\top` between neighbours.

    With :math:`\|\psi\| \le R` and at most m rows per unit: :math:`\sqrt2\,m R^2` when a unit is
    replaced, :math:`m R^2` when one is added or removed. Proof: docs/proofs/gram_sensitivity.md.
    """
    R, m = _as_fraction("norm_bound", norm_bound), as_count("rows_per_unit", rows_per_unit)
    return sqrt_up(_units(neighbours) * m**2 * R**4)


def moments_sensitivity(
    norm_bound: float, target_bound: float, ratio: float, neighbours: Neighbours
) -> float:
    r"""Largest change of :math:`(A, c\hat B) = \sum_i (y_i k_i, c\,t_b(k_i))` between neighbours.

    With :math:`\|k\| \le R_k`, :math:`|y| \le R_y`, :math:`c = \sigma_a/\sigma_b` and
    :math:`t = \min(R_k^2, R_y^2/2c^2)`:
    :math:`\Delta^2 = 2R_y^2R_k^2 + 2R_y^2t + 2c^2(R_k^4 - t^2)` when a row is replaced,
    :math:`\Delta^2 = R_k^2(R_y^2 + c^2R_k^2)` when one is added or removed. With a single feature
    the first is an upper bound, exact if :math:`c R_k \le R_y/\sqrt2`.
    Differs from HM21: eq. 6 leaves out that :math:`t \le R_k^2`.
    Proof: docs/proofs/moments_sensitivity.md.
    """
    R_k, R_y = _as_fraction("norm_bound", norm_bound), _as_fraction("target_bound", target_bound)
    c = _as_fraction("ratio", ratio)
    if neighbours is Neighbours.ADD_REMOVE:
        return sqrt_up(R_k**2 * (R_y**2 + c**2 * R_k**2))
    t = min(R_k**2, R_y**2 / (2 * c**2))
    return sqrt_up(2 * R_y**2 * R_k**2 + 2 * R_y**2 * t + 2 * c**2 * (R_k**4 - t**2))


def moments_sensitivity_as_printed(norm_bound: float, target_bound: float, ratio: float) -> float:
    r"""Upper bound on the replace sensitivity of :math:`(A, c\hat B)` in the form that HM21 prints.

    :math:`\Delta^2 = R_y^4/2c^2 + 2R_y^2R_k^2 + 2c^2R_k^4`, the square of
    :math:`\sqrt2\,cR_k^2 + R_y^2/(\sqrt2\,c)`. HM21 eq. 6.
    """
    R_k, R_y = _as_fraction("norm_bound", norm_bound), _as_fraction("target_bound", target_bound)
    c = _as_fraction("ratio", ratio)
    return sqrt_up(R_y**4 / (2 * c**2) + 2 * R_y**2 * R_k**2 + 2 * c**2 * R_k**4)


def histogram_sensitivity(columns: int, neighbours: Neighbours, rows_per_unit: int = 1) -> float:
    r"""Largest change of the joined histograms of D columns between neighbours.

    With at most m rows per unit, each in one bin of every column or in none:
    :math:`m\sqrt{2D}` when a unit is replaced, :math:`m\sqrt D` when one is added or removed.
    Proof: docs/proofs/gram_sensitivity.md.
    """
    D, m = as_count("columns", columns), as_count("rows_per_unit", rows_per_unit)
    return sqrt_up(Fraction(_units(neighbours) * m**2 * D))


def count_sensitivity(size: float, rows_per_unit: int = 1) -> float:
    r"""Largest change of weighted counts side by side between neighbours.

    With at most m rows per unit, each of which adds :math:`0` or :math:`w_j` to count j and
    :math:`\sum_j w_j^2 \le` ``size``: :math:`m\sqrt{\mathrm{size}}`, whether a unit is replaced,
    added or removed. Proof: docs/proofs/gram_sensitivity.md, §7.
    """
    m = as_count("rows_per_unit", rows_per_unit)
    return sqrt_up(m**2 * _as_fraction("size", size))


def bounded_sum_sensitivity(half_width: float, neighbours: Neighbours) -> float:
    r"""Largest change of a sum of values in :math:`[-R, R]` between neighbours.

    :math:`2R` when a value is replaced, :math:`R` when one is added or removed; values around a
    public centre are measured from it. Proof: docs/proofs/gram_sensitivity.md.
    """
    return _units(neighbours) * as_finite_positive("half_width", half_width)
