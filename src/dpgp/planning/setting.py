"""The public numbers that a design and its forecast start from."""

from __future__ import annotations

from dataclasses import dataclass

from dpgp.options import Options
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.privacy.neighbours import Neighbours


@dataclass(frozen=True)
class Setting:
    """Rows, inputs, budget, units and outcome of a fit."""

    n: float
    columns: int
    mu: float
    neighbours: Neighbours = Neighbours.REPLACE
    rows_per_unit: int = 1
    targets: int = 1
    outcome: OutcomeKind = NUMBER

    @property
    def signal(self) -> float:
        """nμ over the rows of a unit: how many rows stand out of the noise of a count."""
        return self.n * self.mu / self.rows_per_unit

    @classmethod
    def of(cls, options: Options, n: float, mu: float) -> Setting:
        """Return the setting of a fit of ``n`` rows with these options and a budget μ."""
        return cls(
            n,
            options.columns,
            mu,
            options.neighbours,
            options.max_rows_per_unit,
            options.n_targets,
            options.outcome,
        )
