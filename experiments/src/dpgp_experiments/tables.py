"""Means over repeats with their standard errors, and records of them as CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

Record = Mapping[str, str | int | float]


class Estimate(NamedTuple):
    """A mean over repeats and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """Average over repeats; one repeat has no standard error."""
        sample = np.array(list(values), dtype=np.float64)
        error = sample.std(ddof=1) / math.sqrt(len(sample)) if len(sample) > 1 else math.nan
        return cls(float(sample.mean()), float(error))

    def columns(self, name: str) -> dict[str, float]:
        """Return the two columns that hold this estimate in a record."""
        return {name: self.mean, f"{name}_se": self.error}

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"


class NamedTrial(Protocol):
    """What was tried: a named tuple."""

    def _asdict(self) -> dict[str, Any]: ...


def averaged(
    trial: NamedTrial, scores: Sequence[object], measures: Iterable[str]
) -> dict[str, str | int | float]:
    """Return what was tried, how often, and the mean of every measure with its error."""
    columns: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(scores)}
    for name in measures:
        columns |= Estimate.of(getattr(each, name) for each in scores).columns(name)
    return columns


def write_csv(records: Sequence[Record], path: Path) -> None:
    """Write records with the columns of the first; floats keep all their digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
