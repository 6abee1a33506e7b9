"""What fitted estimators and fitted models answer alike: quantiles, effects, files, figures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from dpgp.inference.conformal import COVERAGE
from dpgp.numeric import as_floats
from dpgp.outcomes.number import checked_targets
from dpgp.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpgp.effects.records import Effect, Importance, Interactions, Share
    from dpgp.model.fitted import FittedModel

CENTILES = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
"""Those of a growth chart."""

OUTERMOST = 1e-9
"""Probability beyond which no law is told from a histogram: |z| is at most 6."""


class HasModel:
    """A fitted estimator, or a fitted model itself."""

    def _fitted(self) -> FittedModel:
        raise NotImplementedError


class CentileMethods(HasModel):
    """Quantiles and z-scores of a fitted estimator and a fitted model alike.

    They follow the released law of (y − m(x))/c(x)s(x), which need not be symmetric.
    docs/how-to/centiles.md
    """

    def predict_quantile(self, X: Any, quantiles: Sequence[float] | float = CENTILES) -> Array:
        """Return quantiles of new observations at ``X``, one row a quantile.

        With several targets they are along the last axis. Quantiles never cross and lie within the
        public bounds of the target.

        >>> low, high = gp.predict_quantile([[10.0]], [0.03, 0.97])
        >>> bool(low[0] < high[0])
        True
        """
        model, levels = self._fitted(), checked_levels(quantiles)
        U = model.unit_inputs(X)
        laws = [model.observations(k, U) for k in range(model.n_targets)]
        return side_by_side([np.array([law.quantile(p) for p in levels]) for law in laws])

    def z_score(self, X: Any, y: Any) -> Array:
        r"""Return where observations ``y`` stand among others with the same inputs.

        :math:`z = \Phi^{-1}(F((y - m(x))/c(x)s(x)))`: 0 at the median, 1.88 at the 97th centile.

        >>> short, tall = gp.z_score([[10.0], [10.0]], [100.0, 160.0])
        >>> bool(short < 0 < tall)
        True
        """
        model = self._fitted()
        mean, std = model.predict(X, return_std=True)
        t = (checked_targets(y, mean) - mean) / std
        columns = np.reshape(t, (len(mean), -1)).T
        pairs = zip(model.calibrations, columns, strict=True)
        levels = np.array([calibration.level(column) for calibration, column in pairs]).T
        return np.asarray(ndtri(np.clip(levels, OUTERMOST, 1 - OUTERMOST)).reshape(t.shape))


class EffectMethods(HasModel):
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

        return Sensitivity.of(self._fitted(), target).importance()

    def explained(self, *, target: int | None = None) -> Share:
        """Return R², how much of the variance of new observations the mean explains.

        By the released law of the residuals and over the private model of the inputs, with a 95 %
        interval. Of two classes, of the variance of 0 and 1. docs/results/explained.md
        """
        from dpgp.effects.explained import explained

        model = self._fitted()
        return explained(model, model.chosen_target(target))

    def interactions(self, *, target: int | None = None) -> Interactions:
        """Return the share of the variance of f that pairs of important inputs have together.

        It counts every part of f that both have a part in. Liu & Owen (2006).
        """
        from dpgp.effects.importance import Sensitivity

        return Sensitivity.of(self._fitted(), target).interactions()

    def partial_dependence(
        self, column: str | int, coverage: float = COVERAGE, *, target: int | None = None
    ) -> Effect:
        """Return the average of f along one input, over the private model of the other inputs.

        On a public grid from bound to bound, with intervals at each of its points. Friedman (2001).
        """
        from dpgp.effects.averages import partial_dependence

        return partial_dependence(self._fitted(), column, coverage, target)

    def contrast(
        self, X1: Any, X2: Any, coverage: float = COVERAGE, *, target: int | None = None
    ) -> Effect:
        """Return the differences f(X2) − f(X1), row by row; one row may stand for all."""
        from dpgp.effects.averages import contrast

        return contrast(self._fitted(), X1, X2, coverage, target)

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

        return average(self._fitted(), at, against, coverage, target)

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
        from dpgp.effects.averages import slope

        return slope(self._fitted(), column, X, coverage, target)


class OutputMethods(HasModel):
    """Files of a fitted model."""

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a JSON file that :func:`dpgp.load` reads. docs/model-file.md"""
        from dpgp.model.file import save

        save(self._fitted(), path, overwrite)

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
        target: int | None = None,
        centiles: bool = False,
    ) -> Axes | list[Axes]:
        """Draw the mean, how well it is known, where observations fall, and where the rows are.

        One input: a curve. Two: a map, pale where little is known. Three: one panel an input, the
        others held at their private medians. More: averages over the private model of the inputs,
        along the six most important ones. Returns the axes; with three inputs or more, a list of
        one for each panel, and then ``ax`` is such a list too. ``target`` chooses among several
        targets. ``centiles=True`` draws centiles of new observations instead, along one
        input or, with more, along each of the six most important ones, the others held.
        """
        from dpgp.report.model_plot import draw_centiles, draw_model

        return (draw_centiles if centiles else draw_model)(self._fitted(), ax, target)


def checked_levels(quantiles: Any) -> Array:
    """Return levels of quantiles as an array; an error where one is not within (0, 1)."""
    levels = np.atleast_1d(as_floats(quantiles, "quantiles"))
    if levels.ndim != 1 or not levels.size or not np.all((levels > 0.0) & (levels < 1.0)):
        raise ValueError(
            f"`quantiles` must lie strictly between 0 and 1, got {quantiles}; 0.5 is the median."
        )
    return levels


def checked_coverage(coverage: float) -> float:
    """Return how often an interval shall hold; an error where that is not within (0, 1)."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"`coverage` must lie strictly between 0 and 1, got {coverage}.")
    return coverage


def side_by_side(parts: Sequence[Array]) -> Array:
    """Return a single target's result as it is, several side by side along the last axis."""
    return parts[0] if len(parts) == 1 else np.stack(parts, axis=-1)
