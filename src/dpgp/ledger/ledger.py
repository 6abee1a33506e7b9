"""The public ledger: a path, and what may be asked of the file behind it, by fits and by people."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgp.ledger import storage
from dpgp.ledger.account import Account, epsilon_that_fits
from dpgp.ledger.records import (
    PROTECTS,
    Closed,
    LedgerError,
    Opened,
    Other,
    Record,
    Reserved,
    record_from_json,
    record_to_json,
)
from dpgp.ledger.storage import LedgerEntry, next_entry
from dpgp.plain_text import check_names
from dpgp.privacy.arguments import as_choice, as_finite_positive, as_non_negative, as_probability
from dpgp.privacy.books import BudgetError, GaussianRelease
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import text_down, text_up

if TYPE_CHECKING:
    from dpgp.ledger.told_of import ToldOf
    from dpgp.privacy.certificate import Certificate


class Ledger:
    r"""A budget of :math:`(\epsilon, \delta)` for one group of people, kept in a file.

    ``Ledger(path, epsilon=3.0, delta=1e-5)`` opens the file, or creates it where there is none;
    ``Ledger(path)`` opens it. A fit reserves its whole price before any noise is drawn, and says at
    its end what it released; without such an end all that was reserved stays spent. Handles hold a
    path and no connection: they may be copied, pickled and used by many processes at once.
    Proof: docs/proofs/ledger.md.

    Parameters
    ----------
    path
        The SQLite file.
    epsilon, delta
        The cap on everything that is ever released about one unit.
    neighbours, protects
        Relation and unit ("row" or "person") of all fits; a fit with others is refused.
    disjoint
        Names of groups of which nobody is in two. Who declares them makes that promise.

    Examples
    --------
    >>> ledger = Ledger("people.ledger", epsilon=3.0, delta=1e-5)
    >>> ledger.spend("a survey's mean", epsilon=1.0)
    >>> 1.9 < ledger.epsilon_left() <= 3.0
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        neighbours: str | Neighbours | None = None,
        protects: str | None = None,
        disjoint: Sequence[str] | None = None,
    ) -> None:
        self.path = Path(path).absolute()
        self.group: str | None = None
        if epsilon is None and delta is None:
            self._opened()
            return
        cap = _cap(epsilon, delta, neighbours or "replace", protects or "row", disjoint or ())
        Account.of([cap])
        if not self.path.exists():
            storage.create(self.path, next_entry(None, _body(cap)))
        elif self._opened() != cap:
            raise LedgerError(
                f"the ledger '{self.path}' has another cap, relation, unit or groups; open it "
                "without these arguments, or name another file."
            )

    def __repr__(self) -> str:
        group = "" if self.group is None else f".partition({self.group!r})"
        return f"Ledger({str(self.path)!r}){group}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.path, self.group))

    def partition(self, name: str) -> Ledger:
        """Return the same ledger for one of the groups that were declared disjoint."""
        self.account().total(name)  # an error where it is none of them
        part = Ledger(self.path)
        part.group = name
        return part

    def account(self) -> Account:
        """Return what was spent, from all entries of the file."""
        return Account.of(self.records())

    def records(self) -> tuple[Record, ...]:
        """Return what the entries say."""
        return tuple(_record(entry) for entry in self.entries())

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return all entries, the chain of their hashes checked."""
        return storage.read(self.path)

    @property
    def head(self) -> str:
        """The last link of the chain: kept elsewhere, it shows whether entries were cut off."""
        return self.entries()[-1].link

    @property
    def spent_epsilon(self) -> float:
        """The ε at the ledger's δ of all that was spent on whom most was spent."""
        account = self.account()
        return account.cap.spent(account.worst(self.group))

    def epsilon_left(self, delta: float | None = None) -> float:
        """Return the largest ε, in three digits, of one more fit at δ; the ledger's by default."""
        account = self.account()
        at = account.opened.delta if delta is None else as_probability("delta", delta)
        return epsilon_that_fits(account.mu_left(self.group), at)

    def check(self, head: str | None = None) -> None:
        """Raise a LedgerError unless chain and totals are right and ``head`` is in the chain."""
        entries = self.entries()
        records = [_record(entry) for entry in entries]
        account = Account.of(records[:1])
        for record in records[1:]:
            account = account.after(record)
            if not account.holds():
                raise LedgerError("more is spent than the cap allows.")
        if head is not None and head not in {entry.link for entry in entries}:
            raise LedgerError(
                "the chain does not hold this head: it is that of another ledger, or entries were "
                "cut off or written anew."
            )

    def told_of(self, certificate: Certificate) -> ToldOf:
        """Return the entries of the releases behind a certificate, and what was spent on whom.

        ``words`` say it. It is for the curator, and not kept in a model. docs/how-to/pooling.md
        """
        from dpgp.ledger.told_of import told_of

        return told_of(self, certificate)

    def spend(self, label: str, epsilon: float, delta: float = 0.0) -> None:
        """Book what another mechanism is about to release of these people, before it does."""
        check_names([label])
        pair = (as_finite_positive("epsilon", epsilon), as_non_negative("delta", delta))
        self._add(Other(label, self.group, *pair), f"'{label}'", self._opened().delta)

    def reserve(self, request: FitPrice) -> Reservation:
        """Book the whole price of a fit, durably; a BudgetError where it does not fit."""
        check_relation(self._opened(), request.neighbours, request.protects)
        record = Reserved(
            fit=secrets.token_hex(16),
            partition=self.group,
            epsilon=request.epsilon,
            delta=request.delta,
            mu=request.mu,
            eta=request.eta,
            planned=request.planned,
            simulation=request.simulation,
        )
        what = f"a fit of ε = {text_up(request.epsilon)}, δ = {text_up(request.delta)}"
        return Reservation(self, record.fit, self._add(record, what, request.delta).link)

    def _opened(self) -> Opened:
        return self.account().opened

    def _add(self, record: Record, what: str, delta: float) -> LedgerEntry:
        """Add a record, unless that would exceed the cap."""
        with storage.adding(self.path) as file:
            before = Account.of(_record(entry) for entry in file.entries)
            after = before.after(record)
            if isinstance(record, Reserved | Other) and not after.holds():
                raise self._refusal(before, what, delta)
            entry = next_entry(file.entries[-1], _body(record))
            file.add(entry)
        return entry

    def _refusal(self, account: Account, what: str, delta: float) -> BudgetError:
        cap, cost = account.cap, account.worst(self.group)
        fits = epsilon_that_fits(account.mu_left(self.group), delta)
        remedy = (
            f"a fit of ε = {text_down(fits)} at δ = {text_up(delta)} would fit."
            if fits
            else "nothing is left to spend on these people."
        )
        return BudgetError(
            f"{what} does not fit into the ledger '{self.path}': ε = {text_up(cap.spent(cost))} of "
            f"{text_up(cap.epsilon)} is spent at δ = {text_up(cap.delta)}, and nothing was drawn; "
            f"{remedy}"
        )

    def close(self, fit: str, outcome: str, releases: Sequence[GaussianRelease]) -> None:
        """Say which releases a reserved fit has made; what it did not draw is given back."""
        self._add(Closed(fit, outcome, tuple(releases)), "a fit", 0.5)


