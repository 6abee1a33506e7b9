"""What is known and how well: health, errors against the plan's forecast, hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.inference.conformal import COVERAGE
from dpgp.kernels.known import as_kernel
from dpgp.kernels.parameters import Learned, Measure
from dpgp.markup import Markup, element, join, paragraph
from dpgp.model.fitted import low_median_high
from dpgp.model.input_model import even_rows
from dpgp.planning.plan import plan_of
from dpgp.report.health import LOOKS_WRONG
from dpgp.report.html.tables import draws_strip, number, range_strip, table
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.planning.question import Forecast


BOX_POINTS = 512  # inputs that stand for the box in an average

HOW_TO_READ = (
    "The error is the root mean square of what is unknown about the function, by the model's own "
    "account. The forecast takes inputs to be spread evenly over the box; its range holds eight "
    "plausible functions in ten. A model may well know more where the data are, and less elsewhere."
)
INTEGRATED = (
    "Hyperparameters were learned from the releases at no further cost. Predictions average over "
    "equally likely draws of them, so that what is unknown about them is part of every interval."
)


def health(model: FittedModel) -> Markup:
    """Return what looks wrong where nobody overlooks it; nothing where all is well."""
    found = model.health
    if not found:
        return Markup("")
    sentences = join(element("li", sentence) for sentence in found)
    return element(
        "aside",
        paragraph(LOOKS_WRONG),
        element("ul", sentences),
        class_="health",
        role="note",
        aria_label="Health check",
    )


@dataclass(frozen=True)
class Achieved:
    """The posterior's own error of the mean and width of a 95 % interval, on average over inputs.

    Root mean square of the standard deviation of f, in units of the target. The interval is for a
    new observation, or for the probability of the second of two classes.
    """

    error: float
    interval_width: float


@dataclass(frozen=True)
class Expected:
    """A forecast for a number of rows, or why there is none."""

    rows: int
    known: str
    forecasts: tuple[Forecast, ...]
    why_not: str = ""


def expected(model: FittedModel) -> Expected:
    """Forecast the fit from its public arguments and the number of rows that it knew."""
    options, rows = model.options, max(round(model.stages[0][0].n), 1)
    known, mean_weight = "a private number, released with noise", None
    if options.row_count_is_public:
        known = "a public number"
    elif options.weight_bound is not None:
        known = f"an effective number, as {model.weights}; both were released with noise"
        mean_weight = model.row_weight * options.weight_bound
    try:
        return Expected(rows, known, plan_of(options, rows, mean_weight=mean_weight).forecasts)
    except ValueError as error:
        return Expected(rows, known, (), str(error))


def achieved_where_data_are(model: FittedModel, target: int) -> Achieved | None:
    """Average over the private density of the inputs, where there is one."""
    density = model.density
    if density is None:
        return None
    return _achieved(model, target, density.points, density.weights)


def achieved_over_box(model: FittedModel, target: int) -> Achieved:
    """Average over the public box, all of it alike."""
    return _achieved(model, target, even_rows(model.inputs.box, BOX_POINTS), np.ones(BOX_POINTS))


def _achieved(model: FittedModel, k: int, X: Array, weights: Array) -> Achieved:
    U = model.inputs(X)
    _, std = model.mean_and_std(k, U, latent=True)
    _, observation_std = model.mean_and_std(k, U)
    factor = model.calibrations[k].factor(COVERAGE)
    width = observation_std if model.outcome.shows_observations else std
    return Achieved(
        error=float(np.sqrt(np.average(std**2, weights=weights))),
        interval_width=2 * factor * float(np.average(width, weights=weights)),
    )


def accuracy(model: FittedModel) -> Markup:
    """Return the forecast beside the posterior's own error, for every target."""
    plan = expected(model)
    tables = (_comparison(model, k, plan) for k in range(model.n_targets))
    introduction, how_to_read = _introduction(plan), paragraph(HOW_TO_READ, class_="quiet")
    return join([paragraph(*introduction), *tables, how_to_read])


def _introduction(plan: Expected) -> tuple[str, ...]:
    rows = f"The fit was told of {plan.rows:,} rows ({plan.known}). "
    if not plan.forecasts:
        reason = plan.why_not.rstrip(".")
        return (rows, element("strong", "There is no forecast to compare with:"), f" {reason}.")
    return (rows, "The plan's forecast was made from public numbers, without data.")


