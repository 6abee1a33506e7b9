"""What ε buys and what it costs: forecasts, what will be public, and what stays private."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dpgp.choices import Missing
from dpgp.cli.consent import study_pairs
from dpgp.ledger import Ledger
from dpgp.ledger.ledger import check_relation
from dpgp.options import Options
from dpgp.plain_text import as_sentence, made_plain
from dpgp.planning.plan import EPSILONS, Curve, Plan, plan_of
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.rounding import factor_text, text_down, text_up
from dpgp.report.guarantee import strength, weak_points
from dpgp.steps import Purse, planned_steps
from dpgp.studio.asked import MODEL_FILE, AskedStudy
from dpgp.study.doubts import doubts
from dpgp.study.errors import Face, UsageError, said
from dpgp.study.study import Study

MOST_POINTS = 20
PRIVATE = (
    "Every row, and every number computed from rows without noise.",
    "The smallest and the largest value of any column, and how many values lie beyond its bounds.",
    "Columns that are not named here; they are not even read.",
)


class Told(NamedTuple):
    """What is known of the people from elsewhere, for a forecast."""

    prevalence: float | None
    mean_weight: float | None


def consent(asked: AskedStudy, told: Told, folder: Path) -> dict[str, Any]:
    """Return what a fit will make public, what it costs, and what speaks against it."""
    options, rows, ledger = asked.options, asked.rows, asked.study.purse
    pairs = study_pairs(asked.study, rows, Face.PAGE)
    return {
        "title": asked.title,
        "public": [[word, made_plain(meaning)] for word, meaning in pairs],
        "releases": planned_releases(options, rows),
        "also": _also(options),
        "private": list(PRIVATE),
        "words": in_words(options.epsilon, options.delta),
        "forecast": _forecast(options, rows, told),
        "warnings": [
            *weak_points(options.epsilon, options.delta, rows),
            *(made_plain(doubt.words.on(Face.PAGE)) for doubt in doubts(options)),
        ],
        "ledger": None if ledger is None else _price(options, ledger),
        "folder": str(folder),
        "study_file": asked.text,
    }


def planned_releases(options: Options, rows: int) -> list[str]:
    """Return what will be computed from the rows, release by release."""
    mu = mu_of_guarantee(options.epsilon, options.delta)
    steps = planned_steps(Purse(options, mu, rows if options.row_count_is_public else None))
    return [step.label for step in steps]


def _also(options: Options) -> list[str]:
    sentences = [
        "The names of these columns, their bounds and levels, and all other choices above: "
        f"they stand in {MODEL_FILE}.",
        "The fitted function with its uncertainty, and how much noise every release carries.",
    ]
    if options.missing is Missing.ERROR:
        sentences.append("That no row was incomplete: the fit stops otherwise, before it spends.")
    return sentences


def _forecast(options: Options, rows: int, told: Told) -> dict[str, Any]:
    """Return what to expect, or why that is not known."""
    try:
        planned = plan_of(options, rows, **told._asdict())
    except ValueError as error:
        return {"problem": as_sentence(said(error, Face.PAGE))}
    return {**asdict(planned.forecast), "why": list(planned.why)}


def _price(options: Options, ledger: Ledger) -> dict[str, Any]:
    """Return what is left for a fit, and why it cannot be paid if it cannot."""
    left = ledger.epsilon_left(options.delta)
    return {
        "name": ledger.path.name,
        "left": text_down(left, 3),
        "problem": _relation_problem(options, ledger) or _too_much(options.epsilon, left),
    }


def _too_much(epsilon: float, left: float) -> str | None:
    if epsilon <= left:
        return None
    return (
        f"ε = {text_up(epsilon)} is more than the ledger has left: a fit of "
        f"ε = {text_down(left, 3)} at this δ would fit. Choose a smaller ε."
        if left
        else "Nothing is left in the ledger to spend on these people."
    )


def _relation_problem(options: Options, ledger: Ledger) -> str | None:
    protects = "person" if options.per_person else "row"
    try:
        check_relation(ledger.account().opened, options.neighbours, protects)
    except ValueError as error:
        return as_sentence(said(error, Face.PAGE))
    return None


def forecasts(asked: AskedStudy, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the forecast at every ε that is wanted."""
    study, rows = asked.study.with_usual_budget(), asked.rows
    planned = _planned(study, rows, told_of(wanted))
    curve = planned.curve(epsilons=sorted(set(_epsilons(wanted.get("at")))))
    return {
        "points": _points(curve, study.options),
        "warnings": weak_points(study.options.epsilon, study.options.delta, rows),
    }


