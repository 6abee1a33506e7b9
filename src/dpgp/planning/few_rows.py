"""Where rows are so few that a fit is vain, told without a plan."""

from __future__ import annotations

from dpgp.privacy.books import mu_of_guarantee
from dpgp.study.errors import RefusedError

DOCUMENT = "docs/choosing-epsilon.md"
FEWEST = 14.0
"""n·μ below which plans of one to three inputs find nothing better than the mean, at any ε."""


class FewRowsWarning(UserWarning):
    """Noise will hide all that so few rows can show."""


def are_few(rows: int, epsilon: float, delta: float) -> bool:
    """Return whether nothing but the mean of the target can be learned."""
    return rows * mu_of_guarantee(epsilon, delta) < FEWEST


def nothing_better(rows: int, epsilon: float) -> RefusedError:
    """Return the error that says so, with the remedy."""
    return RefusedError(
        f"with n = {rows:,} and epsilon = {epsilon:g} no choice beats predicting the mean",
        "raise `epsilon`, collect more rows or tighten the bounds",
        DOCUMENT,
        code="few-rows",
    )
