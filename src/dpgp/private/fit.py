"""The private fit: a loop over steps. Raw rows enter, and only released values leave."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from dpgp.blas import single_threaded_blas
from dpgp.ledger import Ledger
from dpgp.model.file.before_fit import check_savable
from dpgp.model.fitted import FittedModel
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.exact_sums import UNIT, check_arithmetic
from dpgp.privacy.noise import NoiseSource
from dpgp.private.booking import entered
from dpgp.private.source import Source
from dpgp.private.wall import Wall
from dpgp.steps import Purse, Step, planned_steps
from dpgp.steps.known import Known

_log = logging.getLogger(__name__)


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
    wall = Wall(rows, options, books, source, threads)
    known = Known.before(options, books.mu, steps, public_rows)
    facts = (books, source, options.max_rows_per_unit, options.per_person)
    with (
        entered(ledger, options, books, steps, source) as link,
        spending_noted(lambda: Certificate.of_failure(*facts)),
    ):
        for step in steps:
            _log.info(step.activity)
            step.learn(known, wall.release(step.query(known), step.share, step.label))
        return known.fitted(Certificate.from_books(*facts, ledger=link))


def check_noise(steps: Iterable[Step], options: Options, books: Books, source: NoiseSource) -> None:
    """Refuse a budget whose noise could not be drawn, before anything is booked."""
    for step in steps:
        for std in step.noise_stds(options, books.share(step.share)):
            if std > 0.0:
                source.check(std * UNIT**2)
