"""Why a plan is as it is: a line for what it assumes, and one for each choice."""

from __future__ import annotations

import math

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.planning.design import Design, Layout, affordable, compare
from dpgp.planning.forecast import Errors
from dpgp.planning.many import ManyFunctions
from dpgp.planning.prior_functions import Functions
from dpgp.planning.question import Answer, Question, forecast, share_of
from dpgp.steps import Purpose, Stage, kinds_of

WHY_LEARNED = (
    "features are learned: every stage takes them from what was released before; a fixed grid of "
    "many inputs would miss most of f"
)


WHY_ASKED = "features: as asked for"

WHY_LIMITED = (
    "the features, not privacy, limit the error: what they miss of such functions is most of it; a "
    "larger epsilon or more rows alone hardly help, more `inducing_points` may"
)


MOSTLY = 0.5**0.5
"""Root of the share of a squared error that counts as most of it."""

HARDLY_LESS = 0.8
"""Share of an error that is left without noise, from which on privacy is not what limits it."""


def reasons(question: Question, answer: Answer) -> tuple[str, ...]:
    """Give one line for each choice: the features, then every kind of step."""
    kinds = kinds_of(question.options)
    assumed = question.assumption.in_words(answer.errors.noise**2)
    exact = question.answer(answer.setting.n, math.inf).errors
    told = question.assumption
    rare = told.outcome.few_events(answer.setting.n, answer.setting.mu, told.prevalence)
    limit = [WHY_LIMITED] if are_limited_by_features(answer.errors, exact) else []
    limit = [rare, *limit] if rare else limit
    of_steps = [kind.why([step for step in answer.steps if type(step) is kind]) for kind in kinds]
    design, functions = answer.design, question.functions
    if design is None or isinstance(functions, ManyFunctions):
        asked = question.options.families is not None
        return (assumed, *limit, WHY_ASKED if asked else WHY_LEARNED, *of_steps)
    return (
        assumed,
        *limit,
        _why_features(question, answer, design, functions),
        _why_clipping(design),
        *of_steps,
        *_why_several_stages(question, answer, design, functions),
    )


def are_limited_by_features(errors: Errors, exact: Errors) -> bool:
    """Return whether features miss most of the error, and without noise it is hardly less."""
    missed = float(np.median(errors.missing / np.maximum(errors.rmse, TINY)))
    without_noise = float(np.median(exact.rmse) / np.median(errors.rmse))
    return missed > MOSTLY and without_noise > HARDLY_LESS


def _why_clipping(design: Design) -> str:
    if math.isinf(design.kappa):
        return "nothing is clipped"
    return (
        f"clipping at {design.kappa:.2f} residual sds: the least of sampling error, privacy noise "
        "and the bias of skewed noise"
    )


def _why_features(question: Question, answer: Answer, design: Design, functions: Functions) -> str:
    layout, setting, asked = design.layout, answer.setting, question.options
    if layout is None or asked.families is not None or asked.inducing_points is not None:
        return WHY_ASKED
    options = affordable(setting)
    errors = compare(setting, answer.steps, design.kappa, functions, options)
    others = [
        f"{_name(option)} {question.half_width * float(np.median(error.rmse)):.3g}"
        for option, error in zip(options, errors, strict=True)
    ]
    return f"features {_name(layout)}, from the forecasts " + ", ".join(others)


def _name(layout: Layout) -> str:
    if layout.families == ("grid",):
        return f"{layout.points} points an axis (length {layout.length:g})"
    return " + ".join(layout.families)


def _why_several_stages(
    question: Question, answer: Answer, design: Design, functions: Functions
) -> list[str]:
    """Compare with a single release of all the stages' budget."""
    if len(answer.stages) == 1:
        return []
    single = [Stage(share_of(answer.steps, Purpose.FUNCTION), 1, 1)]
    errors = forecast(answer.setting, single, design, functions)
    alone, reached = (
        question.half_width * float(np.median(e.rmse)) for e in (errors, answer.errors)
    )
    return [f"stages are worth their split: forecast {reached:.3g}, with a single one {alone:.3g}"]
