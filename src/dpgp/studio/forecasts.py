"""What ε buys, for a page that moves it: every point is a forecast of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpgp.cli.failures import UsageError
from dpgp.cli.plan import Told, forecast
from dpgp.cli.request import Request
from dpgp.planning.plan import EPSILONS, Curve, Plan
from dpgp.privacy.rounding import text_up
from dpgp.report.guarantee import weak_points
from dpgp.studio.asked import AskedStudy
from dpgp.studio.risk import certainty, in_words

MOST_POINTS = 20


def forecasts(asked: AskedStudy, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the forecast at every ε that is wanted."""
    request, rows = asked.request_to_plan, asked.rows
    planned = _planned(request, rows, told_of(wanted))
    curve = planned.curve(epsilons=sorted(set(_epsilons(wanted.get("at")))))
    return {
        "points": _points(curve, request),
        "warnings": weak_points(request.epsilon, request.delta, rows),
    }


def epsilon_for(asked: AskedStudy, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the smallest ε that is expected to reach an error, in two digits, rounded up."""
    error = _number(wanted.get("error"), "the error")
    planned = _planned(asked.request_to_plan, asked.rows, told_of(wanted))
    needed = planned.epsilon_for(error)
    return {"epsilon": float(text_up(needed, 2))}


def told_of(wanted: Mapping[str, Any]) -> Told:
    """Return what a page says of the outcome: how many in a hundred are of the second class."""
    per_cent = wanted.get("prevalence")
    if per_cent in (None, ""):
        return Told()
    share = _number(per_cent, "the share") / 100.0
    if not 0.0 < share < 1.0:
        raise UsageError("the share must lie between 0 and 100 %; leave it empty if unknown.")
    return Told(prevalence=share)


def _epsilons(texts: Any) -> list[float]:
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_POINTS:
        raise UsageError("the page asked for no forecast; load it again.")
    return [_number(text, "ε") for text in texts]


def _number(text: Any, what: str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be a number.") from None


def _planned(request: Request, rows: int, told: Told) -> Plan:
    """Return a plan from which all others are asked; one for the largest ε, as it may be vain."""
    return _plan_of(replace(request, epsilon=max(EPSILONS)), rows, told)


@lru_cache(maxsize=32)
def _plan_of(request: Request, rows: int, told: Told) -> Plan:
    return forecast(request, rows, told)


def _points(curve: Curve, request: Request) -> list[dict[str, Any]]:
    size = 2.0 * float(request.options.target_box.half_width[0])
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
            "words": in_words(epsilon, request.delta),
        }
        for epsilon, rmse, least, most, width, floor, useful in zip(
            *(column.tolist() for column in columns), curve.useful.tolist(), strict=True
        )
    ]
