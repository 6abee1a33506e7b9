"""A fit of our rows alone, or together with those of other sites, which nobody shows."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.ledger import Ledger
from dpgp.model.fitted import FittedModel
from dpgp.options import Options
from dpgp.privacy.noise import NoiseSource
from dpgp.private.fit import fit_rows
from dpgp.private.source import RowQuestion, Source
from dpgp.sites.roster import SitesError
from dpgp.types import Integers

if TYPE_CHECKING:
    from dpgp.private.rows import Rows
    from dpgp.sites import Meeting, Site

_log = logging.getLogger(__name__)

UNEVEN = (
    "the sites' processors or libraries differ: privacy is not touched, but sums may differ in a "
    "last bit from those of one table."
)


NO_SUMS = "the totals that this site was told cannot be sums over rows; ask who leads the fit."


def fit_alone_or_jointly(
    site: Site | None,
    rows: Source,
    options: Options,
    source: NoiseSource,
    threads: int = 1,
    ledger: Ledger | None = None,
) -> FittedModel:
    """Fit our rows, with those of the other sites where we are one of several."""
    if site is None:
        return fit_rows(rows, options, source, threads, ledger=ledger)
    with site.meeting(options, len(rows), source) as meeting:
        return fit_in(meeting, rows, options, threads, ledger)


def fit_in(
    meeting: Meeting, rows: Source, options: Options, threads: int = 1, ledger: Ledger | None = None
) -> FittedModel:
    """Do our part of a joint fit."""
    agreement = meeting.agreement
    if not agreement.is_even:
        _log.warning(UNEVEN)
    ours = SiteRows(rows, meeting)
    try:
        return fit_rows(
            ours, options, meeting.noise, threads, ledger=ledger, all_rows=agreement.rows
        )
    except (ArithmeticError, LookupError, np.linalg.LinAlgError) as error:
        raise _no_sums(error) from None


def _no_sums(error: Exception) -> SitesError:
    """Return what a coordinator that lies deserves, with what was spent by then."""
    words = SitesError(NO_SUMS)
    for note in getattr(error, "__notes__", ()):
        words.add_note(note)
    if hasattr(error, "spent"):
        words.spent = error.spent  # type: ignore[attr-defined]
    return words


@dataclass(frozen=True)
class SiteRows:
    """Our rows, and a meeting that notes every question about them; a Source."""

    rows: Source
    meeting: Meeting

    def __repr__(self) -> str:
        return "SiteRows(...)"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def like(self) -> Rows:
        """No rows, of the type of ours."""
        return self.rows.like

    def total(self, question: RowQuestion, threads: int | None = None) -> Integers:
        """Return the exact sum over our rows."""
        self.meeting.asked(type(question).__name__, question.partial(()).arithmetic)
        return self.rows.total(question, threads)
