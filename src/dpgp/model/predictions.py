"""What fitted estimators and fitted models predict alike: numbers, classes, observations.

Every method takes rows as its owner compares their columns (``_inputs``): an estimator by the
custom of scikit-learn, with the columns of the fit in their order, a model by their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, ndtri

from dpgp.blas import symmetric_root
from dpgp.coded_rows import coded_targets
from dpgp.inference.conformal import COVERAGE
from dpgp.model.methods import HasModel
from dpgp.numeric import Seed, as_floats, as_random_state, numeric_vector
from dpgp.outcomes.labels import class_numbers, named_classes
from dpgp.outcomes.number import checked_targets
from dpgp.row_labels import check_same_rows
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.effects.records import Reliability

CENTILES = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
"""Those of a growth chart."""

OUTERMOST = 1e-9
"""Probability beyond which no law is told from a histogram: |z| is at most 6."""


class NumberMethods(HasModel):
    """Means of numbers, and how well they fit."""

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, latent: bool = False
    ) -> Any:
        """Return the predictive mean, with standard deviations or covariances if asked.

        The mean is cut to the public bounds of the target. ``latent=True`` is about the function,
        ``latent=False`` about new observations of it, whose standard deviation follows the local
        scale where one was learned; :meth:`predict_interval` is calibrated.
        """
        return self._fitted().mean(self._inputs(X), return_std, return_cov, latent)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², of several targets the average; raw rows without noise: for the curator."""
        from sklearn.metrics import r2_score  # slow to import, seldom needed

        check_same_rows(X, y=y, sample_weight=sample_weight)
        model = self._fitted()
        mean = model.mean(self._inputs(X))
        targets = coded_targets(y, len(mean), model.options.missing_codes.targets)
        if not np.isfinite(targets).all():
            raise ValueError("`y` must be finite and complete to be compared with predictions.")
        if sample_weight is not None:
            sample_weight = numeric_vector(sample_weight, len(mean), "sample_weight")
        return float(r2_score(targets, mean, sample_weight=sample_weight))


class ClassMethods(HasModel):
    """Labels and probabilities of public classes, two or more."""

    @property
    def classes_(self) -> NDArray[Any]:
        """All labels, in the order in which they were named."""
        return np.array(self._fitted().outcome.labels)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label that is most probable."""
        return np.asarray(self.classes_[self._likeliest(X)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of all classes, one row for each of ``X``, which add up to 1."""
        p = self._chances(X)
        return p if p.ndim > 1 else np.column_stack([1.0 - p, p])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of :meth:`predict_proba`; no class is called impossible."""
        return np.log(self.predict_proba(X))

    def predict_proba_interval(self, X: Any, coverage: float = COVERAGE) -> tuple[Array, Array]:
        """Return lower and upper ends of intervals for the probability of the second class.

        Of more than two classes they have a column for each.
        """
        model = self._fitted()
        U = model.unit_inputs(self._inputs(X))
        ends = [model.function_interval(k, U, coverage) for k in range(model.n_targets)]
        lower, upper = zip(*ends, strict=True)
        return side_by_side(lower), side_by_side(upper)

    def decision_function(self, X: Any) -> Array:
        """Return the log odds of the second class, of more than two those of each."""
        return np.asarray(logit(self._chances(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labels that are predicted; raw rows: for the curator."""
        check_same_rows(X, y=y, sample_weight=sample_weight)
        predicted = self._likeliest(X)
        numbers = class_numbers(y, len(predicted), named_classes(self._fitted().outcome.labels))
        if sample_weight is not None:
            sample_weight = numeric_vector(sample_weight, len(predicted), "sample_weight")
        return float(np.average(numbers == predicted, weights=sample_weight))

    def reliability(self) -> Reliability:
        """Return shares of yes by predicted probability, and the AUC, from what was released.

        With 95 % intervals; of two classes alone, and where the budget bought the counts. They are
        of the rows that were fitted. docs/how-to/yes-no.md
        """
        from dpgp.effects.reliability import reliability

        return reliability(self._fitted())

    def _likeliest(self, X: Any) -> NDArray[np.intp]:
        return np.asarray(np.argmax(self.predict_proba(X), axis=1))

    def _chances(self, X: Any) -> Array:
        return np.asarray(self._fitted().mean(self._inputs(X)))


