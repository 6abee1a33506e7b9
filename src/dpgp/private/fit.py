"""The private fit: a loop over steps. Raw rows enter, and only released values leave."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.blas import single_threaded_blas
from dpgp.ledger import Ledger
from dpgp.ledger.ledger import FitPrice
from dpgp.model.fitted import FittedModel
from dpgp.options import Options
from dpgp.planning.file_room import check_savable
from dpgp.privacy.books import Books
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.exact_sums import UNIT, check_arithmetic
from dpgp.privacy.noise import MIN_SCALE, NoiseSource, discretisation_cost
from dpgp.privacy.parts import Dealing, DealtPart
from dpgp.privacy.rounding import sum_up
from dpgp.private.source import RowQuestion, RowsBehind, Source
from dpgp.private.wall import Wall
from dpgp.progress import told_of
from dpgp.sites.roster import SitesError
from dpgp.steps import Purse, Step, planned_steps
from dpgp.steps.known import Known
from dpgp.types import Integers

if TYPE_CHECKING:
    from dpgp.sites import Meeting, Site

_log_of_sites = logging.getLogger("dpgp.sites")  # of what stays to be read

MOST_NUMBERS = 2**24
"""Numbers of one release at most: a Gram matrix of all features and targets that fit a file."""

UNEVEN = (
    "the sites' processors or libraries differ: privacy is not touched, but sums may differ in a "
    "last bit from those of one table."
)

NO_SUMS = "the totals that this site was told cannot be sums over rows; ask who leads the fit."


@single_threaded_blas()
def fit_rows(
    rows: Source,
    options: Options,
    source: NoiseSource,
    threads: int = 1,
    kinds: Sequence[type[Step]] | None = None,
    ledger: Ledger | None = None,
    all_rows: int | None = None,
) -> FittedModel:
    """Release step by step, and infer from what was released what to ask next.

    ``kinds`` are the kinds of steps to take, all of them by default. A ``ledger`` has the price of
    the fit before any noise is drawn. ``all_rows`` is the number of rows where ``source`` adds
    those of other sites to ours.
    """
    check_arithmetic()
    check_savable(options)
    books = Books(options.epsilon, options.delta, options.neighbours)
    counted = len(rows) if all_rows is None else all_rows
    public_rows = counted if options.row_count_is_public else None
    options.check_rows(public_rows)
    steps = planned_steps(Purse(options, books.mu, public_rows), kinds)
    check_noise(steps, options, books, source)
    wall = Wall(rows, options, books, source, threads, dealing_of(steps, source))
    told = counted if options.table_size_is_public else None
    known = Known.before(options, books.mu, steps, public_rows, told)
    facts = (books, source, options.max_rows_per_unit, options.per_person, options.rows_of_unit)
    with (
        entered(ledger, options, books, steps, source) as link,
        spending_noted(lambda: Certificate.from_books(*facts).of_failure(books)),
    ):
        for step in told_of(steps, public_rows):
            release = wall.release(step.query(known), step.share, step.label, step.part)
            known.take(step, release)
        return known.fitted(Certificate.from_books(*facts, ledger=link))


def check_noise(steps: Iterable[Step], options: Options, books: Books, source: NoiseSource) -> None:
    """Refuse a budget whose noise could not be drawn, before anything is booked."""
    for step in steps:
        for std in step.noise_stds(options, books.share(step.share)):
            if std > 0.0:
                source.check(std * UNIT**2)


def dealing_of(steps: Iterable[Step], source: NoiseSource) -> Dealing | None:
    """Draw who is in which part of the rows, where steps ask parts."""
    return Dealing.drawn(source) if any(step.part for step in steps) else None


# --- in its ledger: the whole price before any noise, at the end what was released ----------------


def entered(
    ledger: Ledger | None,
    options: Options,
    books: Books,
    steps: Sequence[Step],
    source: NoiseSource,
) -> AbstractContextManager[str | None]:
    """Reserve a fit in its ledger, if it has one; the block's end says what the books hold.

    The block is given the link of the entry.
    """
    if ledger is None:
        return nullcontext()
    request = FitPrice(
        epsilon=options.epsilon,
        delta=options.delta,
        mu=books.mu,
        eta=sum_up(_most_eta(step, options, books) for step in steps),
        planned=tuple(step.label for step in steps),
        neighbours=options.neighbours,
        protects="person" if options.per_person else "row",
        simulation=not source.is_private,
    )
    return ledger.reserve(request).until_closed(books.releases)


def _most_eta(step: Step, options: Options, books: Books) -> float:
    """Return what discrete noise can cost a step, however many numbers it will ask for."""
    scales = [std * UNIT**2 for std in step.noise_stds(options, books.share(step.share)) if std]
    return discretisation_cost(MOST_NUMBERS, max(min(scales), MIN_SCALE)) if scales else 0.0


# --- with the rows of other sites, which nobody shows ---------------------------------------------


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
        _log_of_sites.warning(UNEVEN)
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


@dataclass(frozen=True, repr=False)
class SiteRows(RowsBehind):
    """Our rows, and a meeting that notes every question about them; a Source."""

    meeting: Meeting

    def __len__(self) -> int:
        return len(self.rows)

    def total(
        self, question: RowQuestion, threads: int | None = None, part: DealtPart | None = None
    ) -> Integers:
        """Return the exact sum over our rows, or over those that we dealt to a part."""
        about = "" if part is None else f", {part.part}"
        self.meeting.asked(f"{type(question).__name__}{about}", question.partial(()).arithmetic)
        return self.rows.total(question, threads, part)
