"""The error of f that was to be expected of a fit, forecast again with what it has released."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpgp.blas import single_threaded_blas
from dpgp.planning.design import default_functions, planned_kappa, usual_assumption
from dpgp.planning.forecast import PLAUSIBLE, Outlook, Prospect, after_steps
from dpgp.planning.many import asked_many
from dpgp.planning.question import Question
from dpgp.planning.setting import Setting
from dpgp.privacy.books import mu_of_guarantee
from dpgp.steps import Purse, planned_steps
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.posterior import Posterior
    from dpgp.model.fitted import FittedModel
    from dpgp.planning.prior_functions import Functions


PARTS = 5
"""Parts of the plausible functions that are forecast one after the other."""


@single_threaded_blas()
def expected_error(model: FittedModel, posterior: Posterior, enough: float) -> float:
    """Return the error of f that nine plausible functions in ten stay below with these releases.

    Where it is at least ``enough``, that is returned as soon as it is certain.
    """
    options = model.options
    if math.isinf(mu_of_guarantee(options.epsilon, options.delta)):
        return math.inf
    many = options.learns_metric
    parts, count = _of_many(model) if many else _of_few(model, posterior)
    # at most so many of N errors may lie above the quantile, and the next one
    beyond, found = (1.0 - PLAUSIBLE[1]) * (count - 1) + 1.0, np.empty(0)
    for errors in parts:
        found = np.append(found, errors)
        if np.count_nonzero(found >= enough) > beyond:
            return enough
    return float(np.quantile(found, PLAUSIBLE[1]))


def _of_many(model: FittedModel) -> tuple[Iterator[Array], int]:
    """Return the errors of features that are learned, part by part, and how many there are."""
    options, n = model.options, model.stages[0][0].n
    told = usual_assumption(options.outcome)
    functions = asked_many(options, told)
    weight = model.row_weight
    questions = (Question(options, functions.part(k, PARTS), told, weight) for k in range(PARTS))
    errors = (question.answer(n, options.epsilon).errors.rmse for question in questions)
    return errors, len(functions.draws)


def _of_few(model: FittedModel, posterior: Posterior) -> tuple[Iterator[Array], int]:
    """Return the errors of the features of a posterior, part by part, and how many there are."""
    options, n = model.options, model.stages[0][0].n
    mu = mu_of_guarantee(options.epsilon, options.delta)
    setting = Setting.of(options, n, model.row_weight * mu)
    steps = planned_steps(Purse(options, mu, n if options.row_count_is_public else None))
    functions = default_functions(options.columns, options.outcome)

    def errors(part: Functions) -> Array:
        prospect = Prospect(posterior.features, part)
        outlook = Outlook.before(setting, prospect, planned_kappa(setting))
        return after_steps(outlook, steps).errors().rmse

    return (errors(functions.part(k, PARTS)) for k in range(PARTS)), len(functions.thetas)