class ObservationMethods(HasModel):
    """Intervals, draws and densities of new observations, and of the function behind them."""

    def predict_interval(
        self, X: Any, coverage: float = COVERAGE, latent: bool = False
    ) -> tuple[Array, Array]:
        """Return lower and upper ends of intervals that hold new observations that often.

        They are central: as many observations are expected below as above. What holds on average
        and what at each x is in docs/intervals.md. Cut to the public bounds of the target. With
        ``latent=True`` they are the posterior's own intervals for the function, and of two classes
        for the probability of the second one, of more for that of each.

        >>> lower, upper = gp.predict_interval([[10.0]], coverage=0.9)
        >>> bool(lower[0] < gp.predict([[10.0]])[0] < upper[0])
        True
        """
        model = self._fitted()
        U = model.unit_inputs(self._inputs(X))
        one = model.function_interval if latent else model.observation_interval
        lower, upper = zip(*(one(k, U, coverage) for k in range(model.n_targets)), strict=True)
        return side_by_side(lower), side_by_side(upper)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Seed = 0, latent: bool = True
    ) -> Array:
        """Draw ``n_samples`` functions from the posterior at ``X``, along the last axis.

        They are Gaussian around the mean before it is cut, and may leave the target's bounds. With
        ``latent=False`` they are new observations, of the calibrated law at each x and within the
        bounds, correlated as the posterior says. Probabilities are cut to [0, 1]; of more than two
        classes new observations are their numbers, drawn one by one.
        """
        model, generator = self._fitted(), as_random_state(random_state)
        U, draws = model.unit_inputs(self._inputs(X)), []
        if model.outcome.is_joint and not latent:
            cumulative = np.cumsum([mean for mean, _ in model.means_and_stds(U)], axis=0)[:-1]
            levels = generator.random((len(U), n_samples))
            return np.asarray(np.sum(levels > cumulative[:, :, None], axis=0), dtype=np.float64)
        for k in range(model.n_targets):
            mean, covariance = model.mean_and_covariance(k, U, latent)
            normal = generator.standard_normal((len(mean), n_samples))
            errors = symmetric_root(covariance) @ normal
            if latent:
                drawn = mean[:, None] + errors
                bounded = model.outcome.function_is_bounded
                draws.append(model.within_bounds(k, drawn) if bounded else drawn)
            else:
                scores = errors / np.sqrt(np.diag(covariance))[:, None]
                draws.append(model.observations(k, U).draw(scores))
        return draws[0] if len(draws) == 1 else np.stack(draws, axis=1)

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Return the log density of every target under its own prediction.

        It is that of a Gaussian whose standard deviation is calibrated as intervals are: that of
        :meth:`predict` times the root mean square of the released law of scaled residuals. Of two
        classes or more it is the log probability of the label.
        """
        check_same_rows(X, y=y)
        model = self._fitted()
        mean, std = model.mean(self._inputs(X), return_std=True)
        if not model.options.target_box.categories:
            y = coded_targets(y, len(mean), model.options.missing_codes.targets)
        scales = np.array([calibration.scale for calibration in model.calibrations])
        return model.outcome.log_density(y, mean, std * (scales if std.ndim > 1 else scales[0]))


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
        U = model.unit_inputs(self._inputs(X))
        laws = [model.observations(k, U) for k in range(model.n_targets)]
        return side_by_side([np.array([law.quantile(p) for p in levels]) for law in laws])

    def z_score(self, X: Any, y: Any) -> Array:
        r"""Return where observations ``y`` stand among others with the same inputs.

        :math:`z = \Phi^{-1}(F((y - m(x))/c(x)s(x)))`: 0 at the median, 1.88 at the 97th centile.

        >>> short, tall = gp.z_score([[10.0], [10.0]], [100.0, 160.0])
        >>> bool(short < 0 < tall)
        True
        """
        check_same_rows(X, y=y)
        model = self._fitted()
        mean, std = model.mean(self._inputs(X), return_std=True)
        y = coded_targets(y, len(mean), model.options.missing_codes.targets)
        t = (checked_targets(y, mean) - mean) / std
        columns = np.reshape(t, (len(mean), -1)).T
        pairs = zip(model.calibrations, columns, strict=True)
        levels = np.array([calibration.level(column) for calibration, column in pairs]).T
        return np.asarray(ndtri(np.clip(levels, OUTERMOST, 1 - OUTERMOST)).reshape(t.shape))


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
