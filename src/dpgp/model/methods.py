"""What fitted estimators and fitted models answer alike: effects, files, figures.

Predictions are in dpgp.model.predictions.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgp.coded_rows import CodedRows
from dpgp.inference.conformal import COVERAGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpgp.effects.records import Effect, Importance, Interactions, Share
    from dpgp.model.fitted import FittedModel


class HasModel:
    """A fitted estimator, or a fitted model itself."""

    def _fitted(self) -> FittedModel:
        raise NotImplementedError

    def _inputs(self, X: Any) -> CodedRows:
        """Return new rows as numbers, their columns compared with those of the fit."""
        raise NotImplementedError


class EffectMethods(HasModel):
    """Effects of the inputs, from released numbers alone: they cost no budget.

    They are about the function f before it is cut to the bounds of the target. Inputs are named, or
    numbered from 0; ``target`` chooses among several targets. docs/how-to/effects.md
    """

    def importance(self, *, target: int | str | None = None) -> Importance:
        """Return how much of the variance of f is due to every input: Sobol indices.

        Inputs are drawn independently of each other, each from its private marginal. The *first*
        index is the share of an input on its own, the *total* one the share that it has a part in.
        Sobol (2001), Homma & Saltelli (1996).
        """
        from dpgp.effects.importance import Sensitivity

        return Sensitivity.of(self._fitted(), target).importance()

    def explained(self, *, target: int | str | None = None) -> Share:
        """Return R², how much of the variance of new observations the mean explains.

        By the released law of the residuals and over the private model of the inputs, with a 95 %
        interval. Of two classes, of the variance of 0 and 1. docs/results/explained.md
        """
        from dpgp.effects.explained import explained

        model = self._fitted()
        return explained(model, model.chosen_target(target))

    def interactions(self, *, target: int | str | None = None) -> Interactions:
        """Return the share of the variance of f that pairs of important inputs have together.

        It counts every part of f that both have a part in. Liu & Owen (2006).
        """
        from dpgp.effects.importance import Sensitivity

        return Sensitivity.of(self._fitted(), target).interactions()

    def partial_dependence(
        self, column: str | int, coverage: float = COVERAGE, *, target: int | str | None = None
    ) -> Effect:
        """Return the average of f along one input, over the private model of the other inputs.

        On a public grid from bound to bound, with intervals at each of its points. Friedman (2001).
        """
        from dpgp.effects.averages import partial_dependence

        return partial_dependence(self._fitted(), column, coverage, target)

    def contrast(
        self, X1: Any, X2: Any, coverage: float = COVERAGE, *, target: int | str | None = None
    ) -> Effect:
        """Return the differences f(X2) − f(X1), row by row; one row may stand for all."""
        from dpgp.effects.averages import contrast

        return contrast(self._fitted(), self._inputs(X1), self._inputs(X2), coverage, target)

    def average(
        self,
        at: Mapping[str | int, Any] | None = None,
        against: Mapping[str | int, Any] | None = None,
        coverage: float = COVERAGE,
        *,
        target: int | str | None = None,
    ) -> Effect:
        """Return averages of f over the private model of the inputs, some of them set to values.

        ``average({"age": [5, 10]})`` has one for each age, ``average({"age": 10}, {"age": 5})`` is
        the difference of two, with the interval of a difference.
        """
        from dpgp.effects.averages import average

        return average(self._fitted(), at, against, coverage, target)

    def slope(
        self,
        column: str | int,
        X: Any = None,
        coverage: float = COVERAGE,
        *,
        target: int | str | None = None,
    ) -> Effect:
        """Return how fast f grows along one input, at the rows of ``X`` or on average.

        In units of the target per unit of the input, over a hundredth of the input's range.
        """
        from dpgp.effects.averages import slope

        rows = None if X is None else self._inputs(X)
        return slope(self._fitted(), column, rows, coverage, target)


class OutputMethods(HasModel):
    """Files of a fitted model."""

    def save(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, records: bool = True
    ) -> None:
        """Write the fitted model to a JSON file that :func:`dpgp.load` reads. docs/model-file.md

        With ``records``, what its stages measured, it can be pooled with others; without them the
        file is smaller. docs/how-to/pooling.md
        """
        from dpgp.model.file import save

        save(self._fitted(), path, overwrite, records)

    def reread(self, kernel: Any = None) -> FittedModel:
        """Return what the model's records say under another kernel; it costs nothing.

        ``posteriors[0].log_evidence`` of two readings can be compared. docs/how-to/pooling.md
        """
        from dpgp.pooling.reread import reread

        return reread(self._fitted(), kernel)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write a page about the fitted model that any browser shows offline. docs/report.md"""
        from dpgp.report.html import report_html

        Path(path).write_text(report_html(self._fitted(), title), encoding="utf-8")


class PlotMethods(HasModel):
    """Figures of a fitted model."""

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        target: int | str | None = None,
        centiles: bool = False,
    ) -> Axes | list[Axes]:
        """Draw the mean, how well it is known, where observations fall, and where the rows are.

        One input: a curve. Two: a map, pale where little is known. Three: one panel an input, the
        others held at their private medians. More: averages over the private model of the inputs,
        along the six most important ones. Returns the axes; with three inputs or more, a list of
        one for each panel, and then ``ax`` is such a list too. ``target`` chooses among several
        targets; of more than two classes the probabilities of all are drawn, or of one.
        ``centiles=True`` draws centiles of new observations instead, along one input or, with more,
        along each of the six most important ones, the others held.
        """
        from dpgp.report.class_plot import draw_classes
        from dpgp.report.model_plot import draw_centiles, draw_model

        if self._fitted().outcome.is_joint and target is None:
            return draw_classes(self._fitted(), ax)
        return (draw_centiles if centiles else draw_model)(self._fitted(), ax, target)
