r"""One of K public classes: a function for each, against all others. docs/how-to/classes.md.

Class k has the target :math:`t_k = 2(1[y = k] - 1/K)` and the function :math:`f_k = 2(p_k - 1/K)`.
A row is in one class, so that its residuals from probabilities that add up to one have a norm of at
most :math:`2\sqrt2`, whatever K (docs/proofs/gram_sensitivity.md, §8).

What every class says by itself, :math:`q_k = \sigma(a_k + b_k\ell_k)` as of yes or no
(dpgp.outcomes.log_odds), is made to add up at every x and on average:

.. math:: p_k(x) = u_kq_k(x)\big/\textstyle\sum_j u_jq_j(x), \qquad \sum_x w_xp_k(x) = P_k,

with shares :math:`w` of people and averages :math:`P_k` of the functions, within [0, 1] and divided
by their sum: iterative proportional fitting (Deming & Stephan 1940), of which there is one result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpgp.domain import Box
from dpgp.outcomes.base import Ends, Location
from dpgp.outcomes.chances import SMALLEST_CHANCE
from dpgp.outcomes.log_odds import LogOdds
from dpgp.outcomes.yes_no import FEWEST_EVENTS, YesNo
from dpgp.types import Array

ROUNDS = 1000
"""Of proportional fitting at most; a few dozen are enough unless a class has hardly a share."""

CLOSE = 1e-12
"""What averages may be off after them."""


@dataclass(frozen=True)
class Classes(YesNo):
    """One of three classes or more: what is predicted is the probability of each."""

    file_format: ClassVar[int] = 5  # the first with more than two classes
    is_joint: ClassVar[bool] = True

    cannot_be_told: ClassVar[Mapping[str, str]] = {
        "noise_std": "`noise_std` of `classes` follows from how frequent they are; leave it out.",
        "prevalence": "`prevalence` is that of the second of two `classes`; leave it out of more.",
    }
    why_no_export: ClassVar[str | None] = (
        "libraries of Gaussian processes would not keep the probabilities of classes within 0 and "
        "1, nor their sum at 1; use `to_onnx`, or predict with `dpgp.load`."
    )
    in_browser: ClassVar[Mapping[str, str | bool]] = {"link": "classes", "whole": False}

    title: ClassVar[str] = "A model of the probabilities of classes under differential privacy"
    how_to_predict: ClassVar[tuple[str, ...]] = (
        "probabilities = model.predict_proba(new)  # a column for each of model.classes_",
        "lower, upper = model.predict_proba_interval(new, coverage=0.95)",
    )
    about_intervals: ClassVar[str] = (
        "Intervals are for the probability of each class by itself, by the model's own account. "
        "Far from the data they are wide, and they should be: the plots are pale there."
    )

    @classmethod
    def is_asked(cls, target_box: Box, wishes: Mapping[str, bool]) -> bool:
        """Return whether the target has more than two classes, and no order is asked for."""
        return cls.has_several(target_box) and not cls.is_ordered(wishes)

    @staticmethod
    def has_several(target_box: Box) -> bool:
        """Return whether the target has more than two classes."""
        return any(len(category.levels) > 2 for category in target_box.categories if category)

    @staticmethod
    def is_ordered(wishes: Mapping[str, bool]) -> bool:
        """Return whether classes are said to have an order; that of two says nothing."""
        return wishes.get("ordered", False)

    @property
    def count(self) -> int:
        """Number K of classes."""
        return len(self.category.levels)

    @property
    def log_noise(self) -> tuple[float, float]:  # type: ignore[override]
        """Of 2√(q(1 − q)) of a share q = 1/K; two sds reach to one in sixteen of three classes."""
        return math.log(2.0 * math.sqrt((1.0 - 1.0 / self.count) / self.count)), 0.35

    @property
    def location(self) -> Location:  # type: ignore[override]
        """Equal shares: ‖t‖² = 4(1 − 1/K) of every class."""
        return self._place(1.0 / self.count, 1.0)

    def located(self, average: float, error: float) -> Location:
        """Return 2(q − 1/K) and 4q(1 − q) of the share q that a noisy average tells."""
        place = super().located(average - self._middle, error)
        return self._place((1.0 + place.centre) / 2.0, place.scale)

    def _place(self, share: float, scale: float) -> Location:
        norm = 2.0 * math.sqrt(1.0 - 1.0 / self.count)
        return Location(2.0 * (share - 1.0 / self.count), scale, True, self._middle, norm)

    @property
    def _middle(self) -> float:
        """That of t, which is −2/K or 2 − 2/K."""
        return 1.0 - 2.0 / self.count

    def functions(self, target_box: Box) -> Box:
        """Return half-widths of one half about 1/K, of each class."""
        (name,) = target_box.column_names("target")
        centre = np.full(self.count, 1.0 / self.count)
        names = tuple(f"{name} = {label}" for label in self.category.labels)
        return Box(centre - 0.5, centre + 0.5, names)

    def function_targets(self, targets: Array) -> Array:
        """Return 1 for the class of a row and 0 for all others."""
        (numbers,) = targets
        return np.asarray(numbers == np.arange(self.count)[:, None], dtype=np.float64)

    def bounds(self, functions: Box, target: int) -> Ends:
        """Return 0 and 1."""
        return 0.0, 1.0

    def prediction_names(self, target_box: Box) -> list[str]:
        """Return the names of the target and of every class."""
        (start,) = super().prediction_names(target_box)
        return [f"{start}_{label}" for label in self.category.labels]

    @property
    def largest_residual(self) -> float:
        """2‖e_y − p‖ ≤ 2√2; noise across the classes is known to add up to nothing."""
        return 2.0 * math.sqrt(2.0 * (1.0 - 1.0 / self.count))

    def joint_clip(self, values: Array) -> float:
        """‖t_y − f‖² = ‖f‖² − 4(f_y − f̄) + 4(1 − 1/K), for the least f_y; at most 8."""
        centred = values - values.mean(axis=0)
        squares = np.sum(values**2, axis=0) - 4.0 * centred.min(axis=0)
        return math.sqrt(min(float(squares.max()) + 4.0 * (1.0 - 1.0 / self.count), 8.0))

    def variance(self, prevalence: float | None) -> float:
        """Return 4q(1 − q) of a share q = 1/K."""
        return 4.0 * (1.0 - 1.0 / self.count) / self.count

    def few_events(self, rows: float, mu: float, prevalence: float | None) -> str:
        """Say where n·q·μ is below ``FEWEST_EVENTS`` for the share q of the rarest class.

        Shares are taken to be equal where none is told.
        """
        share = 1.0 / self.count if prevalence is None else prevalence
        needed = FEWEST_EVENTS / mu if mu > 0.0 else math.inf
        if rows * share >= needed:
            return ""
        return (
            f"events are too few: about {rows * share:,.0f} of the rarest class are expected, and "
            f"with fewer than {needed:,.0f} its probability is often no better than one for all; "
            "raise epsilon, collect more rows, or put classes together"
        )

    def assumed(self, prevalence: float | None) -> str:
        """Say how frequent classes are."""
        return "classes are equally frequent, and their probabilities vary smoothly"

    def adding_up(self, own: Array, shares: Array, odds: Sequence[LogOdds]) -> tuple[LogOdds, ...]:
        """Return the same with weights by which all classes have their shares on average."""
        weights = raking_weights(own, shares, own @ shares)
        return tuple(each._replace(weight=float(u)) for each, u in zip(odds, weights, strict=True))

    def together(self, own: Array, odds: Sequence[LogOdds]) -> Array:
        """Return probabilities that add up to one at every row."""
        return shares_of(own, np.array([each.weight for each in odds]))

    def log_density(self, y: Any, mean: Array, std: Array) -> Array:
        """Return the log probability of every label; of one that is no class it is −∞."""
        numbers = self.category.numbers(list(y))
        of_label = np.where(numbers[:, None] == np.arange(self.count), mean, 0.0).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(of_label))

    def mean_of(self, name: str) -> str:
        """Return what the probability is of; functions have the names of their classes."""
        return f"P({name})"


def shares_of(own: Array, weights: Array) -> Array:
    """Return u_k q_k/Σ_j u_j q_j for every column, none of them 0."""
    p = weights[:, None] * own
    p = np.maximum(p / p.sum(axis=0), SMALLEST_CHANCE)
    return np.asarray(p / p.sum(axis=0))


def raking_weights(own: Array, shares: Array, averages: Array) -> Array:
    """Return the u with Σwp = P, P the averages divided by their sum; Σu = 1."""
    weights, whole = np.ones(len(own)), averages / averages.sum()
    for _ in range(ROUNDS):
        reached = shares_of(own, weights) @ shares
        weights = weights * whole / reached
        weights /= weights.sum()
        if np.abs(reached - whole).max() < CLOSE:
            break
    return weights
