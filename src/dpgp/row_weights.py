"""Rows with weights, as their first release tells: how many whole and how many effective ones.

A row of weight v = w/max adds v of itself to every sum, so that Σv plays the role of n, and noise
is that of whole rows. Sampling errors of Σv·r have the variance Σv²σ², less than Σv·σ². Sums that
are divided by ρ = Σv²/Σv are then, to any inference, those of Kish's (Σv)²/Σv² effective rows, with
noise 1/ρ as large: as if these had been fitted whole with the budget ρμ. docs/how-to/weights.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from dpgp.checked_values import as_fields, as_number

TYPICAL = 0.5  # of the bound, where nobody says what rows weigh on average; by hand
SURE = 2.0
"""Standard deviations of its noise by which Σv² is taken to be larger: one fit in forty then
believes in more effective rows than there are."""
LEAST = 2.0**-20  # of a whole row: what weighs less is lost in the arithmetic

_FIELDS = ("weights", "squares", "noise", "noise of squares")


@dataclass(frozen=True)
class ReleasedWeights:
    """The sum of all weights and of their squares, in whole rows, and the sds of their noise."""

    total: float
    squares: float
    noise_std: float
    squares_std: float

    @property
    def per_row(self) -> float:
        """What an effective row weighs, ρ = Σv²/Σv: never more than a whole one."""
        squares = max(self.squares, 0.0) + SURE * self.squares_std
        return min(max(squares / max(self.total, 2.0), LEAST), 1.0)

    @property
    def effective_rows(self) -> float:
        """As many rows of equal weights would tell as much."""
        return max(self.total, 2.0) / self.per_row

    def finding(self) -> dict[str, float]:
        """Return the numbers as a model file keeps them."""
        numbers = (self.total, self.squares, self.noise_std, self.squares_std)
        return dict(zip(_FIELDS, numbers, strict=True))

    @classmethod
    def found(cls, finding: Any) -> Self | None:
        """Return what the first step of a fit found; None where rows had no weights."""
        if not isinstance(finding, Mapping) or _FIELDS[0] not in finding:
            return None
        fields = as_fields(finding, "findings of weights", _FIELDS)
        return cls(*(as_number(fields[name], f"findings of weights, {name}") for name in _FIELDS))

    def __str__(self) -> str:
        return (
            f"weights add up to {self.total:,.0f} whole rows (± {2 * self.noise_std:,.0f}), which "
            f"tell at least as much as {self.effective_rows:,.0f} rows of equal weights"
        )
