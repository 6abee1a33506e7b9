"""What a fit is asked to release: read from the command line, checked before any file is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dpgp.cli.columns import Column, check_distinct, read_columns
from dpgp.cli.failures import UsageError
from dpgp.privacy.neighbours import Neighbours


class Missing(StrEnum):
    """What to do with incomplete rows."""

    ERROR = "error"
    IGNORE = "ignore"


@dataclass(frozen=True)
class Request:
    """Columns, bounds and guarantee of a fit: public, all of it."""

    features: tuple[Column, ...]
    targets: tuple[Column, ...]
    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str | None = None
    max_rows_per_unit: int = 1
    missing: Missing = Missing.ERROR

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        columns = [column.name for column in (*self.features, *self.targets)]
        return columns if self.unit is None or self.unit in columns else [*columns, self.unit]

    @property
    def row_count_is_public(self) -> bool:
        """Whether neighbours have the same number of usable rows."""
        replaced = self.neighbours is Neighbours.REPLACE
        return replaced and self.unit is None and self.missing is Missing.ERROR

    @property
    def protects(self) -> str:
        """The unit of privacy in words."""
        change = {
            Neighbours.REPLACE: "replaced by any other",
            Neighbours.ADD_REMOVE: "added or removed",
        }[self.neighbours]
        if self.unit is None:
            return f"one row, {change}; name people who have several with --unit"
        most = self.max_rows_per_unit
        rows = "the first row counts" if most == 1 else f"the first {most} rows count"
        return f"one '{self.unit}', of which {rows}, {change}"


def read_request(
    features: Sequence[str],
    targets: Sequence[str],
    epsilon: float,
    delta: float,
    neighbours: Neighbours = Neighbours.REPLACE,
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
    missing: Missing = Missing.ERROR,
) -> Request:
    """Check what can be checked without data."""
    from dpgp.privacy.arguments import as_finite_positive, as_probability
    from dpgp.sources.tables import clean_name

    if unit is None and max_rows_per_unit is not None:
        raise UsageError(
            "--max-rows-per-unit needs --unit, the column that says whose a row is; add it."
        )
    as_finite_positive("--epsilon", epsilon)
    as_probability("--delta", delta)
    request = Request(
        tuple(read_columns("--feature", features)),
        tuple(read_columns("--target", targets)),
        epsilon,
        delta,
        neighbours,
        None if unit is None else clean_name(unit),
        max_rows_per_unit or 1,
        missing,
    )
    check_distinct([*request.features, *request.targets])
    return request
