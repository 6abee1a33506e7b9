"""What may be meant otherwise, told from public choices before a fit spends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dpgp.study.errors import Words
from dpgp.study.table import option

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.options import Options

MANY_DIGITS = 5
"""Digits of both bounds from which on they look read from the data; years have four. By hand."""


class ZeroOneWarning(UserWarning):
    """A target that is said to be a number may be yes or no."""


class PreciseBoundsWarning(UserWarning):
    """Bounds look as if they were read from the data, which no guarantee covers."""


class Doubt(NamedTuple):
    """What to ask oneself, why, and the warning of it in Python."""

    question: str
    words: Words
    warning: type[UserWarning]


def doubts(options: Options) -> list[Doubt]:
    """Return all that whoever asks may not have thought of."""
    boxes = {"input": options.box, "target": options.target_box}
    precise = [doubt for kind, box in boxes.items() for doubt in _precise_bounds(box, kind)]
    return [*_two_classes(options), *precise]


def _two_classes(options: Options) -> Iterator[Doubt]:
    """A number from 0 to 1 may be two classes."""
    box = options.target_box
    columns = zip(box.column_names("target"), box.low, box.high, strict=True)
    for name, low, high in columns:
        if options.outcome.may_be_classes and (low, high) == (0.0, 1.0):
            yield Doubt("Yes or no?", _of_classes(name), ZeroOneWarning)


def _of_classes(name: str) -> Words:
    rule = f"The bounds of {name} are 0 and 1: if it is never anything between, it is yes or no"
    gain = "its probability is then modelled as one, with intervals that fit"
    classes, number = option("classes"), option("target_bounds")
    return Words(
        f"{rule}. Fit PrivateGPClassifier with `classes=(0, 1)`: {gain}.",
        command=f"{rule}. Pass {classes.flag} {name}:0,1 instead of {number.flag}: {gain}.",
        page=f"{rule}. Choose “{classes.field}” for it: {gain}.",
    )


def _precise_bounds(box: Box, kind: str) -> Iterator[Doubt]:
    """Least and largest values of a table have many digits; what is known without it has few."""
    columns = zip(box.column_names(kind), box.low, box.high, strict=True)
    for name, low, high in columns:
        # no table is symmetric to the last digit, as ±π is
        if min(_digits(low), _digits(high)) >= MANY_DIGITS and low != -high:
            words = Words(
                f"The bounds of {name}, {low:.6g} and {high:.6g}, have so many digits that they "
                "look read from the data: then they tell of single people, and the guarantee does "
                "not hold. Take round ones that are known without this table."
            )
            yield Doubt("Read from the data?", words, PreciseBoundsWarning)


def _digits(value: float) -> int:
    """How many digits a number has before zeros fill it up, of the first six."""
    return len(f"{value:.5e}".lstrip("-").split("e")[0].replace(".", "").rstrip("0"))
