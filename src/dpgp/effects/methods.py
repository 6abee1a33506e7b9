"""The questions about effects that a fitted estimator and a fitted model answer alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpgp.inference.conformal import COVERAGE

if TYPE_CHECKING:
    from dpgp.effects.records import Effect, Importance, Interactions


class EffectMethods:
    """Effects of the inputs, from released numbers alone: they cost no budget.

    They are about the function f before it is cut to the bounds of the target. Inputs are named, or
    numbered from 0; ``target`` chooses among several targets. docs/how-to/effects.md
    """

    def importance(self, *, target: int | None = None) -> Importance:
        """Return how much of the variance of f is due to every input: Sobol indices.

        Inputs are drawn independently of each other, each from its private marginal. The *first*
        index is the share of an input on its own, the *total* one the share that it has a part in.
        Sobol (2001), Homma & Saltelli (1996).
        """
        from dpgp.effects.importance import Sensitivity
        from dpgp.model.fitted import fitted_model

        return Sensitivity.of(fitted_model(self), target).importance()

    def interactions(self, *, target: int | None = None) -> Interactions:
        """Return the share of the variance of f that pairs of important inputs have together.

        It counts every part of f that both have a part in. Liu & Owen (2006).
        """
        from dpgp.effects.importance import Sensitivity
        from dpgp.model.fitted import fitted_model

        return Sensitivity.of(fitted_model(self), target).interactions()

    def partial_dependence(
        self, column: str | int, coverage: float = COVERAGE, *, target: int | None = None
    ) -> Effect:
        """Return the average of f along one input, over the private model of the other inputs.

        On a public grid from bound to bound, with intervals at each of its points. Friedman (2001).
        """
        from dpgp.effects.averages import partial_dependence
        from dpgp.model.fitted import fitted_model

        return partial_dependence(fitted_model(self), column, coverage, target)

    def contrast(
        self, X1: Any, X2: Any, coverage: float = COVERAGE, *, target: int | None = None
    ) -> Effect:
        """Return the differences f(X2) − f(X1), row by row; one row may stand for all."""
        from dpgp.effects.differences import contrast
        from dpgp.model.fitted import fitted_model

        return contrast(fitted_model(self), X1, X2, coverage, target)

    def average(
        self,
        at: Mapping[str | int, Any] | None = None,
        against: Mapping[str | int, Any] | None = None,
        coverage: float = COVERAGE,
        *,
        target: int | None = None,
    ) -> Effect:
        """Return averages of f over the private model of the inputs, some of them set to values.

        ``average({"age": [5, 10]})`` has one for each age, ``average({"age": 10}, {"age": 5})`` is
        the difference of two, with the interval of a difference.
        """
        from dpgp.effects.averages import average
        from dpgp.model.fitted import fitted_model

        return average(fitted_model(self), at, against, coverage, target)

    def slope(
        self,
        column: str | int,
        X: Any = None,
        coverage: float = COVERAGE,
        *,
        target: int | None = None,
    ) -> Effect:
        """Return how fast f grows along one input, at the rows of ``X`` or on average.

        In units of the target per unit of the input, over a hundredth of the input's range.
        """
        from dpgp.effects.differences import slope
        from dpgp.model.fitted import fitted_model

        return slope(fitted_model(self), column, X, coverage, target)
