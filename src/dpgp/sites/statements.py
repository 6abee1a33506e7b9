"""What sites say of themselves on joining, and the transcript that begins with it.

All hear it of all, and each checks by itself. The transcript is one hash of all that a site has
agreed to, asked and heard. Masks come from it, so that those of two sites cancel only where both
hold the same transcript.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpgp.checked_values import ModelFileError, as_fields, as_flag, as_text, as_whole
from dpgp.sites.roster import SitesError


class Transcript:
    """A chain of hashes, of which every link commits to all that was added before."""

    def __init__(self, beginning: bytes) -> None:
        self.digest = _hash(beginning)

    def add(self, what: str, content: bytes) -> None:
        """Go on with what was asked or heard."""
        self.digest = _hash(self.digest + _hash(what.encode()) + _hash(content))


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


MOST_ROWS = 2**60
"""Of so many rows no sum wraps around. Proof: docs/proofs/sites.md."""


@dataclass(frozen=True)
class Statement:
    """A site's own: a fresh ``nonce``, a hash of the fit that it wants, how it computes.

    ``rows`` is None where their number is private; ``simulation`` says that its noise has a seed.
    """

    nonce: str
    terms: str
    rows: int | None
    simulation: bool
    arithmetic: str

    @classmethod
    def read(cls, said: Any) -> Statement:
        """Return what another party sent; an error where it is no statement."""
        try:
            told = as_fields(said, "statement", [field.name for field in fields(cls)])
            return cls(
                nonce=as_text(told["nonce"], "nonce"),
                terms=as_text(told["terms"], "terms"),
                rows=None if told["rows"] is None else as_whole(told["rows"], "rows", 0, MOST_ROWS),
                simulation=as_flag(told["simulation"], "simulation"),
                arithmetic=as_text(told["arithmetic"], "arithmetic"),
            )
        except ModelFileError as error:
            raise SitesError(
                f"what a site says on joining is wrong: {error} Compare versions of dpgp."
            ) from None


@dataclass(frozen=True)
class Agreement:
    """What the statements of all sites come to.

    ``rows`` is the number of rows of all of them, None where it is private. ``is_even`` says
    whether all have the same arithmetic, to the last bit.
    """

    rows: int | None
    is_even: bool


def read_statements(said: Any) -> dict[str, Statement]:
    """Return the statements of all sites, by name, as the coordinator passes them on."""
    if not isinstance(said, dict):
        raise SitesError("the coordinator did not say who takes part; compare versions of dpgp.")
    return {name: Statement.read(statement) for name, statement in said.items()}


def as_json(statements: Mapping[str, Statement]) -> dict[str, dict[str, Any]]:
    """Return what :func:`read_statements` reads."""
    return {name: asdict(statement) for name, statement in statements.items()}


def transcript_of(statements: Mapping[str, Statement]) -> Transcript:
    """Begin a transcript with all that was said on joining; the terms have the roster in them."""
    return Transcript(json.dumps(as_json(statements), sort_keys=True).encode())


def agreed(statements: Mapping[str, Statement]) -> Agreement:
    """Return what all sites want; an error where they do not want the same."""
    everybody = list(statements.values())
    if len({said.terms for said in everybody}) > 1:
        raise SitesError(
            "the sites do not want the same fit; columns, bounds, guarantee, roster and version of "
            "dpgp must be equal everywhere."
        )
    if len({said.simulation for said in everybody}) > 1:
        seeded = ", ".join(f"'{name}'" for name, said in statements.items() if said.simulation)
        raise SitesError(
            f"these sites simulate, with a seed, and others do not: {seeded}; nothing would be "
            "private. Nothing was sent; leave `random_state` out at every site."
        )
    return Agreement(_all_rows(everybody), len({said.arithmetic for said in everybody}) == 1)


def _all_rows(everybody: list[Statement]) -> int | None:
    counts = [said.rows for said in everybody if said.rows is not None]
    if 0 < len(counts) < len(everybody):
        raise SitesError("not all sites said how many rows they have; compare versions of dpgp.")
    if sum(counts) > MOST_ROWS:
        raise SitesError(
            "the sites say that they have more rows than can be added, which is 2^60; ask who "
            "leads the fit."
        )
    return sum(counts) if counts else None
