"""The budget that steps share, and the public numbers by which they share it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpgp.options import Options

TYPICAL_ROWS = 2000  # stands in for a number of rows that is private: that of a survey


@dataclass(frozen=True)
class Purse:
    """A budget μ for a fit of ``public_rows`` rows, None where their number is private.

    ``left`` is the part of μ² that steps with a price of their own leave to the stages.
    """

    options: Options
    mu: float
    public_rows: float | None
    left: float = 1.0

    @property
    def rows(self) -> float:
        """The number of rows that shares are chosen for: a fixed one where it is private."""
        return TYPICAL_ROWS if self.public_rows is None else self.public_rows

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return self.options.columns

    @property
    def signal(self) -> float:
        """nμ over the rows of a unit: how many rows stand out of the noise of a count."""
        return self.rows * self.mu / self.options.max_rows_per_unit

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing has a price (ε = ∞)."""
        return math.isinf(self.mu)

    @property
    def clips_residuals(self) -> bool:
        """Whether stages clip residuals: nowhere without noise, and not of every outcome."""
        return self.options.outcome.is_clipped and not self.is_unlimited
