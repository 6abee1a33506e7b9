"""A fit in its ledger: the whole price before any noise, and at the end what was released."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from dpgp.ledger import Ledger
from dpgp.ledger.ledger import FitPrice
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.noise import MIN_SCALE, NoiseSource, discretisation_cost
from dpgp.privacy.rounding import sum_up
from dpgp.steps import Step

MOST_NUMBERS = 2**24
"""Numbers of one release at most: a Gram matrix of all features and targets that fit a file."""


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
