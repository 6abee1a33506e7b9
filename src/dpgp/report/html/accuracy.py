"""What the plan forecast before the data were seen, against what the posterior says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.effects.input_model import representative_rows
from dpgp.features.placement import low_discrepancy_points
from dpgp.inference.conformal import COVERAGE
from dpgp.planning.plan import plan_of
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.planning.question import Forecast


BOX_POINTS = 512  # inputs that stand for the box in an average


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
    rows_are_public: bool
    forecasts: tuple[Forecast, ...]
    why_not: str = ""


def expected(model: FittedModel) -> Expected:
    """Forecast the fit from its public arguments and the number of rows that it knew."""
    public = model.options.row_count_is_public
    rows = max(round(model.stages[0][0].n), 1)
    try:
        return Expected(rows, public, plan_of(model.options, rows).forecasts)
    except ValueError as error:
        return Expected(rows, public, (), str(error))


def achieved_where_data_are(model: FittedModel, target: int) -> Achieved | None:
    """Average over the private density of the inputs, where there is one."""
    density = model.density
    if density is None:
        return None
    return _achieved(model, target, density.points, density.weights)


def achieved_over_box(model: FittedModel, target: int) -> Achieved:
    """Average over the public box, all of it alike."""
    box = model.inputs.box
    points = box.with_whole_levels(low_discrepancy_points(box.low, box.high, BOX_POINTS))
    return _achieved(model, target, points, np.ones(len(points)))


def explained(model: FittedModel, target: int) -> float:
    r"""Return the share of the variance of observations that the mean explains, by its own account.

    :math:`R^2 = \mathrm{Var}\,m(x)/(\mathrm{Var}\,m(x) + E\,s(x)^2)` over the private model of the
    inputs, with the calibrated standard deviation s of a new observation.
    """
    U = model.inputs(representative_rows(model))
    mean, std = model.mean_and_std(target, U)
    variance = float(np.var(model.within_bounds(target, mean)))
    unexplained = float(np.mean((model.calibrations[target].scale * std) ** 2))
    return variance / (variance + unexplained)


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
