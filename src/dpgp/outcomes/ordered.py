r"""One of K classes that have an order, poor to good: one function, and thresholds.

What is released is what :mod:`dpgp.outcomes.classes` releases, and what every class says,
:math:`p_k`, is read as one function of x, how high people rank. With :math:`Q_k = p_1 + \dots +
p_k` and :math:`m_k` the average of :math:`\operatorname{logit}(1 - Q_k)` over shares w of people,

.. math:: \ell(x) = \textstyle\sum_{k<K}v_k(\operatorname{logit}(1 - Q_k) - m_k)\big/\sum_{k<K}v_k,
          \qquad v_k = Q_k(1 - Q_k).

Classes are what thresholds cut a logistic law about it into,

.. math:: P(y \le k \mid x) = \sigma(a_k - b\,\ell(x)), \qquad
          \textstyle\sum_x w_x\sigma(a_k - b\,\ell(x)) = \sum_x w_xQ_k(x),

so that averages stay what was released, and :math:`a_1 \le a_2 \le \dots`. b is such that the mean
number of the class goes with :math:`\ell` as far as the classes say. Classes that are of this form
already stay what they are (McCullagh 1980: proportional odds). All of it is computed from released
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit

from dpgp.domain import Box
from dpgp.outcomes.chances import SMALLEST_ERROR
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
        return in_order(p, cuts) if cuts else p


def ranks(p: Array, offsets: Array) -> Array:
    """Return ℓ of probabilities (classes, rows), none of them 0."""
    below, above = np.cumsum(p, axis=0)[:-1], np.cumsum(p[::-1], axis=0)[-2::-1]
    trust, odds = below * above, np.log(above / below)
    return np.asarray(np.sum(trust * (odds - offsets[:, None]), axis=0) / trust.sum(axis=0))


def in_order(p: Array, cuts: Sequence[Cut]) -> Array:
    """Return what one function makes of probabilities (classes, rows)."""
    return cut_shares(ranks(p, np.array([cut.offset for cut in cuts[:-1]])), cuts)


def cut_shares(rank: Array, cuts: Sequence[Cut]) -> Array:
    """Return the probabilities of all classes at these ℓ, none of them 0."""
    ends = np.array([-math.inf, *(cut.threshold for cut in cuts[:-1]), math.inf])
    below = expit(ends[:, None] - cuts[0].slope * rank)
    return shares_of(np.maximum(np.diff(below, axis=0), 0.0), np.ones(len(cuts)))


def fitted_cuts(p: Array, shares: Array) -> list[Cut]:
    """Return offsets, thresholds and the slope of probabilities that ``shares`` of people have."""
    from scipy.optimize import brentq  # slow to import, and a fitted model needs it no more

    below, above = np.cumsum(p, axis=0)[:-1], np.cumsum(p[::-1], axis=0)[-2::-1]
    offsets, numbers = np.log(above / below) @ shares, np.arange(len(p))
    rank = ranks(p, offsets)
    along = shares * (rank - shares @ rank)

    def cuts(b: float) -> list[Cut]:
        thresholds = [level_of(-b * rank, shares, float(whole)) for whole in below @ shares]
        parts = zip(offsets.tolist(), thresholds, strict=True)
        return [*(Cut(m, a, b) for m, a in parts), Cut(0.0, 0.0, b)]

    def gap(b: float) -> float:
        return float(along @ (numbers @ (cut_shares(rank, cuts(b)) - p)))

    deviation = math.sqrt(max(float(along @ rank), 0.0))
    if deviation < SMALLEST_ERROR or gap(0.0) >= 0.0:  # nobody ranks above others
        return cuts(0.0)
    most = LARGEST_DEVIATION / deviation
    return cuts(most if gap(most) <= 0.0 else float(brentq(gap, 0.0, most)))
