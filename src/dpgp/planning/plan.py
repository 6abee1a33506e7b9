"""What will ε buy? The design of a fit and its expected error, before any budget is spent.

Everything here follows from public numbers: rows, bounds, the budget, and a weak prior of what
functions are like. No data is seen. docs/choosing-epsilon.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpgp.blas import single_threaded_blas
from dpgp.categories import read_categories
from dpgp.domain import Box
from dpgp.options import Options
from dpgp.outcomes.labels import class_box, named_classes
from dpgp.planning.forecast import Errors
from dpgp.planning.many import ManyFunctions, asked_many
from dpgp.planning.prior_functions import Functions, broad_functions
from dpgp.planning.question import (
    Answer,
    Forecast,
    PlannedDesign,
    Question,
    planned_design,
    reasons,
)
from dpgp.planning.setting import DOCUMENT, Assumption, nothing_better
from dpgp.privacy.arguments import DELTA, EPSILON, as_count, as_finite_positive
from dpgp.row_weights import TYPICAL
from dpgp.study.errors import RefusedError
from dpgp.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Where a plot of the forecast has its points: equal steps to the eye on a logarithmic axis."""

SEARCHED = (0.01, 100.0)
"""Range in which :meth:`Plan.epsilon_for` looks: hardly any use below, hardly any promise above."""

SEARCH_STEP = 1.02
"""Where it stops: forecasts are not accurate to two per cent in ε."""


@dataclass(frozen=True)
class Curve:
    """Forecast error along ε or n, and the error that would remain without any noise.

    ``useful`` says where it is expected to be below that of predicting the mean.
    """

    along: str
    values: Array
    rmse: Array
    low: Array
    high: Array
    interval_width: Array
    floor: Array
    useful: NDArray[np.bool_]


