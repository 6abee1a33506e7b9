"""What an attacker can learn from a model about one person, in words."""

from __future__ import annotations

import math

from dpgp.privacy.rounding import factor_text, text_up
from dpgp.report.guarantee import strength


def certainty(epsilon: float) -> int:
    r"""Per cent that an even guess can become at most: :math:`e^\epsilon/(1+e^\epsilon)`."""
    return math.ceil(100.0 / (1.0 + math.exp(-epsilon)))


def in_words(epsilon: float, delta: float) -> list[str]:
    """Say what a guarantee means for one person."""
    sure = certainty(epsilon)
    return [
        f"{strength(epsilon).capitalize()} protection.",
        "Somebody who knows all about everybody else in the table, and for whom a guess about one "
        f"person is as likely right as wrong, can become "
        f"{f'at most {sure} %' if sure < 100 else 'practically'} sure by studying the model.",
        f"A harm that would befall a person with a chance of 1 in 1,000 without their data has a "
        f"chance of at most {factor_text(epsilon)} in 1,000 with them.",
        f"Both hold but for a chance of {text_up(delta)} (δ).",
    ]
