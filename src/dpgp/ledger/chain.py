"""A chain of hashes: every entry is bound to all before it, so that an edit shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dpgp.ledger.errors import LedgerError

START = "0" * 64


@dataclass(frozen=True)
class LedgerEntry:
    """One line of a ledger: its number, what it says as canonical JSON, and its link."""

    number: int
    text: str
    link: str

    @property
    def body(self) -> Any:
        """What the entry says: ``written`` and ``record``."""
        return json.loads(self.text)


def canonical(value: Any) -> str:
    """Return the one way in which a value is written: sorted names, no blanks, ASCII."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def next_entry(previous: LedgerEntry | None, body: Any) -> LedgerEntry:
    """Return the entry that follows another."""
    number, before = (0, START) if previous is None else (previous.number + 1, previous.link)
    text = canonical(body)
    return LedgerEntry(number, text, link(before, number, text))


def link(before: str, number: int, text: str) -> str:
    """Return SHA-256 of the link before, the number and the text, a line each."""
    return hashlib.sha256(f"{before}\n{number}\n{text}".encode()).hexdigest()


def checked(entries: Iterable[LedgerEntry]) -> Iterator[LedgerEntry]:
    """Pass entries on while each continues the chain; a LedgerError where one does not."""
    before = START
    for number, entry in enumerate(entries):
        if entry.number != number or entry.link != link(before, number, entry.text):
            raise LedgerError(
                f"entry {number} does not continue the chain of hashes: the ledger was edited or "
                "damaged; restore it, and spend nothing from it."
            )
        before = entry.link
        yield entry
