"""A fit on its way through a ledger: what it asks for, and how its entry is closed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpgp.ledger.errors import LedgerError
from dpgp.ledger.records import Opened
from dpgp.privacy.books import GaussianRelease
from dpgp.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from dpgp.ledger.ledger import Ledger


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


def check_relation(opened: Opened, request: FitPrice) -> None:
    """Refuse a fit about other neighbours or another unit: their budgets do not add up."""
    if request.neighbours is not opened.neighbours:
        raise LedgerError(
            f"the ledger is about neighbours {opened.neighbours.value}, the fit about "
            f"{request.neighbours.value}; give the fit the same, or another ledger."
        )
    if request.protects != opened.protects:
        remedy = "name the units" if opened.protects == "person" else "name no units"
        raise LedgerError(
            f"the ledger protects one {opened.protects}, the fit one {request.protects}; {remedy}, "
            "or use another ledger."
        )
