"""What a model is about and its guarantee, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import factor_text, text_up


def guarantee_in_words(certificate: Certificate) -> str:
    """Say in plain words what (ε, δ)-differential privacy promises."""
    if not certificate.is_private:
        return "This model is a simulation and NOT private: its noise can be repeated or is absent."
    unit, other = ("row", "any other")
    if certificate.protects_persons:
        unit, other = ("person's rows", "those of any other person")
    change = {
        Neighbours.REPLACE: f"Replace any one {unit} by {other}",
        Neighbours.ADD_REMOVE: f"Add or remove any one {unit}",
    }[certificate.neighbours]
    words = (
        f"{change}: the probability of anything that could be concluded from this model, by "
        "anybody with whatever other knowledge, changes by a factor of at most "
        f"{factor_text(certificate.epsilon)}, plus {text_up(certificate.delta)}."
    )
    if not certificate.members:
        return words
    count = len(certificate.members)
    own = "; ".join(member.title for member in certificate.members)
    return (
        f"{count} releases were pooled, which costs nobody anything. Each keeps its own guarantee "
        f"for its own people: {own}. For somebody who is in all {count} of them their μ² add up. "
        f"{words}"
    )


STRENGTHS = (
    (0.1, "very strong"),
    (1.0, "strong"),
    (3.0, "moderate"),
    (10.0, "weak"),
    (math.inf, "hardly any"),
)
"""Words for ε up to a limit; e^ε is 1.1, 2.7, 20 and 22,026 at the first four."""


def strength(epsilon: float) -> str:
    """Return a word for the protection that ε gives: a factor of e^ε, at most."""
    return next(word for limit, word in STRENGTHS if epsilon <= limit)


LARGEST_USUAL = 10.0
"""ε beyond which a guarantee is hardly one."""


class WeakGuaranteeWarning(UserWarning):
    """The ε or δ that was asked for promises little."""


def weak_points(epsilon: float, delta: float, rows: int | None) -> list[str]:
    """Return in sentences why a guarantee promises little; ``rows`` is public, or None.

    An infinite ε is meant: it is no guarantee, and the certificate says so.
    """
    found = []
    if LARGEST_USUAL < epsilon < math.inf:
        found.append(
            f"ε = {epsilon:g} promises {strength(epsilon)} protection: what can be "
            f"concluded about somebody may change by a factor of {factor_text(epsilon)}. "
            f"Choose {LARGEST_USUAL:g} or less."
        )
    if rows is not None and delta * rows >= 1.0:
        found.append(
            f"δ = {delta:g} is not below 1/rows; such a δ would allow to publish "
            "somebody's row as it is. Choose one far below."
        )
    return found


MOST_NAMES = 6
"""Inputs that a title names."""


def title_of(targets: Sequence[str], inputs: Sequence[str]) -> str:
    """Return what a model is called where nobody has said."""
    by = listed(inputs) if len(inputs) <= MOST_NAMES else f"{len(inputs)} inputs"
    return f"{listed(targets)} by {by}"


def listed(names: Sequence[str]) -> str:
    """Return names in a row, as a sentence has them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
