"""What is printed of a guarantee is never better than the guarantee."""

import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.books import GaussianRelease
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import (
    FEW_ROUNDINGS,
    factor_text,
    float_up,
    sqrt_up,
    sum_up,
    text_down,
    text_up,
)
from dpgp.report.guarantee import guarantee_in_words

numbers = st.floats(1e-300, 1e300)
fractions = st.fractions(0, 10**9)


def is_smallest_above(value, exact):
    return Fraction(math.nextafter(value, -math.inf)) < exact <= Fraction(value)


@given(fractions)
def test_nothing_but_the_smallest_double_above_is_taken(exact):
    assert is_smallest_above(float_up(exact), exact)


@given(fractions)
def test_roots_are_not_below_the_exact_one_and_two_steps_above_at_most(square):
    root = sqrt_up(square)
    two_below = math.nextafter(math.nextafter(root, -math.inf), -math.inf)
    assert Fraction(root) ** 2 >= square
    assert two_below < 0 or Fraction(two_below) ** 2 < square


@given(st.lists(st.floats(0.0, 1e300), max_size=5))
def test_sums_are_the_smallest_double_above(values):
    assert is_smallest_above(sum_up(iter(values)), sum(map(Fraction, values)))


def test_a_sum_with_something_infinite_is_infinite():
    assert sum_up([1.0, math.inf]) == math.inf
    assert sum_up([]) == 0.0


def test_a_few_roundings_are_sixteen_units_in_the_last_place():
    assert 16 * sys.float_info.epsilon == FEW_ROUNDINGS


@given(numbers, st.integers(1, 15))
def test_printed_numbers_are_rounded_to_their_side(value, digits):
    exact, relative = Fraction(repr(value)), Fraction(10) ** (1 - digits)
    up, down = Fraction(text_up(value, digits)), Fraction(text_down(value, digits))
    assert exact <= up <= exact * (1 + relative)
    assert exact * (1 - relative) <= down <= exact


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1e-6, "1e-06"), (1.0, "1"), (0.0, "0"), (2.00000049, "2.00001"),
     (math.inf, "inf"), (math.nan, "nan")],
)  # fmt: skip
def test_numbers_that_need_no_rounding_stay_as_they_are(value, text):
    assert text_up(value) == text


@given(st.floats(1e-12, 700.0))
def test_the_printed_factor_is_at_least_the_true_one_and_close(epsilon):
    printed = Fraction(factor_text(epsilon))
    assert printed >= Fraction(math.exp(epsilon)) * (1 - Fraction(2) ** -51)
    assert printed - 1 >= Fraction(math.expm1(epsilon)) * (1 - Fraction(2) ** -50)
    small = math.expm1(epsilon) < 1.0
    close = math.expm1(epsilon) if small else math.exp(epsilon)
    assert float(printed - 1 if small else printed) <= 1.011 * close


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(0.7, "2.02"), (1.0, "2.72"), (1e-3, "1.00101"), (0.1, "1.106"),
     (5.0, "149"), (10.0, "22100"), (14.0, "1.21e+6"), (50.0, "5.19e+21"),
     (750.0, "5.26e+325"), (1e4, "8.81e+4342")],
)  # fmt: skip
def test_factors(epsilon, text):
    assert factor_text(epsilon) == text


def test_certificates_never_claim_more_than_they_have():
    release = GaussianRelease("a", 1.0000001, 1.99999999, 3, 2.0**40)
    certificate = Certificate(
        1.00000049, 1.0000004e-6, Neighbours.REPLACE, 0.5000000049, (release,), False
    )
    text = str(certificate)
    assert "(1.00001, 1.00001e-06)-differential privacy, mu = 0.500001." in text
    assert "sensitivity 1.00001, noise 1.99999, mu 0.500001" in text
    assert certificate.rows()[0][2:] == ["1.001", "1.999", "0.5001"]
    assert "at most 2.72, plus 1.00001e-06." in guarantee_in_words(certificate)
