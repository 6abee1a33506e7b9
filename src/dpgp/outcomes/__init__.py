"""Kinds of outcomes, one file each with all that a kind decides; docs/house.md says how to add one.

A kind is chosen once, from public options, and asked by everybody who meets a target.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpgp.outcomes.base import Location, ObservationLaw, OutcomeKind
from dpgp.outcomes.classes import Classes
from dpgp.outcomes.count import Counted
from dpgp.outcomes.number import NUMBER, Number
from dpgp.outcomes.ordered import OrderedClasses
from dpgp.outcomes.yes_no import YesNo

if TYPE_CHECKING:
    from dpgp.domain import Box

__all__ = [
    "KINDS",
    "NUMBER",
    "Location",
    "ObservationLaw",
    "OutcomeKind",
    "outcome_of",
    "outcome_options",
]

KINDS: list[type[OutcomeKind]] = [Number, Counted, YesNo, Classes, OrderedClasses]
"""A new kind is a line here. Numbers are what no option asks for."""


def outcome_options() -> list[str]:
    """Return the names of options that ask for a kind."""
    return [kind.option for kind in KINDS if kind.option is not None]


def outcome_of(target_box: Box, wishes: Mapping[str, bool]) -> OutcomeKind:
    """Return the kind that options ask for; an error where they ask for two, or for no kind."""
    unknown = sorted(wishes.keys() - set(outcome_options()))
    if unknown:
        raise TypeError(f"there is no option `{unknown[0]}`.")
    asked = [kind for kind in KINDS if kind.is_asked(target_box, wishes)] or [Number]
    if len(asked) > 1:
        words = " and ".join(f"`{kind.option or 'classes'}`" for kind in asked)
        raise ValueError(f"{words} contradict; a target is of one kind.")
    return asked[0].of(target_box)
