"""The scikit-learn estimator: checks what it is given, fits privately, predicts from releases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dpgp.design import choose_shares
from dpgp.domain import Box
from dpgp.fitting import Wall, fit_rows
from dpgp.inference.posterior import Posterior
from dpgp.numeric import (
    check_distinct_names,
    check_no_row_as_names,
    column_names,
    numeric_matrix,
    numeric_targets,
    numeric_vector,
)
from dpgp.options import (
    read_families,
    read_inducing_points,
    read_kernels,
    read_stages,
    row_count_is_public,
)
from dpgp.privacy.arguments import as_count
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.ledger import Ledger
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import noise_source
from dpgp.roots import symmetric_root
from dpgp.sources.arrays import scaled_rows
from dpgp.threads import thread_count

Array = NDArray[np.float64]


class PrivateGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Gaussian-process regression under :math:`(\epsilon, \delta)`-differential privacy.

    Protects inputs and targets. A noisy Gram matrix of features is released in stages, each about
    what the stages before left unexplained; hyperparameters are learned from the releases at no
    further cost. docs/method.md.

    Parameters
    ----------
    epsilon, delta
        The guarantee. ``epsilon=float("inf")`` runs the same code without noise: not private.
    bounds
        Public bounds of the inputs: ``(low, high)`` for all, a list, or a mapping by column name.
        Required, and never read from the data. Values outside are clipped.
    target_bounds
        Public bounds of the target, ``(low, high)``; a list of pairs for several targets. A target
        beyond them counts as far as the clipping of residuals lets it.
    kernel
        A scikit-learn kernel on inputs and targets scaled to [−1, 1] by their bounds, or a list of
        kernels to choose from by evidence. Its hyperparameters are learned unless fixed. By default
        a smooth function around a line.
    inducing_points
        Number of points an axis (a grid) or in all ("joint"), or the points themselves, inside the
        bounds.
    features
        Families of features: "grid", "linear", "additive", "joint", or a list of them; planned by
        default.
    stages
        Weights of the stages in the budget, or how many of equal weight.
    neighbours
        "replace" or "add-remove": what it means for two data sets to differ in one unit.
    max_rows_per_unit
        How many rows of one unit (person) count, the first ones, where ``units`` are given to
        :meth:`fit`.
    warp, calibrate
        Whether to spend a share of the budget on private histograms of the inputs, and of scaled
        residuals for :meth:`predict_interval`.
    missing
        "error", or "ignore" to let incomplete rows contribute nothing.
    random_state
        A seed simulates: the result is not private, and says so.
    n_jobs
        Threads for the passes over the rows; all cores by default and with -1, all but one with -2.

    Attributes
    ----------
    posterior_
        Posterior of each target, from released values only.
    release_
        The stages' noisy sums, for each target.
    input_density_
        A private density of the inputs where there are at most three, else None.
    certificate_
        What was released and what it guarantees.
    health_
        What looks wrong, in sentences; empty where nothing does.
    spent_
        Only after fits that failed: a certificate of what each had booked by then. The error says
        it too.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        bounds: Any = None,
        target_bounds: Any = None,
        kernel: Any = None,
        inducing_points: Any = None,
        features: str | Sequence[str] | None = None,
        stages: int | Sequence[float] | None = None,
        neighbours: str = "replace",
        max_rows_per_unit: int = 1,
        warp: bool = True,
        calibrate: bool = True,
        missing: str = "error",
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.kernel = kernel
        self.inducing_points = inducing_points
        self.features = features
        self.stages = stages
        self.neighbours = neighbours
        self.max_rows_per_unit = max_rows_per_unit
        self.warp = warp
        self.calibrate = calibrate
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, units: Any = None) -> Self:
        """Fit to rows ``X`` and targets ``y``; ``units`` tells which rows are of one person."""
        self._forget()
        X, y = self._validated(X, y)
        targets = y[None] if y.ndim == 1 else y.T
        box = Box.from_bounds(self.bounds, X.shape[1], getattr(self, "feature_names_in_", None))
        target_box = Box.from_bounds(self.target_bounds, len(targets), argument="target_bounds")
        kernels = read_kernels(self.kernel, X.shape[1])
        relation = Neighbours.parse(self.neighbours)
        family = read_families(self.features)
        points = read_inducing_points(self.inducing_points, family, box)
        per_unit = as_count("max_rows_per_unit", self.max_rows_per_unit)
        threads = thread_count(self.n_jobs)
        ledger = Ledger(self.epsilon, self.delta, relation)
        rows = scaled_rows(X, targets, target_box, self.missing, units, per_unit)
        is_public = row_count_is_public(relation, self.missing, units is not None)
        public_rows = len(rows) if is_public else None
        shares = choose_shares(
            public_rows,
            X.shape[1],
            ledger.mu,
            stages=read_stages(self.stages),
            warp=self.warp,
            calibrate=self.calibrate,
        )
        source = noise_source(self.random_state)
        books = (ledger, source, per_unit, units is not None)
        with spending_noted(lambda: self._failed(*books)):
            released = fit_rows(
                Wall(rows, ledger, source, per_unit, threads),
                box,
                shares,
                kernels,
                public_rows=public_rows,
                planned_kernel=None if self.kernel is None else kernels[0],
                family=family,
                inducing_points=points,
            )
        self.target_box_ = target_box
        self.inputs_ = released.inputs
        self.posterior_ = released.posteriors if y.ndim > 1 else released.posteriors[0]
        self.calibration_ = released.calibrations
        self.release_ = released.stages
        self.input_density_ = released.density
        self.certificate_ = Certificate.from_ledger(*books)
        return self

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, latent: bool = False
    ) -> Any:
        """Return the predictive mean, with standard deviations or covariances if asked.

        The mean is cut to the public bounds of the target. ``latent=True`` is about the function,
        ``latent=False`` about new observations of it. The standard deviation is the model's own;
        :meth:`predict_interval` is calibrated.
        """
        if return_std and return_cov:
            raise ValueError("`return_std` and `return_cov` cannot both be true; ask for one.")
        U = self._unit_inputs(X)
        parts = [self._predict_one(k, U, return_cov, latent) for k in range(self._n_targets)]
        mean = _join([self._cut(k, mean) for k, (mean, _) in enumerate(parts)])
        second = _join([second for _, second in parts])
        return (mean, second) if return_std or return_cov else mean

    def predict_interval(
        self, X: Any, coverage: float = 0.95, latent: bool = False
    ) -> tuple[Array, Array]:
        """Return lower and upper ends of intervals that hold new observations that often.

        Calibrated on average over the training rows (docs/method.md, "Intervals"), not for each x,
        and cut to the public bounds of the target. With ``latent=True`` they are the posterior's
        own intervals for the function.
        """
        U = self._unit_inputs(X)
        lower, upper = [], []
        for k, calibration in enumerate(self.calibration_):
            if latent:
                mean, half_width = self._half_width_of_function(k, U, coverage)
            else:
                mean, std = self._predict_one(k, U, False, False)
                mean, half_width = self._cut(k, mean), calibration.factor(coverage) * std
            lower.append(self._cut(k, mean - half_width))
            upper.append(self._cut(k, mean + half_width))
        return _join(lower), _join(upper)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw ``n_samples`` functions from the posterior at ``X``, along the last axis.

        They are Gaussian around the mean before it is cut, and may leave the target's bounds.
        """
        U, generator = self._unit_inputs(X), check_random_state(random_state)
        draws = []
        for k in range(self._n_targets):
            mean, covariance = self._predict_one(k, U, True, True)
            normal = generator.standard_normal((len(mean), n_samples))
            draws.append(mean[:, None] + symmetric_root(covariance) @ normal)
        return draws[0] if len(draws) == 1 else np.stack(draws, axis=1)

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Return the log density of every target under its own prediction."""
        mean, std = self.predict(X, return_std=True)
        targets = numeric_targets(y, len(mean))
        if targets.shape != mean.shape:
            raise ValueError("`y` must have as many targets as the model, for every row of `X`.")
        with np.errstate(over="ignore"):
            return np.asarray(norm.logpdf(targets, mean, std))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², of several targets the average; raw rows without noise: for the curator."""
        mean = self.predict(X)
        targets = numeric_targets(y, len(mean))
        if not np.isfinite(targets).all():
            raise ValueError("`y` must be finite and complete to be compared with predictions.")
        if sample_weight is not None:
            sample_weight = numeric_vector(sample_weight, len(mean), "sample_weight")
        return float(r2_score(targets, mean, sample_weight=sample_weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a JSON file that :func:`dpgp.load` reads. docs/model-file.md"""
        from dpgp.model_file import save

        save(self, path)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write a page about the fitted model that any browser shows offline. docs/report.md"""
        check_is_fitted(self)
        from dpgp.report.html import report_html

        Path(path).write_text(report_html(self, title), encoding="utf-8")

    def plot(self, ax: Any = None, *, target: int | None = None) -> Any:
        """Draw the mean, how well it is known, where observations fall, and where the rows are.

        One input: a curve. Two: a map, pale where little is known. More: one panel an input, the
        others held at their private medians. Returns the axes; with three inputs or more, a list
        of one for each input, and then ``ax`` is such a list too. ``target`` chooses among several
        targets.
        """
        check_is_fitted(self)
        from dpgp.report.model_plot import draw_model

        return draw_model(self, ax, target)

    def _forget(self) -> None:
        """Drop what an earlier fit found, so that no failure passes it off as new."""
        for name in [name for name in vars(self) if name.endswith("_") and name != "spent_"]:
            delattr(self, name)

    def _failed(self, *books: Any) -> Certificate:
        """Keep what a fit that failed has booked."""
        spent = Certificate.of_failure(*books)
        if spent.releases:
            self.spent_ = (*getattr(self, "spent_", ()), spent)
        return spent

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificate_")

    @property
    def health_(self) -> tuple[str, ...]:
        """What looks wrong, a sentence with its remedy each, from released numbers alone."""
        check_is_fitted(self)
        from dpgp.report.health import check_health

        return check_health(self)

    @property
    def _n_targets(self) -> int:
        return len(self.calibration_)

    def _posterior_of(self, target: int) -> Posterior:
        posterior = self.posterior_
        return posterior[target] if isinstance(posterior, tuple) else posterior

    def _predict_one(
        self, target: int, U: Array, return_cov: bool, latent: bool
    ) -> tuple[Array, Array]:
        """Return mean and standard deviation, or covariance, in the units of the target."""
        posterior = self._posterior_of(target)
        centre = self.target_box_.centre[target]
        scale = self.target_box_.half_width[target]
        mean, std = posterior.predict(U, latent)
        if not return_cov:
            return centre + scale * mean, scale * std
        noise = 0.0 if latent else posterior.moments.noise**2
        covariance = posterior.covariance(U) + noise * np.eye(len(U))
        return centre + scale * mean, scale**2 * covariance

    def _half_width_of_function(
        self, target: int, U: Array, coverage: float
    ) -> tuple[Array, Array]:
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"`coverage` must lie strictly between 0 and 1, got {coverage}.")
        scale = self.target_box_.half_width[target]
        mean, half_width = self._posterior_of(target).half_width(U, coverage)
        return self.target_box_.centre[target] + scale * mean, scale * half_width

    def _cut(self, target: int, values: Array) -> Array:
        """Return values cut to the public bounds of the target."""
        box = self.target_box_
        return np.asarray(np.clip(values, box.low[target], box.high[target]))

    def _unit_inputs(self, X: Any) -> Array:
        check_is_fitted(self)
        array = numeric_matrix(X)
        if not np.isfinite(array).all():
            raise ValueError(
                "`X` must be finite and complete to be predicted, without NaN or inf; leave other "
                "rows out."
            )
        self._check_columns(X, array, reset=False)
        return self.inputs_(array)

    def _validated(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Check shapes and types; messages never repeat a value of the data."""
        inputs = numeric_matrix(X, least=2)
        targets = numeric_targets(y, len(inputs))
        self._check_columns(X, inputs, reset=True)
        return inputs, targets

    def _check_columns(self, X: Any, array: Array, *, reset: bool) -> None:
        """Learn how many columns there are and their names, or compare; scikit-learn's words."""
        names = column_names(X)
        known = () if reset else tuple(getattr(self, "feature_names_in_", ()))
        check_distinct_names(names)
        check_no_row_as_names(names, known)
        validate_data(self, array if names is None else X, reset=reset, skip_check_array=True)

    def _repr_html_inner(self) -> str:
        """Return what :meth:`_repr_html_` of scikit-learn shows: parameters, once fitted a card."""
        if not hasattr(self, "certificate_"):
            return str(super()._repr_html_inner())
        from dpgp.report.notebook import model_html

        return model_html(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.non_deterministic = self.random_state is None
        return tags


def _join(parts: Any) -> Array:
    """Return a single target's result as it is, several side by side along the last axis."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else np.stack(parts, axis=-1)