@dataclass(frozen=True)
class Plan:
    """The design of a fit that has not been made, what it is expected to reach, and why."""

    n: int
    epsilon: float
    delta: float
    design: PlannedDesign
    forecasts: tuple[Forecast, ...]
    why: tuple[str, ...]
    question: Question

    @property
    def forecast(self) -> Forecast:
        """The forecast of the target, of several the first."""
        return self.forecasts[0]

    @single_threaded_blas()
    def curve(
        self, *, epsilons: Sequence[float] | None = None, ns: Sequence[int] | None = None
    ) -> Curve:
        """Forecast the error for other ε, or for other numbers of rows."""
        if (epsilons is None) == (ns is None):
            raise ValueError("`curve` needs either `epsilons` or `ns`, and not both.")
        if ns is not None:
            values = [float(as_count("ns", n)) for n in ns]
            return _curve(self.question, "n", values, [(n, self.epsilon) for n in values])
        values = [as_finite_positive("epsilons", epsilon) for epsilon in epsilons or ()]
        return _curve(self.question, "epsilon", values, [(self.n, value) for value in values])

    @single_threaded_blas()
    def epsilon_for(self, error: float) -> float:
        """Return the smallest ε that is expected to reach this error, in units of the target.

        Raises a ValueError where no ε is expected to, with this number of rows.
        """
        error = as_finite_positive("error", error)
        floor = self._expected(math.inf)
        low, high = SEARCHED
        if error <= floor or self._expected(high) > error:
            raise RefusedError(
                f"an error of {error:g} is not expected with n = {self.n:,} rows, whatever "
                f"epsilon: {floor:.3g} is left even without noise. Collect more rows, accept a "
                "larger error, or tighten the bounds.",
                see=DOCUMENT,
                code="out-of-reach",
            )
        if self._expected(low) <= error:
            return low
        while high / low > SEARCH_STEP:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self._expected(middle) <= error else (middle, high)
        return high

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the forecast error against ε, with the error that remains without noise."""
        from dpgp.report.notebook import draw_curve

        return draw_curve(self, ax)

    def _expected(self, epsilon: float) -> float:
        answer = self.question.answer(self.n, epsilon)
        return self.question.forecasts(answer.errors)[0].rmse

    def __str__(self) -> str:
        from dpgp.report.notebook import plan_text

        return plan_text(self)

    def _repr_html_(self) -> str:
        from dpgp.report.notebook import plan_html

        return plan_html(self)


def plan(
    *,
    n: int,
    bounds: Any = None,
    target_bounds: Any = None,
    classes: Any = None,
    categories: Any = None,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    kernel: Any = None,
    noise_std: float | None = None,
    r2: float | None = None,
    prevalence: float | None = None,
    features: str | Sequence[str] | None = None,
    inducing_points: Any = None,
    stages: int | Sequence[float] | None = None,
    passes: str = "few",
    neighbours: str = "replace",
    units: bool = False,
    max_rows_per_unit: int = 1,
    rows_of_unit: str = "random",
    warp: bool = True,
    calibrate: bool = True,
    missing: str = "error",
    weight_bound: float | None = None,
    mean_weight: float | None = None,
) -> Plan:
    """Plan a fit of ``n`` rows without data: its design, expected error, and what ε would buy.

    Arguments are those of :class:`dpgp.PrivateGPRegressor`; ``bounds`` holds one pair for each
    input that is no category, and a category counts as one input. ``classes`` instead of
    ``target_bounds`` plans a :class:`dpgp.PrivateGPClassifier`. ``units`` says whether
    :meth:`~dpgp.PrivateGPRegressor.fit` will be told whose a row is. Several rows of a person are
    taken to tell as much as rows of several people.

    What is known of the outcome, from elsewhere and never from these rows: ``noise_std``, the noise
    of an observation in units of the target; or ``r2``, the share of its variance that the inputs
    explain; or ``prevalence``, the share of the second class. docs/choosing-epsilon.md. Rows with
    weights are taken to weigh ``mean_weight`` each, half of ``weight_bound`` where nothing is said.

    >>> planned = plan(n=5000, bounds=[(2, 18)], target_bounds=(70, 190), epsilon=1.0, delta=1e-6)
    >>> planned.forecast.rmse < 10.0  # cm, of the mean of people alike
    True
    """
    options = Options.parse(
        box=input_box(bounds, categories),
        target_box=target_box(target_bounds, classes),
        epsilon=epsilon,
        delta=delta,
        kernel=kernel,
        inducing_points=inducing_points,
        features=features,
        stages=stages,
        passes=passes,
        neighbours=neighbours,
        per_person=bool(units),
        max_rows_per_unit=max_rows_per_unit,
        rows_of_unit=rows_of_unit,
        warp=warp,
        calibrate=calibrate,
        missing=missing,
        weight_bound=weight_bound,
    )
    told = {"noise_std": noise_std, "r2": r2, "prevalence": prevalence}
    return plan_of(options, n, **told, mean_weight=mean_weight)


@single_threaded_blas()
def plan_of(
    options: Options,
    n: int,
    *,
    noise_std: float | None = None,
    r2: float | None = None,
    prevalence: float | None = None,
    mean_weight: float | None = None,
) -> Plan:
    """Plan a fit of ``n`` rows with these options, and what is said of outcome and weights."""
    told, weight = (
        _assumption(options, noise_std, r2, prevalence),
        _row_weight(options, mean_weight),
    )
    question = Question(options, _functions(options, told), told, weight)
    rows = as_count("n", n)
    options.check_rows(rows)
    answer = question.answer(rows, options.epsilon)
    _check_rows(rows, answer)
    if not _beats_the_mean(answer.errors):
        raise nothing_better(rows, options.epsilon)
    expected = question.forecasts(answer.errors)
    design = planned_design(answer, options)
    why = reasons(question, answer)
    return Plan(rows, options.epsilon, options.delta, design, expected, why, question)


def _assumption(
    options: Options, noise_std: float | None, r2: float | None, prevalence: float | None
) -> Assumption:
    if noise_std is not None and len(options.target_box.low) > 1:
        raise ValueError("`noise_std` is that of one target; of several, give `r2`, or ask singly.")
    half_width = float(options.functions.half_width[0])
    return Assumption.of(half_width, options.outcome, noise_std, r2, prevalence)


def _row_weight(options: Options, mean_weight: float | None) -> float:
    """Return what part of a whole row a row weighs."""
    if options.weight_bound is None:
        if mean_weight is not None:
            raise ValueError("`mean_weight` needs `weight_bound`, the weight of a whole row.")
        return 1.0
    if mean_weight is None:
        return TYPICAL
    part = as_finite_positive("mean_weight", mean_weight) / options.weight_bound
    if part > 1.0:
        raise ValueError("`mean_weight` must be at most `weight_bound`, to which weights are cut.")
    return part


def _functions(options: Options, told: Assumption) -> Functions | ManyFunctions:
    if options.learns_metric:
        return asked_many(options, told)
    return broad_functions(options.kernels[0], options.columns, told)


def _check_rows(n: int, answer: Answer) -> None:
    if answer.design is None:
        return
    d = answer.design.features.dimension
    if n < d:
        raise RefusedError(
            f"`n` = {n} is below the number of features, {d}",
            "ask for fewer with `inducing_points` or `features`, or collect more rows",
            DOCUMENT,
            code="few-rows",
        )


def _beats_the_mean(errors: Errors) -> bool:
    return bool(np.median(errors.rmse / errors.spread) < 1.0)


def _curve(
    question: Question, along: str, values: Sequence[float], points: Sequence[tuple[float, float]]
) -> Curve:
    if not values:
        raise ValueError(f"`curve` needs at least one value of {along}.")
    errors = [question.answer(*point).errors for point in points]
    forecasts = [question.forecasts(each)[0] for each in errors]
    exact = {n: question.forecasts(question.answer(n, math.inf).errors)[0].rmse for n, _ in points}
    return Curve(
        along,
        np.array(values),
        np.array([forecast.rmse for forecast in forecasts]),
        np.array([forecast.low for forecast in forecasts]),
        np.array([forecast.high for forecast in forecasts]),
        np.array([forecast.interval_width for forecast in forecasts]),
        np.array([exact[n] for n, _ in points]),
        np.array([_beats_the_mean(each) for each in errors]),
    )


def input_box(bounds: Any, categories: Any = None) -> Box:
    """Read one pair for each input that is no category; a single pair is one input."""
    listed = list(categories) if isinstance(categories, Mapping) else []
    if isinstance(bounds, Mapping) or (bounds is None and listed):
        names = list(dict.fromkeys([*(bounds or {}), *map(str, listed)]))
        kinds = read_categories(categories, names, len(names))
        return Box.from_bounds(bounds, len(names), names, categories=kinds)
    single = bounds is None or (len(bounds) == 2 and all(np.ndim(end) == 0 for end in bounds))
    columns = (1 if single else len(bounds)) + len(listed)
    kinds = read_categories(categories, None, columns)
    return Box.from_bounds(bounds, columns, categories=kinds)


def target_box(target_bounds: Any, classes: Any) -> Box:
    """Read one pair, a list of pairs, or classes."""
    if classes is not None:
        if target_bounds is not None:
            raise ValueError("`classes` and `target_bounds` contradict; classes have no bounds.")
        return class_box(named_classes(classes))
    listed = isinstance(target_bounds, list | tuple) and any(np.ndim(p) for p in target_bounds)
    count = len(target_bounds) if listed else 1
    return Box.from_bounds(target_bounds, count, argument="target_bounds")
