"""Directed rounding: doubles that are never below the exact value."""

import math
from fractions import Fraction


def float_up(value: Fraction) -> float:
    """Smallest double that is not below `value`."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def sqrt_up(square: Fraction) -> float:
    r"""Double not below :math:`\sqrt{q}`: exact if the root is a double, at most two steps above.

    With :math:`q = a/b` it is :math:`\lceil\sqrt{ab\,4^{64}}\rceil / (b\,2^{64})`, rounded up.
    """
    scaled = square.numerator * square.denominator << 128
    root = math.isqrt(scaled)
    root += root * root < scaled
    return float_up(Fraction(root, square.denominator << 64))
