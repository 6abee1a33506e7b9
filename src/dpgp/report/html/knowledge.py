"""What is known and how well: errors and hyperparameters, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpgp.model.fitted import low_median_high
from dpgp.report.health import LOOKS_WRONG
from dpgp.report.html.accuracy import (
    Achieved,
    Expected,
    achieved_over_box,
    achieved_where_data_are,
    expected,
)
from dpgp.report.html.hyperparameters import Hyperparameter, hyperparameters
from dpgp.report.html.markup import Markup, element, join, number, paragraph, table
from dpgp.report.html.svg import draws_strip, range_strip

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


class Line(NamedTuple):
    """One line of the comparison: an error with its range, and the width of an interval."""

    label: str
    error: float
    low: float
    high: float
    width: float


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


def accuracy(model: FittedModel) -> Markup:
    """Return the forecast beside the posterior's own error, for every target."""
    names, plan = model.target_names, expected(model)
    tables = join(_comparison(model, k, name, plan) for k, name in enumerate(names))
    return Markup(paragraph(*_introduction(plan)) + tables + paragraph(HOW_TO_READ, class_="quiet"))


HOW_TO_READ = (
    "The error is the root mean square of what is unknown about the function, by the model's own "
    "account. The forecast takes inputs to be spread evenly over the box; its range holds eight "
    "plausible functions in ten. A model may well know more where the data are, and less elsewhere."
)


def _introduction(plan: Expected) -> tuple[str, ...]:
    known = "a public number" if plan.rows_are_public else "a private number, released with noise"
    rows = f"The fit was told of {plan.rows:,} rows ({known}). "
    if not plan.forecasts:
        reason = plan.why_not.rstrip(".")
        return (rows, element("strong", "There is no forecast to compare with:"), f" {reason}.")
    return (rows, "The plan's forecast was made from public numbers, without data.")


def _comparison(model: FittedModel, k: int, name: str, plan: Expected) -> Markup:
    lines = []
    if plan.forecasts:
        f = plan.forecasts[k]
        lines.append(Line("forecast of the plan", f.rmse, f.low, f.high, f.interval_width))
    near = achieved_where_data_are(model, k)
    if near is not None:
        lines.append(_line("the model, where the data are", near))
    lines.append(_line("the model, evenly over the box", achieved_over_box(model, k)))
    largest = 1.1 * max(line.high for line in lines)
    headings = (
        "",
        "error of the mean",
        "range",
        f"from 0 to {largest:.3g}",
        "width of 95 % interval",
    )
    rows = [_comparison_row(line, largest) for line in lines]
    return table(f"Error of the function, in units of {name}", headings, rows)


def _line(label: str, achieved: Achieved) -> Line:
    return Line(label, achieved.error, achieved.error, achieved.error, achieved.interval_width)


def _comparison_row(line: Line, largest: float) -> tuple[str, ...]:
    spread = f"{number(line.low)} to {number(line.high)}" if line.high > line.low else "–"
    picture = range_strip(
        line.error, line.low, line.high, largest, f"{line.label}: {line.error:.3g}"
    )
    return (line.label, number(line.error), spread, Markup(picture), number(line.width))


def learned(model: FittedModel) -> Markup:
    """Return the hyperparameters of every target with the range of their draws."""
    names = model.target_names
    tables = join(_hyperparameters(model, k, name) for k, name in enumerate(names))
    warped = "is the range after the private warp" if model.inputs.warp else "is the range"
    units = (
        f"Lengths are in half ranges: 2 {warped} of an input, from bound to bound. Over a length "
        "the function may change markedly. Strips show every draw on a logarithmic scale, from a "
        "tenth of the median to ten times the median: the wider, the less is known."
    )
    return Markup(paragraph(INTEGRATED) + tables + paragraph(units, class_="quiet"))


INTEGRATED = (
    "Hyperparameters were learned from the releases at no further cost. Predictions average over "
    "equally likely draws of them, so that what is unknown about them is part of every interval."
)


def _hyperparameters(model: FittedModel, k: int, name: str) -> Markup:
    found = hyperparameters(model, k)
    words = [h.what for h in found]
    rows = [_hyperparameter_row(h, alike=words.count(h.what) > 1) for h in found]
    headings = ("hyperparameter", "median", "nine in ten draws", "unit", "draws")
    return table(f"Hyperparameters of the model of {name}", headings, rows)


def _hyperparameter_row(h: Hyperparameter, alike: bool) -> tuple[str, ...]:
    """Return a row in words; scikit-learn's name tells those apart that have the same."""
    low, median, high = low_median_high(h.draws)
    label = f"{h.what}: median {median:.3g}, nine in ten draws from {low:.3g} to {high:.3g}"
    name = element("code", h.name) if alike else Markup("")
    words = join([h.what, name])
    picture = Markup(draws_strip(h.draws, label))
    return (words, number(median), f"{number(low)} to {number(high)}", h.unit, picture)
