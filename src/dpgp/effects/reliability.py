r"""How good probabilities of yes and no are: reliability and AUC, by counts that were released.

Counts :math:`a` of yes and :math:`b` of no in bins of the prediction carry noise of known variance.
What is told of them is a ratio q that solves :math:`T(q) = 0`:

.. math:: T(q) = a_i - q\,(a_i + b_i), \qquad
          T(q) = \sum_{ij} a_i b_j \left(1[j < i] + h_i 1[j = i] - q\right),

the share of yes in a bin, and the probability that a yes is predicted higher than a no. Within a
bin that is :math:`h = \tfrac12 + E|p - p'| / 4p(1 - p)`, by the model's own account. Its interval
holds all q with :math:`|T(q)| \le 1.96\,\mathrm{sd}\,T(q)`, a count having the variance of its
noise and its own as a sum over people (Fieller, 1954): wide where nearly all is noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from dpgp.effects.records import Range, Reliability
from dpgp.inference.conformal import COVERAGE
from dpgp.steps import LABELS_BY_PREDICTION
from dpgp.steps.reliability import YES_AND_NO
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

RATIOS = np.arange(1001) / 1000
"""Ratios that are tried."""


def reliability(model: FittedModel) -> Reliability:
    """Return the share of yes among rows of alike probabilities, and the AUC."""
    told = told_reliability(model)
    if told is None:
        raise ValueError(
            "`reliability` needs counts of labels by their predictions, which a fit of two classes "
            "releases where its budget suffices: raise `epsilon`, and ask a model that was fitted, "
            "not one that was pooled or read again."
        )
    return told


def told_reliability(model: FittedModel) -> Reliability | None:
    """Return the same, None where nothing of it was released."""
    found = model.findings.get(LABELS_BY_PREDICTION)
    if found is None or len(model.outcome.labels) != YES_AND_NO:
        return None
    names = ("predicted", "apart", "no", "yes")
    means, gaps, no, yes = (np.array(found[name]) for name in names)
    p = model.probability_of_mean(means)
    apart = model.probability_of_mean(means + gaps / 2) - model.probability_of_mean(
        means - gaps / 2
    )
    within = np.minimum(0.5 + apart / (4.0 * p * (1.0 - p)), 1.0)
    bins = [share_of_yes(*pair, found["noise"]) for pair in zip(yes, no, strict=True)]
    return Reliability(
        words=model.target_in_words(0),
        probability=p,
        observed=np.array([each.value for each in bins]),
        lower=np.array([each.low for each in bins]),
        upper=np.array([each.high for each in bins]),
        auc=auc_of(yes, no, within, found["noise"]),
    )


def share_of_yes(yes: float, no: float, noise: float) -> Range:
    """Return a/(a + b), within its interval."""
    off = (1.0 - RATIOS) * yes - RATIOS * no
    variance = (1.0 - RATIOS) ** 2 * _variance(yes, noise) + RATIOS**2 * _variance(no, noise)
    return _where_zero(off, variance)


def auc_of(yes: Array, no: Array, within: Array, noise: float) -> Range:
    """Return the probability that yes is predicted higher than no, from counts in rising bins.

    ``within`` is that of two in one bin.
    """
    higher = np.tri(len(yes), k=-1) + np.diag(within)
    against_no = (higher @ no)[:, None] - RATIOS * no.sum()
    against_yes = (yes @ higher)[:, None] - RATIOS * yes.sum()
    variance = _variance(yes, noise) @ against_no**2 + _variance(no, noise) @ against_yes**2
    return _where_zero(yes @ against_no, variance)


def _variance(counts: Array | float, noise: float) -> Array:
    return np.asarray(noise**2 + np.maximum(counts, 0.0))


def _where_zero(off: Array, variance: Array) -> Range:
    """Return the ratio that is least far off, and all that are not too far."""
    far = np.abs(off) / np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))
    best = int(np.argmin(far))
    near = np.flatnonzero(far <= max(-ndtri((1.0 - COVERAGE) / 2.0), far[best]))
    return Range(float(RATIOS[best]), float(RATIOS[near[0]]), float(RATIOS[near[-1]]))