def epsilon_for(asked: AskedStudy, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the smallest ε that is expected to reach an error, in two digits, rounded up."""
    error = _number(wanted.get("error"), "the error")
    planned = _planned(asked.study.with_usual_budget(), asked.rows, told_of(wanted))
    needed = planned.epsilon_for(error)
    return {"epsilon": float(text_up(needed, 2))}


def told_of(wanted: Mapping[str, Any]) -> Told:
    """Return what a page says of the people; the plan checks an average against its bound."""
    weight = wanted.get("mean_weight")
    mean_weight = None if weight in (None, "") else _number(weight, "the average weight")
    return Told(_prevalence_of(wanted), mean_weight)


def _prevalence_of(wanted: Mapping[str, Any]) -> float | None:
    """Return the share of the second class, of which a page says how many are in a hundred."""
    per_cent = wanted.get("prevalence")
    if per_cent in (None, ""):
        return None
    share = _number(per_cent, "the share") / 100.0
    if not 0.0 < share < 1.0:
        raise UsageError("the share must lie between 0 and 100 %; leave it empty if unknown.")
    return share


def _epsilons(texts: Any) -> list[float]:
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_POINTS:
        raise UsageError("the page asked for no forecast; load it again.")
    return [_number(text, "ε") for text in texts]


def _number(text: Any, what: str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be a number.") from None


def _planned(study: Study, rows: int, told: Told) -> Plan:
    """Return a plan from which all others are asked; one for the largest ε, as it may be vain."""
    return _plan_of(study.but(epsilon=max(EPSILONS), title=None), rows, told)


@lru_cache(maxsize=32)
def _plan_of(study: Study, rows: int, told: Told) -> Plan:
    return plan_of(study.options, rows, **told._asdict())


def _points(curve: Curve, options: Options) -> list[dict[str, Any]]:
    size = 2.0 * float(options.functions.half_width[0])
    columns = (curve.values, curve.rmse, curve.low, curve.high, curve.interval_width, curve.floor)
    return [
        {
            "epsilon": epsilon,
            "rmse": rmse,
            "low": least,
            "high": most,
            "interval_width": width,
            "without_privacy": floor,
            "share": rmse / size,
            "useful": useful,
            "certainty": certainty(epsilon),
            "words": in_words(epsilon, options.delta),
        }
        for epsilon, rmse, least, most, width, floor, useful in zip(
            *(column.tolist() for column in columns), curve.useful.tolist(), strict=True
        )
    ]


def certainty(epsilon: float) -> int:
    r"""Per cent that an even guess can become at most: :math:`e^\epsilon/(1+e^\epsilon)`."""
    return math.ceil(100.0 / (1.0 + math.exp(-epsilon)))


def in_words(epsilon: float, delta: float) -> list[str]:
    """Say what a guarantee means for one person."""
    sure = certainty(epsilon)
    return [
        f"{strength(epsilon).capitalize()} protection.",
        "Somebody who knows all about everybody else in the table, and for whom a guess about one "
        f"person is as likely right as wrong, can become "
        f"{f'at most {sure} %' if sure < 100 else 'practically'} sure by studying the model.",
        f"A harm that would befall a person with a chance of 1 in 1,000 without their data has a "
        f"chance of at most {factor_text(epsilon)} in 1,000 with them.",
        f"Both hold but for a chance of {text_up(delta)} (δ).",
    ]
