"""Directed rounding: doubles, and what is printed of them, on the private side of the value."""

import math
from collections.abc import Iterable
from decimal import MAX_EMAX, ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

FEW_ROUNDINGS = 2.0**-48
"""Relative error of a handful of floating-point operations: sixteen units in the last place."""


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


def sum_up(values: Iterable[float]) -> float:
    """Sum that is not below the exact one; infinite where a value is."""
    numbers = list(values)
    return math.inf if math.inf in numbers else float_up(sum(map(Fraction, numbers), Fraction(0)))


def text_up(value: float, digits: int = 6) -> str:
    """Write a number with so many digits, rounded up: what is promised "at most"."""
    return _text(value, digits, ROUND_CEILING)


def text_down(value: float, digits: int = 6) -> str:
    """Write a number with so many digits, rounded down: the noise that is there "at least"."""
    return _text(value, digits, ROUND_FLOOR)


def _text(value: float, digits: int, rounding: str) -> str:
    with localcontext(prec=digits, rounding=rounding):
        return f"{float(+Decimal(repr(float(value)))):.{digits}g}"


def factor_text(epsilon: float) -> str:
    r"""Write :math:`e^\varepsilon` with three digits, rounded up, however large it is.

    Near one they are the digits of :math:`e^\varepsilon - 1`.
    """
    with localcontext(prec=60, Emax=MAX_EMAX):
        factor = Decimal(epsilon).exp().next_plus()
    whole = Decimal(1 if factor < 2 else 0)
    with localcontext(prec=60, Emax=MAX_EMAX):
        rest = factor - whole
    with localcontext(prec=3, rounding=ROUND_CEILING, Emax=MAX_EMAX):
        rest = +rest
    if factor >= 10**6:
        return f"{rest:.2e}"
    with localcontext(prec=60):
        return f"{(whole + rest).normalize():f}"