def ledger_of(value: Any) -> Ledger | None:
    """Return the ledger that an argument names: a path, a ledger, or None."""
    if value is None or isinstance(value, Ledger):
        return value
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"`ledger` must be a path or a dpgp.Ledger, got {type(value).__name__}.")
    return Ledger(value)


def _cap(
    epsilon: float | None,
    delta: float | None,
    neighbours: str | Neighbours,
    protects: str,
    disjoint: Sequence[str],
) -> Opened:
    if epsilon is None or delta is None:
        raise ValueError("a new ledger needs `epsilon` and `delta`; give both.")
    if protects not in PROTECTS:
        raise ValueError(f"`protects` must be one of {PROTECTS}, got {protects!r}.")
    names = (disjoint,) if isinstance(disjoint, str) else tuple(disjoint)
    if len(names) == 1 or len(set(names)) < len(names) or not all(names):
        raise ValueError("`disjoint` must name two groups or more, each once.")
    check_names(names)
    return Opened(
        as_finite_positive("epsilon", epsilon),
        as_probability("delta", delta),
        as_choice("neighbours", Neighbours, neighbours),
        protects,
        names,
    )


def _body(record: Record) -> dict[str, Any]:
    written = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"written": written, "record": record_to_json(record)}


def _record(entry: LedgerEntry) -> Record:
    try:
        return record_from_json(entry.body["record"])
    except (LedgerError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, LedgerError) else "it is no record."
        raise LedgerError(f"entry {entry.number} cannot be read: {reason}") from None


class LedgerWarning(UserWarning):
    """A ledger could not be closed: what was reserved counts as spent, and more was not."""


@dataclass(frozen=True)
class FitPrice:
    """What a fit asks of a ledger before it draws any noise."""

    epsilon: float
    delta: float
    mu: float
    eta: float
    planned: tuple[str, ...]
    neighbours: Neighbours
    protects: str
    simulation: bool


@dataclass(frozen=True)
class Reservation:
    """A fit that stands in a ledger, and the link of its entry."""

    ledger: Ledger
    fit: str
    link: str

    @contextmanager
    def until_closed(self, releases: Sequence[GaussianRelease]) -> Iterator[str]:
        """Close the entry with what ``releases`` lists when the block ends, or fails."""
        try:
            yield self.link
        except BaseException:
            self._close("failed", releases)
            raise
        self._close("complete", releases)

    def _close(self, outcome: str, releases: Sequence[GaussianRelease]) -> None:
        try:
            self.ledger.close(self.fit, outcome, releases)
        except LedgerError as error:
            warnings.warn(
                f"the fit could not be closed in its ledger, where all that it had reserved stays "
                f"spent: {error}",
                LedgerWarning,
                stacklevel=2,
            )


def check_relation(opened: Opened, neighbours: Neighbours, protects: str) -> None:
    """Refuse a fit about other neighbours or another unit: their budgets do not add up."""
    if neighbours is not opened.neighbours:
        raise LedgerError(
            f"the ledger is about neighbours {opened.neighbours.value}, the fit about "
            f"{neighbours.value}; give the fit the same, or another ledger."
        )
    if protects != opened.protects:
        remedy = "name the units" if opened.protects == "person" else "name no units"
        raise LedgerError(
            f"the ledger protects one {opened.protects}, the fit one {protects}; {remedy}, or use "
            "another ledger."
        )
