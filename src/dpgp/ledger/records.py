"""What stands in a ledger: frozen records, written as plain objects and checked when read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpgp.checked_values import (
    LONGEST_TEXT,
    ModelFileError,
    as_choice,
    as_fields,
    as_flag,
    as_number,
    as_part,
    as_positive,
    as_text,
    as_whole,
    number_to_json,
    with_present,
)
from dpgp.plain_text import is_name
from dpgp.privacy.books import GaussianRelease
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.parts import RowPart


class LedgerError(ValueError):
    """A file that is no ledger, was edited, cannot be written, or says something else."""


PROTECTS = ("row", "person")
OUTCOMES = ("complete", "failed")
MOST_LISTED = 10_000  # releases of a fit and groups of people: far beyond any, far below any harm


@dataclass(frozen=True)
class Opened:
    """The cap, for whom it holds, and which groups of people were declared disjoint."""

    epsilon: float
    delta: float
    neighbours: Neighbours
    protects: str
    disjoint: tuple[str, ...]


@dataclass(frozen=True)
class Reserved:
    """A fit is about to begin: from here on all of ``mu`` is spent, whatever happens.

    ``partition`` is None where everybody is concerned; a ``simulation`` has seeded noise, promises
    nothing and is not counted.
    """

    fit: str
    partition: str | None
    epsilon: float
    delta: float
    mu: float
    eta: float
    planned: tuple[str, ...]
    simulation: bool


@dataclass(frozen=True)
class Closed:
    """A fit came to an orderly end, and these releases are all for which noise was drawn."""

    fit: str
    outcome: str
    releases: tuple[GaussianRelease, ...]


@dataclass(frozen=True)
class Other:
    """What another mechanism released of the same people, (ε, δ)-DP as a whole."""

    label: str
    partition: str | None
    epsilon: float
    delta: float


Record = Opened | Reserved | Closed | Other


def record_to_json(record: Record) -> dict[str, Any]:
    """Return a record as a plain object that says of which kind it is."""
    fields = {name: _plain(value) for name, value in vars(record).items()}
    return {"kind": type(record).__name__.lower(), **fields}


def _plain(value: Any) -> Any:
    if isinstance(value, Neighbours):
        return value.value
    if isinstance(value, GaussianRelease):
        part = {} if value.part is None else {"part": [value.part.number, value.part.of]}
        return {name: _plain(getattr(value, name)) for name in _RELEASE} | part
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return number_to_json(value) if isinstance(value, float) else value


def record_from_json(value: Any) -> Record:
    """Return the record that an object describes; a LedgerError where it describes none."""
    try:
        kind = as_choice(value.get("kind") if isinstance(value, dict) else None, "kind", READ)
        names, read = READ[kind]
        fields = as_fields(value, kind, ("kind", *names))
        return read(fields)
    except ModelFileError as error:
        raise LedgerError(str(error)) from None


def _opened(fields: Mapping[str, Any]) -> Opened:
    relations = tuple(relation.value for relation in Neighbours)
    names = tuple(_name(item, "disjoint") for item in _listed(fields["disjoint"], "disjoint"))
    if len(set(names)) < len(names):
        raise ModelFileError("`disjoint` names a group twice.")
    return Opened(
        epsilon=as_positive(fields["epsilon"], "epsilon"),
        delta=_probability(fields["delta"]),
        neighbours=Neighbours(as_choice(fields["neighbours"], "neighbours", relations)),
        protects=as_choice(fields["protects"], "protects", PROTECTS),
        disjoint=names,
    )


def _reserved(fields: Mapping[str, Any]) -> Reserved:
    return Reserved(
        fit=as_text(fields["fit"], "fit"),
        partition=_partition(fields["partition"]),
        epsilon=as_positive(fields["epsilon"], "epsilon", infinite=True),
        delta=_probability(fields["delta"]),
        mu=as_number(fields["mu"], "mu", low=0.0, infinite=True),
        eta=as_number(fields["eta"], "eta", low=0.0),
        planned=tuple(as_text(x, "planned") for x in _listed(fields["planned"], "planned")),
        simulation=as_flag(fields["simulation"], "simulation"),
    )


def _closed(fields: Mapping[str, Any]) -> Closed:
    return Closed(
        fit=as_text(fields["fit"], "fit"),
        outcome=as_choice(fields["outcome"], "outcome", OUTCOMES),
        releases=tuple(_release(item) for item in _listed(fields["releases"], "releases")),
    )


def _other(fields: Mapping[str, Any]) -> Other:
    return Other(
        label=as_text(fields["label"], "label"),
        partition=_partition(fields["partition"]),
        epsilon=as_number(fields["epsilon"], "epsilon", low=0.0),
        delta=as_number(fields["delta"], "delta", low=0.0),
    )


_RELEASE = ("label", "sensitivity", "noise_std", "coordinates", "smallest_scale")


def _release(value: Any) -> GaussianRelease:
    fields = as_fields(value, "releases", with_present(_RELEASE, value, "part"))
    part = as_part(fields, "part")
    return GaussianRelease(
        label=as_text(fields["label"], "label"),
        sensitivity=as_positive(fields["sensitivity"], "sensitivity"),
        noise_std=as_number(fields["noise_std"], "noise_std", low=0.0),
        coordinates=as_whole(fields["coordinates"], "coordinates", 1, 10**12),
        smallest_scale=as_number(fields["smallest_scale"], "smallest_scale", low=0.0),
        part=None if part is None else RowPart(*part),
    )


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_LISTED:
        raise ModelFileError(f"`{where}` must be a list of at most {MOST_LISTED} items.")
    return value


def _partition(value: Any) -> str | None:
    return None if value is None else _name(value, "partition")


def _name(value: Any, where: str) -> str:
    text = as_text(value, where)
    if not is_name(text):
        raise ModelFileError(f"`{where}` must hold names without control characters.")
    return text


def _probability(value: Any) -> float:
    number = as_positive(value, "delta")
    if not number < 1.0 or math.isnan(number):
        raise ModelFileError("`delta` must be less than 1.")
    return number


READ: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Record]]] = {
    "opened": (tuple(Opened.__dataclass_fields__), _opened),
    "reserved": (tuple(Reserved.__dataclass_fields__), _reserved),
    "closed": (tuple(Closed.__dataclass_fields__), _closed),
    "other": (tuple(Other.__dataclass_fields__), _other),
}

LONGEST_BODY = 1000 * LONGEST_TEXT