def _comparison(model: FittedModel, k: int, plan: Expected) -> Markup:
    """Return a table of errors with their ranges, and of the widths of intervals."""
    lines = []
    if plan.forecasts:
        f = plan.forecasts[k]
        lines.append(("forecast of the plan", f.rmse, f.low, f.high, f.interval_width))
    for label, own in (
        ("the model, where the data are", achieved_where_data_are(model, k)),
        ("the model, evenly over the box", achieved_over_box(model, k)),
    ):
        if own is not None:
            lines.append((label, own.error, own.error, own.error, own.interval_width))
    largest = 1.1 * max(high for _, _, _, high, _ in lines)
    rows = []
    for label, error, low, high, width in lines:
        spread = f"{number(low)} to {number(high)}" if high > low else "–"
        picture = range_strip(error, low, high, largest, f"{label}: {error:.3g}")
        rows.append((label, number(error), spread, picture, number(width)))
    scale = f"from 0 to {largest:.3g}"
    headings = ("", "error of the mean", "range", scale, "width of 95 % interval")
    return table(f"Error of the function, in units of {model.target_names[k]}", headings, rows)


@dataclass(frozen=True)
class Hyperparameter:
    """Equally likely values of one hyperparameter, and scikit-learn's name of it."""

    what: str
    unit: str
    draws: Array
    name: str


def hyperparameters(model: FittedModel, target: int) -> list[Hyperparameter]:
    """Return the noise, where it is not known, and what was learned of the kernel of one target."""
    posterior = model.posteriors[target]
    inputs = model.input_names
    unit = model.target_names[target]
    scale = float(model.options.functions.half_width[target])
    noise = Hyperparameter("noise of one observation (sd)", unit, model.noise_draws(target), "")
    draws = np.exp(posterior.thetas[:, :-1].T)
    learned = as_kernel(posterior.kernel).learned()
    pairs = zip(learned, draws, strict=True)
    known = [] if model.outcome.law_is_known else [noise]
    return [*known, *(_described(each, values, inputs, unit, scale) for each, values in pairs)]


def _described(
    learned: Learned, values: Array, inputs: list[str], unit: str, scale: float
) -> Hyperparameter:
    words, name = learned.words, learned.name
    if learned.measure is Measure.LENGTH:
        column = 0 if len(inputs) == 1 else learned.column
        along = "" if column is None else f" along {inputs[column]}"
        return Hyperparameter(f"{words}{along}", "half ranges", values, name)
    if learned.measure is Measure.VARIANCE:
        return Hyperparameter(f"{words} (sd)", unit, scale * np.sqrt(values), name)
    if learned.measure is Measure.DEVIATION:
        return Hyperparameter(f"{words} (sd)", unit, scale * values, name)
    return Hyperparameter(words, "", values, name)


def learned(model: FittedModel) -> Markup:
    """Return the hyperparameters of every target with the range of their draws."""
    tables = (_hyperparameters(model, k) for k in range(model.n_targets))
    warped = "is the range after the private warp" if model.inputs.warp else "is the range"
    units = (
        f"Lengths are in half ranges: 2 {warped} of an input, from bound to bound. Over a length "
        "the function may change markedly. Strips show every draw on a logarithmic scale, from a "
        "tenth of the median to ten times the median: the wider, the less is known."
    )
    return join([paragraph(INTEGRATED), *tables, paragraph(units, class_="quiet")])


def _hyperparameters(model: FittedModel, k: int) -> Markup:
    found = hyperparameters(model, k)
    words, rows = [h.what for h in found], []
    for h in found:
        low, median, high = low_median_high(h.draws)
        if low == high:  # draws that are equal tell no uncertainty
            rows.append((h.what, number(median), "one value", h.unit, ""))
            continue
        label = f"{h.what}: median {median:.3g}, nine in ten draws from {low:.3g} to {high:.3g}"
        # scikit-learn's name tells those apart that have the same words
        name = element("code", h.name) if words.count(h.what) > 1 else ""
        spread, picture = f"{number(low)} to {number(high)}", draws_strip(h.draws, label)
        rows.append((join([h.what, name]), number(median), spread, h.unit, picture))
    headings = ("hyperparameter", "median", "nine in ten draws", "unit", "draws")
    return table(f"Hyperparameters of the model of {model.target_names[k]}", headings, rows)
