"""What a fit is told, by options or by a study file: the same words, and each of them once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path

from dpgp.cli.columns import Column, LevelColumn
from dpgp.cli.failures import UsageError
from dpgp.decimal_mark import DecimalMark
from dpgp.missing import Missing
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.provenance import StudyRecord


@dataclass(frozen=True)
class Study:
    """Everything that a fit may be told; None where nothing is said. Public, all of it.

    ``record`` is of the file that said it, where one did.
    """

    title: str | None = None
    id: str | None = None
    data: str | None = None
    targets: tuple[Column, ...] | None = None
    classes: LevelColumn | None = None
    features: tuple[Column, ...] | None = None
    categories: tuple[LevelColumn, ...] | None = None
    epsilon: float | None = None
    delta: float | None = None
    output: Path | None = None
    neighbours: Neighbours | None = None
    unit: str | None = None
    max_rows_per_unit: int | None = None
    missing: Missing | None = None
    counts: bool | None = None
    decimal: DecimalMark | None = None
    rows: int | None = None
    ledger: Path | None = None
    partition: str | None = None
    record: StudyRecord | None = field(default=None, compare=False)


KEYS = tuple(each.name for each in fields(Study) if each.name != "record")

REPLACEABLE = ("data", "output", "rows")
"""What an option may say anew: none of it is a part of the guarantee."""


def with_study_file(options: Study, path: Path | None) -> Study:
    """Return options together with a study file; a UsageError where both make the same promise."""
    from dpgp.cli.study_file import read_study

    if path is None:
        return options
    said = {key: value for key in KEYS if (value := getattr(options, key)) is not None}
    file = read_study(path)
    for key in said:
        if key not in REPLACEABLE and getattr(file, key) is not None:
            raise UsageError(
                f"'{path}' says `{key}`, and so does the command line; remove one of them, so that "
                "the promise stands in one place."
            )
    together = {key: said.get(key, getattr(file, key)) for key in KEYS}
    return Study(**together, record=file.record)
