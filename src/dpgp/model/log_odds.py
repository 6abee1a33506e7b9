"""How beliefs become probabilities, from the private model of the inputs (dpgp.outcomes.log_odds).

Computed from released numbers alone; it costs nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpgp.model.input_model import InputDensity
from dpgp.outcomes.log_odds import LogOdds

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

SAME = 1e-6
"""Of probabilities and of log odds: far above what another processor rounds, and of no use."""


def log_odds_of(model: FittedModel) -> tuple[LogOdds, ...]:
    """Return the link of every target; none where the kind of outcome has no such link."""
    if not model.outcome.link_is_fitted or model.density is None:
        return ()
    found = tuple(_log_odds(model, k, model.density) for k in range(model.n_targets))
    return _adding_up(model, found, model.density) if model.outcome.is_joint else found


def log_odds_follow(model: FittedModel) -> bool:
    """Return whether a model's links are those that its beliefs and its inputs give.

    Files of earlier versions have other links, or none, and nothing to compare them with.
    """
    stated = model.log_odds
    if model.density is None or any(odds.spread is None for odds in stated):
        return True
    again, U = replace(model, log_odds=log_odds_of(model)), model.inputs(model.density.points)
    one, two = (np.array([p for p, _ in each.means_and_stds(U)]) for each in (model, again))
    shifts = [odds.shift for odds in stated]
    return bool(
        np.abs(one - two).max() <= SAME
        and np.allclose(shifts, [odds.shift for odds in again.log_odds], rtol=0.0, atol=SAME)
    )


def _adding_up(
    model: FittedModel, odds: tuple[LogOdds, ...], density: InputDensity
) -> tuple[LogOdds, ...]:
    """Return the same with what makes probabilities of classes add up, also on average."""
    U, shares = model.inputs(density.points), density.weights / density.weights.sum()
    beliefs = [model.belief(k, U) for k in range(model.n_targets)]
    pairs = zip(odds, beliefs, strict=True)
    own = np.array([each.probability(*belief) for each, belief in pairs])
    return model.outcome.adding_up(own, shares, odds)


def _log_odds(model: FittedModel, target: int, density: InputDensity) -> LogOdds:
    U, shares = model.inputs(density.points), density.weights / density.weights.sum()
    scale = float(model.options.functions.half_width[target])
    covariance = scale**2 * model.posteriors[target].covariance(U)
    return model.outcome.log_odds(*model.belief(target, U), shares, covariance)
