"""A target from 0 to 1 that may be two classes, told from its bounds before a fit spends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgp.study.errors import Words
from dpgp.study.table import option

if TYPE_CHECKING:
    from dpgp.options import Options


class ZeroOneWarning(UserWarning):
    """A target that is said to be a number may be yes or no."""


def told_of_classes(options: Options) -> list[Words]:
    """Return what whoever predicts a number from 0 to 1 may not know, a sentence a target."""
    box = options.target_box
    if not options.outcome.may_be_classes:
        return []
    columns = zip(box.column_names("target"), box.low, box.high, strict=True)
    return [_sentence(name) for name, low, high in columns if (low, high) == (0.0, 1.0)]


def _sentence(name: str) -> Words:
    rule = f"The bounds of {name} are 0 and 1: if it is never anything between, it is yes or no"
    gain = "its probability is then modelled as one, with intervals that fit"
    classes, number = option("classes"), option("target_bounds")
    return Words(
        f"{rule}. Fit PrivateGPClassifier with `classes=(0, 1)`: {gain}.",
        command=f"{rule}. Pass {classes.flag} {name}:0,1 instead of {number.flag}: {gain}.",
        page=f"{rule}. Choose “{classes.field}” for it: {gain}.",
    )
