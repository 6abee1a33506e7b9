"""The scikit-learn estimator: checks what it is given, fits privately, predicts from releases."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, validate_data

from dpgp.blas import thread_count
from dpgp.categories import Categories, read_categories
from dpgp.coded_rows import CodedRows, categories_of, coded_matrix
from dpgp.domain import Box
from dpgp.effects.methods import EffectMethods
from dpgp.inference.conformal import COVERAGE
from dpgp.ledger.ledger import Ledger, ledger_of
from dpgp.model.centiles import CentileMethods
from dpgp.numeric import (
    check_column_names,
    column_names,
    numeric_targets,
    numeric_vector,
)
from dpgp.options import Options
from dpgp.privacy.arguments import DELTA, EPSILON
from dpgp.privacy.noise import noise_source
from dpgp.private.arrays import scaled_rows
from dpgp.private.joint import fit_alone_or_jointly

if TYPE_CHECKING:
    from dpgp.inference.posterior import Posterior
    from dpgp.inference.stage import StageRelease
    from dpgp.model.density import InputDensity
    from dpgp.model.fitted import FittedModel
    from dpgp.privacy.certificate import Certificate
    from dpgp.private.source import Source
    from dpgp.sites import Site

Array = NDArray[np.float64]

NOT_OPTIONS = (
    "bounds",
    "target_bounds",
    "categories",
    "random_state",
    "n_jobs",
    "ledger",
    "site",
    "engine",
)
"""Parameters that are read by themselves."""


class PrivateGPRegressor(CentileMethods, EffectMethods, RegressorMixin, BaseEstimator):  # type: ignore[misc]
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
    categories
        Columns that hold one of a few public levels, with these levels: a mapping by column name,
        or by position from 0. They have no bounds. docs/how-to/categories.md.
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
    ledger
        A :class:`~dpgp.Ledger`, or the path of one, that this and all other fits of these people
        spend from. Every fit, also of a clone, reserves its price there before it draws any noise.
    site
        A :class:`~dpgp.sites.Site` that these rows are of: they are fitted together with those of
        the other sites, which nobody shows. docs/how-to/several-custodians.md.
    engine
        "dask" or "spark": who reads the files that are given to :meth:`fit` with ``target``; this
        machine by default. docs/how-to/clusters.md.

    Attributes
    ----------
    model_
        The :class:`~dpgp.model.fitted.FittedModel`: all that follows from the releases.
    posterior_
        Posterior of each target, from released values only.
    release_
        The stages' noisy sums, for each target.
    input_density_
        A private density of the inputs: on a grid up to three, of synthetic rows where the metric
        is learned, else None.
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
        epsilon: float = EPSILON,
        delta: float = DELTA,
        *,
        bounds: Any = None,
        target_bounds: Any = None,
        categories: Any = None,
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
        ledger: str | os.PathLike[str] | Ledger | None = None,
        site: Site | None = None,
        engine: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.categories = categories
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
        self.ledger = ledger
        self.engine = engine
        self.site = site

    def fit(
        self, X: Any, y: Any = None, units: Any = None, *, target: str | Sequence[str] | None = None
    ) -> Self:
        """Fit to rows ``X`` and targets ``y``; ``units`` tells which rows are of one person.

        With ``target``, the name of a column or a list of them, ``X`` is a table that may be larger
        than memory: files, a folder, a pattern such as ``"rows/*.parquet"``, or anything that hands
        out Arrow data; ``units`` is then a column too. docs/how-to/large-tables.md
        """
        self._forget()
        if target is not None:
            return self._fit_table(X, y, units, target)
        if self.engine is not None:
            raise ValueError("`engine` needs files: pass their paths as `X`, and `target`.")
        categories = categories_of(X, self.categories)
        X, y = self._validated(X, y, categories)
        targets = y[None] if y.ndim == 1 else y.T
        options = self._options(X.shape[1], len(targets), units is not None, categories)
        self._fit_rows(scaled_rows(X, targets, options, units), options)
        self._targets_are_columns = y.ndim > 1
        return self

    def _fit_table(self, table: Any, y: Any, unit: Any, target: str | Sequence[str]) -> Self:
        """Fit to the columns of a table that ``bounds`` and ``categories`` name, or all others."""
        if y is not None:
            raise ValueError("`y` must be left out where `target` names it; pass one of them.")
        from dpgp.private.asked_table import AskedTable  # brings pyarrow
        from dpgp.private.engines import opened_engine

        asked = AskedTable.opened(table, target, unit)
        names = asked.inputs(self.bounds, self.categories)
        self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        categories = read_categories(self.categories, names, len(names))
        options = self._options(
            len(names), len(asked.targets), unit is not None, categories, asked.targets
        )
        with opened_engine(self.engine) as workers:
            rows = asked.rows(names, options, workers, thread_count(self.n_jobs))
            self._fit_rows(rows, options)
        self._targets_are_columns = not isinstance(target, str)
        return self

    def _fit_rows(self, rows: Source, options: Options) -> None:
        threads, ledger = thread_count(self.n_jobs), ledger_of(self.ledger)
        with self._spending_kept():
            source = noise_source(self.random_state)
            self.model_ = fit_alone_or_jointly(self.site, rows, options, source, threads, ledger)

    def _forget(self) -> None:
        """Drop what an earlier fit found, so that no failure passes it off as new."""
        for name in [name for name in vars(self) if name.endswith("_") and name != "spent_"]:
            delattr(self, name)

    @contextmanager
    def _spending_kept(self) -> Iterator[None]:
        """Keep what a fit that fails has booked, which its error carries."""
        try:
            yield
        except BaseException as error:
            if hasattr(error, "spent"):
                self.spent_ = (*getattr(self, "spent_", ()), error.spent)
            raise

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _options(
        self,
        columns: int,
        targets: int,
        per_person: bool,
        categories: Categories,
        target_names: Sequence[str] | None = None,
    ) -> Options:
        names = getattr(self, "feature_names_in_", None)
        asked = self.get_params(deep=False)
        for name in NOT_OPTIONS:
            del asked[name]
        return Options.parse(
            box=Box.from_bounds(self.bounds, columns, names, categories=categories),
            target_box=Box.from_bounds(
                self.target_bounds, targets, target_names, argument="target_bounds"
            ),
            per_person=per_person,
            **asked,
        )

    @property
    def posterior_(self) -> Posterior | tuple[Posterior, ...]:
        """The posterior, or a tuple of one for each column of ``y``."""
        posteriors = self._fitted().posteriors
        return posteriors if self._targets_are_columns else posteriors[0]

    @property
    def release_(self) -> tuple[tuple[StageRelease, ...], ...]:
        """The stages' noisy sums, for each target."""
        return self._fitted().stages

    @property
    def input_density_(self) -> InputDensity | None:
        """A private density of the inputs, on a grid or of synthetic rows; None where none is."""
        return self._fitted().density

    @property
    def certificate_(self) -> Certificate:
        """What was released and what it guarantees."""
        return self._fitted().certificate

    @property
    def health_(self) -> tuple[str, ...]:
        """What looks wrong, a sentence with its remedy each, from released numbers alone."""
        return self._fitted().health

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, latent: bool = False
    ) -> Any:
        """Return the predictive mean, with standard deviations or covariances if asked.

        As :meth:`dpgp.model.fitted.FittedModel.predict`.
        """
        return self._fitted().predict(self._inputs(X), return_std, return_cov, latent)

    def predict_interval(
        self, X: Any, coverage: float = COVERAGE, latent: bool = False
    ) -> tuple[Array, Array]:
        """Return lower and upper ends of intervals that hold new observations that often.

        As :meth:`dpgp.model.fitted.FittedModel.predict_interval`.
        """
        return self._fitted().predict_interval(self._inputs(X), coverage, latent)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, latent: bool = True
    ) -> Array:
        """Draw functions, or new observations with ``latent=False``, along the last axis.

        As :meth:`dpgp.model.fitted.FittedModel.sample_y`.
        """
        return self._fitted().sample_y(self._inputs(X), n_samples, random_state, latent)

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Return the log density of every target under its own prediction."""
        return self._fitted().log_predictive_density(self._inputs(X), y)

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
        self._fitted().save(path)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write a page about the fitted model that any browser shows offline. docs/report.md"""
        self._fitted().report(path, title)

    def plot(self, ax: Any = None, *, target: int | None = None, centiles: bool = False) -> Any:
        """Draw the fitted model, as :meth:`dpgp.model.fitted.FittedModel.plot`."""
        return self._fitted().plot(ax, target=target, centiles=centiles)

    def _fitted(self) -> FittedModel:
        check_is_fitted(self)
        model: FittedModel = self.model_
        return model

    def _inputs(self, X: Any) -> CodedRows:
        """Return new rows as numbers, their columns compared with those of :meth:`fit`."""
        array = coded_matrix(X, self._fitted().options.box.categories)
        self._check_columns(X, array, reset=False)
        return CodedRows(array)

    def _validated(self, X: Any, y: Any, categories: Categories) -> tuple[Array, Array]:
        """Check shapes and types; messages never repeat a value of the data."""
        inputs = coded_matrix(X, categories, least=2)
        targets = numeric_targets(y, len(inputs))
        self._check_columns(X, inputs, reset=True)
        return inputs, targets

    def _check_columns(self, X: Any, array: Array, *, reset: bool) -> None:
        """Learn how many columns there are and their names, or compare; scikit-learn's words."""
        names = column_names(X)
        known = () if reset else tuple(getattr(self, "feature_names_in_", ()))
        check_column_names(names, known)
        validate_data(self, array if names is None else X, reset=reset, skip_check_array=True)

    def _repr_html_inner(self) -> str:
        """Return what :meth:`_repr_html_` of scikit-learn shows: parameters, once fitted a card."""
        if not hasattr(self, "model_"):
            return str(super()._repr_html_inner())
        from dpgp.report.notebook import model_html

        return model_html(self.model_, type(self).__name__)

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
