"""Public arguments: what is accepted, at the very ends of the rule, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpgp import Ledger, PrivateGPClassifier, PrivateGPRegressor, plan
from dpgp.privacy.arguments import (
    DELTA,
    EPSILON,
    as_choice,
    as_count,
    as_finite_positive,
    as_non_negative,
    as_number,
    as_positive,
    as_probability,
)
from dpgp.privacy.neighbours import Neighbours

TINY, BELOW_ONE = 5e-324, math.nextafter(1.0, 0.0)
HUGE = 1.7976931348623157e308


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_every_real_number_becomes_a_float(value):
    for check in (as_number, as_non_negative, as_positive, as_finite_positive):
        assert type(check("x", value)) is float
        assert check("x", value) == 2.0
    assert type(as_count("x", value)) is int


def test_whole_numbers_beyond_all_floats_are_infinite_with_their_sign():
    assert as_number("x", 10**400) == math.inf
    assert as_number("x", -(10**400)) == -math.inf


@pytest.mark.parametrize("value", ["1", None, True, False, 1j, [1.0]])
@pytest.mark.parametrize(
    "check", [as_non_negative, as_positive, as_finite_positive, as_count, as_probability]
)
def test_what_is_no_number_is_refused_by_its_type(check, value):
    with pytest.raises(TypeError, match=rf"^`x` must be a number, got {type(value).__name__}\.$"):
        check("x", value)


X, Y = np.linspace(0.0, 1.0, 40)[:, None], np.arange(40) % 2
PUBLIC = {"bounds": [(0, 1)], "delta": 1e-6}
DOORS = {
    "regressor": lambda path, **asked: PrivateGPRegressor(
        target_bounds=(0, 1), **PUBLIC | asked
    ).fit(X, Y),
    "classifier": lambda path, **asked: PrivateGPClassifier(classes=[0, 1], **PUBLIC | asked).fit(
        X, Y
    ),
    "plan": lambda path, **asked: plan(n=5000, target_bounds=(0, 1), **PUBLIC | asked),
    "plan of classes": lambda path, **asked: plan(n=5000, classes=[0, 1], **PUBLIC | asked),
    "ledger": lambda path, **asked: Ledger(path, **{"epsilon": 1.0, "delta": 1e-6} | asked),
}


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_a_budget_in_quotation_marks_is_refused_by_its_name_at_every_door(tmp_path, door, name):
    with pytest.raises(TypeError, match=rf"^`{name}` must be a number, got str\.$"):
        door(tmp_path / "people.ledger", **{name: "1"})


@pytest.mark.parametrize(
    ("check", "accepted", "refused"),
    [
        (as_non_negative, [0.0, TINY, 0.5, math.inf], [-TINY, -math.inf, math.nan]),
        (as_positive, [TINY, 0.5, math.inf], [0.0, -TINY, math.nan]),
        (as_finite_positive, [TINY, 0.5, HUGE], [0.0, -1.0, math.inf, math.nan]),
        (as_count, [1, 10**6], [0, -1, 1.5, 0.5, math.inf, math.nan]),
        (as_probability, [TINY, 0.5, BELOW_ONE], [0.0, 1.0, -0.5, 1.5, math.nan]),
    ],
)
def test_rules_hold_up_to_their_ends(check, accepted, refused):
    assert [check("x", value) for value in accepted] == accepted
    for value in refused:
        with pytest.raises(ValueError, match=r"^`x` must be "):
            check("x", value)


def test_who_says_nothing_asks_for_a_factor_of_e_and_one_in_a_million():
    assert math.exp(EPSILON) == math.e
    assert Fraction(str(DELTA)) == Fraction(1, 10**6)


def test_choices_are_named():
    assert as_choice("neighbours", Neighbours, "add-remove") is Neighbours.ADD_REMOVE
    assert as_choice("neighbours", Neighbours, Neighbours.REPLACE) is Neighbours.REPLACE
    with pytest.raises(ValueError, match="`neighbours` must be 'replace' or 'add-remove', got 'x'"):
        as_choice("neighbours", Neighbours, "x")
