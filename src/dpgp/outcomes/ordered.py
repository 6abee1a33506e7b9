r"""One of K classes that have an order, poor to good: one function, and thresholds.

What is released is what :mod:`dpgp.outcomes.classes` releases, and what every class says,
:math:`p_k`, is read as one function of x, how high people rank among all:

.. math:: \ell(x) = \operatorname{logit}\tfrac12\big(1 + \textstyle\sum_k r_kp_k(x)\big), \qquad
          r_k = C_k + C_{k-1} - 1,

with :math:`C_k` the share of people up to class k: ridits (Bross 1958), on [−1, 1]. Classes are
what thresholds cut a logistic law about it into,

.. math:: P(y \le k \mid x) = \sigma(a_k - b\,\ell(x)), \qquad
          \textstyle\sum_x w_x\sigma(a_k - b\,\ell(x)) = C_k,

so that averages stay what was released, and :math:`a_1 < a_2 < \dots`. b is such that ranks go with
:math:`\ell` as far as the classes say: :math:`\sum_x w_x\ell\sum_k r_k(p_k' - p_k) = 0`, p′ being
the new probabilities. All of it is computed from released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit, logit

from dpgp.domain import Box
from dpgp.outcomes.classes import Classes, shares_of
from dpgp.outcomes.log_odds import LARGEST_DEVIATION, Cut, LogOdds, level_of
from dpgp.types import Array


@dataclass(frozen=True)
class OrderedClasses(Classes):
    """One of three classes or more, in the order in which they are named."""

    option: ClassVar[str | None] = "ordered"
    has_order: ClassVar[bool] = True
    title: ClassVar[str] = (
        "A model of the probabilities of ordered classes under differential privacy"
    )
    aside: ClassVar[str] = ", in this order"

    @classmethod
    def is_asked(cls, target_box: Box, wishes: Mapping[str, bool]) -> bool:
        """Return whether an order is asked for, unless it is that of two classes."""
        return cls.is_ordered(wishes) and (not target_box.categories or cls.has_several(target_box))

    @classmethod
    def of(cls, target_box: Box) -> Self:
        """Return the outcome; an error where there are no classes that could have an order."""
        if not target_box.categories:
            raise ValueError("`ordered` is about `classes`; name them in their order, or leave it.")
        return super().of(target_box)

    def adding_up(self, own: Array, shares: Array, odds: Sequence[LogOdds]) -> tuple[LogOdds, ...]:
        """Return the same with thresholds by which all classes keep their shares on average."""
        raked = super().adding_up(own, shares, odds)
        cuts = fitted_cuts(super().together(own, raked), shares)
        return tuple(each._replace(cut=cut) for each, cut in zip(raked, cuts, strict=True))

    def together(self, own: Array, odds: Sequence[LogOdds]) -> Array:
        """Return probabilities by one function; as of classes without an order if none is known."""
        p, cuts = super().together(own, odds), [each.cut for each in odds if each.cut]
        return cut_shares(ranks(p, cuts), cuts) if cuts else p


def ranks(p: Array, cuts: Sequence[Cut]) -> Array:
    """Return ℓ of probabilities (classes, rows)."""
    return np.asarray(logit((1.0 + np.array([cut.score for cut in cuts]) @ p) / 2.0))


def cut_shares(rank: Array, cuts: Sequence[Cut]) -> Array:
    """Return the probabilities of all classes at these ℓ, none of them 0."""
    ends = np.array([-math.inf, *(cut.threshold for cut in cuts[:-1]), math.inf])
    below = expit(ends[:, None] - cuts[0].slope * rank)
    return shares_of(np.maximum(np.diff(below, axis=0), 0.0), np.ones(len(cuts)))


def fitted_cuts(p: Array, shares: Array) -> list[Cut]:
    """Return scores, thresholds and the slope of probabilities that ``shares`` of people have."""
    from scipy.optimize import brentq  # slow to import, and a fitted model needs it no more

    up_to = np.cumsum(p @ shares)
    scores = up_to + np.append(0.0, up_to[:-1]) - 1.0
    rank = logit((1.0 + scores @ p) / 2.0)
    centred = rank - shares @ rank
    said, deviation = float(shares * centred @ (scores @ p)), math.sqrt(shares @ centred**2)

    def cuts(b: float) -> list[Cut]:
        thresholds = [level_of(-b * rank, shares, float(share)) for share in up_to[:-1]]
        return [Cut(r, a, b) for r, a in zip(scores.tolist(), [*thresholds, 0.0], strict=True)]

    def gap(b: float) -> float:
        return float(shares * centred @ (scores @ cut_shares(rank, cuts(b)))) - said

    if said <= 0.0:  # nobody ranks above others
        return cuts(0.0)
    most = LARGEST_DEVIATION / deviation
    return cuts(most if gap(most) <= 0.0 else float(brentq(gap, 0.0, most)))
