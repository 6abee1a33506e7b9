"""The file of a ledger: entries are added, durably and one writer at a time, never changed.

A chain of hashes binds every entry to all before it, so that an edit shows. The file is SQLite's;
no connection outlives a call, so that handles may be copied, pickled and forked.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpgp.ledger.records import LONGEST_BODY, LedgerError

# --- a chain of hashes ----------------------------------------------------------------------------


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


# --- the file -------------------------------------------------------------------------------------


MARK = 0x64704750  # "dpGP": SQLite's application id of a ledger
MOST_ENTRIES = 10**6
PATIENCE = 60.0  # seconds to wait for other writers
SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, text TEXT NOT NULL, link TEXT NOT NULL)",
    "CREATE TRIGGER never_changed BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'a ledger is only added to'); END",
    "CREATE TRIGGER never_deleted BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'a ledger is only added to'); END",
)
_ADD = "INSERT INTO entries (number, text, link) VALUES (?, ?, ?)"


def create(path: Path, first: LedgerEntry) -> None:
    """Make a new file with its first entry; a LedgerError where there is one already."""
    try:
        path.open("xb").close()
    except FileExistsError:
        raise LedgerError(f"'{path}' exists; name another file for a new ledger.") from None
    except OSError as error:
        raise _cannot("create", path, error) from None
    try:
        with _transaction(path) as connection:
            connection.execute(f"PRAGMA application_id = {MARK}")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(_ADD, (first.number, first.text, first.link))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def read(path: Path) -> tuple[LedgerEntry, ...]:
    """Return all entries, their chain checked."""
    with _connected(path) as connection:
        return _entries(connection)


@contextmanager
def adding(path: Path) -> Iterator[Appender]:
    """Hold the file for one writer: what is added is on the disk when the block ends."""
    with _transaction(path) as connection:
        yield Appender(connection, _entries(connection))


class Appender:
    """All entries of a ledger, and the right to add one."""

    def __init__(self, connection: sqlite3.Connection, entries: tuple[LedgerEntry, ...]) -> None:
        self._connection = connection
        self.entries = entries

    def add(self, entry: LedgerEntry) -> None:
        """Add an entry to the open transaction."""
        self._connection.execute(_ADD, (entry.number, entry.text, entry.link))


@contextmanager
def _transaction(path: Path) -> Iterator[sqlite3.Connection]:
    with _connected(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise LedgerError(
            f"there is no ledger '{path}'; create one with `dpgp ledger create`, or "
            "dpgp.Ledger(path, epsilon=..., delta=...)."
        )
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw", timeout=PATIENCE, isolation_level=None, uri=True
        )
        try:
            _harden(connection)
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise _cannot("use", path, error) from None


def _harden(connection: sqlite3.Connection) -> None:
    """Sync every commit and the folder after it, and trust nothing that the file defines."""
    for setting in ("synchronous = EXTRA", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")


def _entries(connection: sqlite3.Connection) -> tuple[LedgerEntry, ...]:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
    if mark != MARK or found != set(SCHEMA):
        raise LedgerError("the file is not a ledger of dpgp.")
    limits = "SELECT count(*), coalesce(max(length(text)), 0) FROM entries"
    count, longest = connection.execute(limits).fetchone()
    if not 1 <= count <= MOST_ENTRIES or longest > LONGEST_BODY:
        raise LedgerError("the file holds no entry, or more than any ledger.")
    rows = connection.execute("SELECT number, text, link FROM entries ORDER BY number")
    return tuple(checked(LedgerEntry(int(n), str(text), str(link)) for n, text, link in rows))


def _cannot(verb: str, path: Path, error: Exception) -> LedgerError:
    reason = getattr(error, "strerror", None) or str(error) or "it failed"
    return LedgerError(
        f"cannot {verb} the ledger '{path}': {reason.lower()}; nothing was drawn for what it could "
        "not hold. It must be a file that can be written, on a disk that is not full."
    )
