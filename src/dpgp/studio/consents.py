"""Before a budget is spent: everything that will be public, and what stays private."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpgp.cli.consent import request_pairs
from dpgp.cli.plan import Told, forecast
from dpgp.cli.request import Request
from dpgp.ledger import Ledger
from dpgp.ledger.ledger import FitPrice, check_relation
from dpgp.missing import Missing
from dpgp.planning.plan import Plan
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.rounding import text_down, text_up
from dpgp.report.guarantee import weak_points
from dpgp.steps import Purse, planned_steps
from dpgp.studio.asked import MODEL_FILE, AskedStudy
from dpgp.studio.risk import in_words
from dpgp.studio.words import as_sentence, in_page_words

PRIVATE = (
    "Every row, and every number computed from rows without noise.",
    "The smallest and the largest value of any column, and how many values lie beyond its bounds.",
    "Columns that are not named here; they are not even read.",
)


def consent(asked: AskedStudy, told: Told, folder: Path) -> dict[str, Any]:
    """Return what a fit will make public, what it costs, and what speaks against it."""
    request, rows, ledger = asked.request, asked.rows, asked.ledger
    pairs = request_pairs(request, rows)
    return {
        "title": asked.title,
        "public": [[word, in_page_words(meaning)] for word, meaning in pairs],
        "releases": planned_releases(request, rows),
        "also": _also(request),
        "private": list(PRIVATE),
        "words": in_words(request.epsilon, request.delta),
        "forecast": _forecast(request, rows, told),
        "warnings": weak_points(request.epsilon, request.delta, rows),
        "ledger": None if ledger is None else _price(request, ledger),
        "folder": str(folder),
        "study_file": asked.text,
    }


def planned_releases(request: Request, rows: int) -> list[str]:
    """Return what will be computed from the rows, release by release."""
    options = request.options
    mu = mu_of_guarantee(request.epsilon, request.delta)
    steps = planned_steps(Purse(options, mu, rows if options.row_count_is_public else None))
    return [step.label for step in steps]


def _also(request: Request) -> list[str]:
    sentences = [
        "The names of these columns, their bounds and levels, and all other choices above: "
        f"they stand in {MODEL_FILE}.",
        "The fitted function with its uncertainty, and how much noise every release carries.",
    ]
    if request.missing is Missing.ERROR:
        sentences.append("That no row was incomplete: the fit stops otherwise, before it spends.")
    return sentences


def _forecast(request: Request, rows: int, told: Told) -> dict[str, Any]:
    """Return what to expect, or why that is not known."""
    try:
        planned: Plan = forecast(request, rows, told)
    except ValueError as error:
        return {"problem": as_sentence(str(error))}
    expected = planned.forecast
    return {
        "rmse": expected.rmse,
        "low": expected.low,
        "high": expected.high,
        "interval_width": expected.interval_width,
        "why": list(planned.why),
    }


def _price(request: Request, ledger: Ledger) -> dict[str, Any]:
    """Return what is left for a fit, and why it cannot be paid if it cannot."""
    left = ledger.epsilon_left(request.delta)
    return {
        "name": ledger.path.name,
        "left": text_down(left, 3),
        "problem": _relation_problem(request, ledger) or _too_much(request, left),
    }


def _too_much(request: Request, left: float) -> str | None:
    if request.epsilon <= left:
        return None
    return (
        f"ε = {text_up(request.epsilon)} is more than the ledger has left: a fit of "
        f"ε = {text_down(left, 3)} at this δ would fit. Choose a smaller ε."
        if left
        else "Nothing is left in the ledger to spend on these people."
    )


def _relation_problem(request: Request, ledger: Ledger) -> str | None:
    price = FitPrice(
        epsilon=request.epsilon,
        delta=request.delta,
        mu=0.0,
        eta=0.0,
        planned=(),
        neighbours=request.neighbours,
        protects="row" if request.unit is None else "person",
        simulation=False,
    )
    try:
        check_relation(ledger.account().opened, price)
    except ValueError as error:
        return as_sentence(str(error))
    return None
