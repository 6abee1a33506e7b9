"""A question to the forecast, and the answer: a design, its expected errors, and why it is so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.plan import clip_kappa, inducing_points
from dpgp.options import Options
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.planning.design import (
    ADDITIVE_LENGTH,
    Design,
    Layout,
    affordable,
    asked_features,
    choose_design,
    compare,
    joint_length,
)
from dpgp.planning.forecast import PLAUSIBLE, Errors, Outlook, Prospect, after_steps
from dpgp.planning.many import ManyFunctions, ManyOutlook
from dpgp.planning.prior_functions import Functions
from dpgp.planning.setting import Assumption, Setting
from dpgp.privacy.books import mu_of_guarantee
from dpgp.steps import Purpose, Purse, Stage, Step, kinds_of, planned_steps
from dpgp.steps.base import paid
from dpgp.types import Array

WIDTH_95 = 2 * 1.959964  # of a 95 % interval of a normal law, in standard deviations


@dataclass(frozen=True)
class Forecast:
    """Expected error of the mean in units of the target: the median over plausible functions.

    One in ten of them has an error below ``low``, one in ten above ``high``; ``interval_width`` is
    that of a 95 % interval for a new observation, or for the probability of the second of two
    classes, ``relative`` the share of the target's range.
    """

    rmse: float
    low: float
    high: float
    interval_width: float
    relative: float

    @classmethod
    def of(cls, errors: Errors, half_width: float, outcome: OutcomeKind = NUMBER) -> Forecast:
        """Summarise errors under every θ."""
        low, high = (half_width * np.quantile(errors.rmse, PLAUSIBLE)).tolist()
        rmse = half_width * float(np.median(errors.rmse))
        # f, as a probability, has no noise of its own
        noise = errors.noise if outcome.shows_observations else np.zeros_like(errors.noise)
        width = float(np.median(WIDTH_95 * np.hypot(errors.rmse, noise)))
        return cls(rmse, low, high, half_width * width, rmse / (2 * half_width))


@dataclass(frozen=True)
class PlannedDesign:
    """How the budget would be spent, in public numbers. Shares are of μ²."""

    features: tuple[str, ...]
    feature_shares: tuple[float, ...]
    n_features: int
    inducing_points: Array
    length_scales: tuple[float | None, ...]
    kappa: float
    stages: tuple[float, ...]
    count_share: float
    warp_share: float
    law_share: float
    guard_share: float
    scale_share: float
    calibration_share: float

    @property
    def warp(self) -> bool:
        """Whether inputs are warped by private histograms."""
        return self.warp_share > 0.0


@dataclass(frozen=True)
class Question:
    """What a plan starts from: the options of a fit, and the functions it is to expect.

    ``row_weight`` is what part of a whole row a row weighs.
    """

    options: Options
    functions: Functions | ManyFunctions
    assumption: Assumption
    row_weight: float = 1.0

    @property
    def half_width(self) -> float:
        """Half the range of the target, of several the first."""
        return float(self.options.functions.half_width[0])

    def forecasts(self, errors: Errors) -> tuple[Forecast, ...]:
        """Return the forecast of every target, each in its units; those of classes are alike."""
        sizes = self.options.functions.half_width.tolist()
        return tuple(Forecast.of(errors, size, self.options.outcome) for size in sizes)

    def answer(self, n: float, epsilon: float) -> Answer:
        """Choose steps and a design as a fit would, and forecast its errors."""
        options = self.options
        mu = mu_of_guarantee(epsilon, options.delta)
        setting = Setting.of(options, n, self.row_weight * mu)  # as a fit does: dpgp.row_weights
        steps = planned_steps(Purse(options, mu, n if options.row_count_is_public else None))
        if isinstance(self.functions, ManyFunctions):
            return Answer(setting, steps, None, _forecast_many(setting, steps, self.functions))
        design = choose_design(
            setting,
            steps,
            kernel=options.own_kernel,
            family=options.families,
            inducing_points=options.inducing_points,
        )
        return Answer(setting, steps, design, forecast(setting, steps, design, self.functions))


def forecast(
    setting: Setting, steps: Sequence[Step], design: Design, functions: Functions
) -> Errors:
    """Forecast the errors of a design."""
    prospect = Prospect(design.features, functions)
    outlook = Outlook.before(setting, prospect, design.kappa)
    return after_steps(outlook, steps).errors()


def _forecast_many(setting: Setting, steps: Sequence[Step], functions: ManyFunctions) -> Errors:
    """Forecast the errors of features that are learned."""
    share = paid(steps, Purpose.FUNCTION)
    return after_steps(ManyOutlook.before(setting, functions, share), steps).errors()


@dataclass(frozen=True)
class Answer:
    """The steps of a fit, its design and its errors; features that are learned have no design."""

    setting: Setting
    steps: tuple[Step, ...]
    design: Design | None
    errors: Errors

    @property
    def stages(self) -> tuple[Step, ...]:
        """The steps that measure the function."""
        return tuple(step for step in self.steps if step.purpose is Purpose.FUNCTION)


def planned_design(answer: Answer, options: Options) -> PlannedDesign:
    """Describe a design in public numbers; inducing points in the units of the inputs."""
    design, box = answer.design, options.box
    chosen = _learned(answer, options) if design is None else _chosen(design, box)
    return PlannedDesign(
        **chosen,
        stages=tuple(stage.share for stage in answer.stages),
        count_share=paid(answer.steps, Purpose.COUNT),
        warp_share=paid(answer.steps, Purpose.PLACES),
        law_share=paid(answer.steps, Purpose.LAW),
        guard_share=paid(answer.steps, Purpose.GUARD),
        scale_share=paid(answer.steps, Purpose.SCALE),
        calibration_share=paid(answer.steps, Purpose.CALIBRATION),
    )


def _chosen(design: Design, box: Box) -> dict[str, Any]:
    """Describe features that are fixed before the fit."""
    features, layout = design.features, design.layout
    names = ("given",) if layout is None else layout.families
    lengths = {
        "grid": None if layout is None else layout.length,
        "additive": ADDITIVE_LENGTH,
        "joint": joint_length(len(box.low)),
        "given": joint_length(len(box.low)),
    }
    return {
        "features": names,
        "feature_shares": (1.0 / len(names),) * len(names),
        "n_features": features.dimension,
        "inducing_points": np.asarray(box.centre + features.anchors * box.half_width),
        "length_scales": tuple(lengths.get(name) for name in names),
        "kappa": design.kappa,
    }


def _learned(answer: Answer, options: Options) -> dict[str, Any]:
    """Describe features of many inputs: learned ones have points that are drawn from releases."""
    signal, box = answer.setting.signal, options.box
    most = inducing_points(signal, UnitInputs(box).dimension)
    own, asked = asked_features(options), options.inducing_points
    given = own.anchors if own else asked if isinstance(asked, np.ndarray) else None
    names = options.families or (("learned",) if given is None else ("given",))
    count = len(asked) if isinstance(asked, np.ndarray) else asked or most
    points = np.empty((0, options.columns)) if given is None else given
    return {
        "features": names,
        "feature_shares": (1.0 / len(names),) * len(names),
        "n_features": own.dimension if own else count,
        "inducing_points": np.asarray(box.centre + points * box.half_width),
        "length_scales": (None,) * len(names),
        "kappa": clip_kappa(signal),
    }


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
    weighed = _why_weights(question, answer.setting.n)
    exact = question.answer(answer.setting.n, math.inf).errors
    limit = [WHY_LIMITED] if are_limited_by_features(answer.errors, exact) else []
    told = question.assumption
    rare = told.outcome.few_events(answer.setting.n, answer.setting.mu, told.prevalence)
    limit = [rare, *limit] if rare else limit
    of_steps = [kind.why([step for step in answer.steps if type(step) is kind]) for kind in kinds]
    design, functions = answer.design, question.functions
    if design is None or isinstance(functions, ManyFunctions):
        asked = question.options.families is not None
        return (assumed, *weighed, *limit, WHY_ASKED if asked else WHY_LEARNED, *of_steps)
    return (
        assumed,
        *weighed,
        *limit,
        _why_features(question, answer, design, functions),
        _why_clipping(design),
        *of_steps,
        *_why_several_stages(question, answer, design, functions),
    )


def _why_weights(question: Question, n: float) -> list[str]:
    """Say what weights cost; nothing where there are none."""
    bound, part = question.options.weight_bound, question.row_weight
    if bound is None:
        return []
    return [
        f"weights: rows are taken to weigh {part * bound:g} each, of {bound:g} that count in full, "
        f"so that privacy noise is that of {part * n:,.0f} rows; a lower bound would cut more "
        "weights and add less noise. Say `mean_weight` where you know it"
    ]


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
    single = [Stage(paid(answer.steps, Purpose.FUNCTION), 1, 1)]
    errors = forecast(answer.setting, single, design, functions)
    alone, reached = (
        question.half_width * float(np.median(e.rmse)) for e in (errors, answer.errors)
    )
    figures = f"forecast {reached:.3g}, with a single one {alone:.3g}"
    if reached < alone:
        return [f"stages are worth their split: {figures}"]
    return [f"stages cost more than they bring: {figures}; they are kept unless `stages` says 1"]
