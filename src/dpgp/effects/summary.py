"""What matters for one target, in short: for figures, reports and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpgp.effects.averages import partial_dependence
from dpgp.effects.importance import Sensitivity
from dpgp.effects.records import Effect, Importance, percent
from dpgp.inference.conformal import COVERAGE

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

MOST_CURVES = 6
"""Inputs that are shown; all others are summed up in a sentence."""


@dataclass(frozen=True)
class ImportantInput:
    """The partial dependence of an input, by its number."""

    column: int
    along: Effect


@dataclass(frozen=True)
class WhatMatters:
    """Importance of all inputs of a target, and partial dependence of the most important ones."""

    model: FittedModel
    target: int
    sensitivity: Sensitivity
    importance: Importance
    curves: tuple[ImportantInput, ...]

    @property
    def others(self) -> str:
        """What is to be said of the inputs that are not shown; nothing where all are."""
        rest = self.importance.total[MOST_CURVES:]
        if not rest:
            return ""
        most = percent(max(share.high for share in rest))
        count = f"{len(rest)} more inputs have" if len(rest) > 1 else "One more input has"
        each = " each" if len(rest) > 1 else ""
        return f"{count} a part in at most {most} of the variance{each} (95 % intervals)."


def what_matters(model: FittedModel, target: int | None) -> WhatMatters:
    """Return what matters for a target."""
    sensitivity = Sensitivity.of(model, target)
    k = sensitivity.f.target
    curves = tuple(
        ImportantInput(n, partial_dependence(model, n, COVERAGE, k))
        for n in sensitivity.order[:MOST_CURVES]
    )
    return WhatMatters(model, k, sensitivity, sensitivity.importance(), curves)
