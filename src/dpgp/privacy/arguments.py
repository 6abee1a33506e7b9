"""Checks of public arguments: the name, the rule, and the value, which is public."""

import math
from enum import Enum
from numbers import Real
from typing import TypeVar

Choice = TypeVar("Choice", bound=Enum)

EPSILON, DELTA = 1.0, 1e-6
"""What is asked for where a user says nothing: a factor of at most e, and one in a million."""


def as_number(name: str, value: object) -> float:
    """Return `value` as a float; a TypeError if it is not a real number."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"`{name}` must be a number, got {type(value).__name__}.")
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def as_non_negative(name: str, value: float) -> float:
    """Return `value` as a float; a ValueError unless it is zero, positive or infinite."""
    number = as_number(name, value)
    if not number >= 0.0:
        raise ValueError(f"`{name}` must be zero or positive, got {number}.")
    return number


def as_positive(name: str, value: float) -> float:
    """Return `value` as a float; a ValueError unless it is positive, possibly infinite."""
    number = as_number(name, value)
    if not number > 0.0:
        raise ValueError(f"`{name}` must be positive, got {number}.")
    return number


def as_finite_positive(name: str, value: float) -> float:
    """Return `value` as a float; a ValueError unless it is positive and finite."""
    number = as_positive(name, value)
    if number == math.inf:
        raise ValueError(f"`{name}` must be finite, got {number}.")
    return number


def as_count(name: str, value: int) -> int:
    """Return `value` as an int; a ValueError unless it is a positive whole number."""
    number = as_finite_positive(name, value)
    if number != int(number):
        raise ValueError(f"`{name}` must be a whole number, got {number}.")
    return int(number)


def as_probability(name: str, value: float) -> float:
    """Return `value` as a float; a ValueError unless it lies strictly between zero and one."""
    number = as_number(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"`{name}` must be greater than 0 and less than 1, got {number}.")
    return number


def as_choice(name: str, kind: type[Choice], value: object) -> Choice:
    """Return the choice that is, or is called, `value`; a ValueError where there is none."""
    try:
        return kind(value)
    except ValueError:
        names = " or ".join(repr(choice.value) for choice in kind)
        raise ValueError(f"`{name}` must be {names}, got {value!r}.") from None
