"""What the estimators share: checks of what they are given, a private fit, and what it left."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from dpgp.blas import thread_count
from dpgp.categories import Categories, read_categories
from dpgp.coded_rows import CodedRows, Kinds, categories_of, coded_matrix, columns_of, kinds_of
from dpgp.domain import Box
from dpgp.learned_before import VoidCertificateWarning, in_words, learned_before
from dpgp.ledger.ledger import ledger_of
from dpgp.ledger.tally import TALLY, RepeatedFitsWarning
from dpgp.missing_codes import NOWHERE, Codes, ColumnCodes
from dpgp.model.methods import EffectMethods, OutputMethods
from dpgp.numeric import check_column_names, column_names, numeric_vector, target_names
from dpgp.options import Options
from dpgp.planning.setting import FewRowsWarning, are_few, nothing_better
from dpgp.privacy.arguments import DELTA, EPSILON
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.noise import noise_source
from dpgp.private.fit import fit_alone_or_jointly
from dpgp.private.rows import scaled_rows
from dpgp.report.guarantee import WeakGuaranteeWarning, weak_points
from dpgp.report.health import LOOKS_WRONG, HealthWarning
from dpgp.row_labels import check_same_rows
from dpgp.study.codes import read_codes
from dpgp.study.doubts import doubts
from dpgp.study.errors import Face, RefusedError
from dpgp.study.table import kept_apart
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.posterior import Posterior
    from dpgp.inference.stage import StageRelease
    from dpgp.model.fitted import FittedModel
    from dpgp.model.input_model import InputDensity
    from dpgp.privacy.certificate import Certificate
    from dpgp.private.source import Source


class PrivateGP(EffectMethods, OutputMethods, BaseEstimator):  # type: ignore[misc]
    """A Gaussian process that is fitted under differential privacy."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        units: Any = None,
        *,
        sample_weight: Any = None,
        target: str | Sequence[str] | None = None,
        decimal: str = ".",
        prior_model: Any = None,
        verbose: bool = False,
    ) -> Self:
        """Fit to rows ``X`` and targets ``y``; ``units`` tells which rows are of one person.

        With ``target``, the name of a column or a list of them, ``X`` is a table that may be larger
        than memory: files, a folder, a pattern such as ``"rows/*.parquet"``, or anything that hands
        out Arrow data; ``units`` and ``sample_weight`` are then columns too, and ``decimal`` the
        mark in numbers of CSV files. docs/how-to/large-tables.md. ``verbose`` shows how far
        the fit is: a bar on terminals and in notebooks, elsewhere a line a step.

        With ``sample_weight``, such as survey weights or exposures, a row of weight w adds
        ``w / weight_bound`` of itself, and estimates are of the weighted population.
        docs/how-to/weights.md.

        With ``prior_model``, a model of other people and the same columns, or its file, the fit
        starts from there and adds to it: what was released costs nothing. Where the curve has
        moved the new rows alone are believed, and ``health_`` says so. docs/how-to/pooling.md.

        Every fit spends, also those of ``cross_val_score`` and of a search. What looks wrong
        afterwards is a :class:`~dpgp.report.health.HealthWarning`. Whatever was fitted to the same
        rows before, as a ``StandardScaler``, voids the certificate; a warning says so where a
        pipeline calls, and what was done by hand cannot be seen. docs/faq.md
        """
        self._forget()
        if names := learned_before():
            warnings.warn(in_words(names), VoidCertificateWarning, stacklevel=2)
        with _shown(verbose):
            self._fit(X, y, units, sample_weight, target, decimal, prior_model)
        if self.health_:
            warnings.warn(" ".join((LOOKS_WRONG, *self.health_)), HealthWarning, stacklevel=2)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        units: Any,
        weights: Any,
        target: str | Sequence[str] | None,
        decimal: str,
        prior_model: Any,
    ) -> None:
        self._check_weights(weights)
        if target is not None:
            self._fit_table(X, y, units, weights, target, decimal, prior_model)
            return
        if decimal != ".":
            raise ValueError("`decimal` needs files: pass their paths as `X`, and `target`.")
        if self.engine is not None:
            raise ValueError("`engine` needs files: pass their paths as `X`, and `target`.")
        check_same_rows(X, y=y, units=units, sample_weight=weights)
        categories, called = categories_of(X, self.categories), target_names(y)
        kinds = kinds_of(X, self.bounds, categories)
        X, y = self._validated(X, y, kinds, self._codes(X, y))
        targets = y[None] if y.ndim == 1 else y.T
        options = self._options(
            X.shape[1], len(targets), units is not None, categories, called, prior_model
        )
        if weights is not None:
            weights = numeric_vector(weights, len(X), "sample_weight")
        rows = scaled_rows(X, targets, options, units, self.random_state, weights)
        self._fit_rows(rows, options)
        self._targets_are_columns = y.ndim > 1

    def _fit_table(
        self,
        table: Any,
        y: Any,
        unit: Any,
        weight: Any,
        target: str | Sequence[str],
        decimal: str,
        prior_model: Any,
    ) -> None:
        """Fit to the columns of a table that ``bounds`` and ``categories`` name, or all others."""
        if y is not None:
            raise ValueError("`y` must be left out where `target` names it; pass one of them.")
        from dpgp.private.asked_table import AskedTable  # brings pyarrow
        from dpgp.private.engines import opened_engine

        asked = AskedTable.opened(table, target, unit, weight, decimal)
        names = asked.inputs(self.bounds, self.categories)
        self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        categories = read_categories(self.categories, names, len(names))
        options = self._options(
            len(names), len(asked.targets), unit is not None, categories, asked.targets, prior_model
        )
        with opened_engine(self.engine) as workers:
            threads, seed = thread_count(self.n_jobs), self.random_state
            rows = asked.rows(names, options, workers, threads, seed)
            self._fit_rows(rows, options)
        self._targets_are_columns = not isinstance(target, str)

    def _fit_rows(self, rows: Source, options: Options) -> None:
        threads, ledger = thread_count(self.n_jobs), ledger_of(self.ledger)
        self._warn_before(rows, options)
        with self._spending_kept():
            source = noise_source(self.random_state)
            self.model_ = fit_alone_or_jointly(self.site, rows, options, source, threads, ledger)
        self._count(self.model_.certificate)
        if options.prior_model is not None:
            from dpgp.pooling.update import updated

            self.model_ = updated(self.model_)

    def _warn_before(self, rows: Source, options: Options) -> None:
        """Say before the first release what the command line says too, and what the sum will be."""
        mu_of_guarantee(options.epsilon, options.delta)  # an error where they promise nothing
        count = len(rows) if options.row_count_is_public and self.site is None else None
        for sentence in weak_points(options.epsilon, options.delta, count):
            warnings.warn(f"Weak guarantee: {sentence}", WeakGuaranteeWarning, stacklevel=5)
        if count is not None and are_few(count, options.epsilon, options.delta):
            warnings.warn(str(nothing_better(count, options.epsilon)), FewRowsWarning, stacklevel=5)
        for doubt in doubts(options):
            warnings.warn(doubt.words.on(Face.PYTHON), doubt.warning, stacklevel=5)
        if self._is_counted and math.isfinite(options.epsilon):
            together = TALLY.with_another(options.epsilon, options.delta)
            if together is not None:
                warnings.warn(together, RepeatedFitsWarning, stacklevel=5)

    @property
    def _is_counted(self) -> bool:
        """Whether nobody else adds up what a fit spends; a simulation spends nothing."""
        return self.ledger is None and self.random_state is None

    def _count(self, certificate: Certificate) -> None:
        if self._is_counted:
            TALLY.add(certificate)

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
                self._count(error.spent)
            raise

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return scikit-learn's text, which hides defaults, with ε and δ always in front."""
        others = copy(self)
        others.epsilon, others.delta = EPSILON, DELTA
        name, rest = BaseEstimator.__repr__(others, N_CHAR_MAX).split("(", 1)
        between = "" if rest == ")" else ", "
        return f"{name}(epsilon={self.epsilon!r}, delta={self.delta!r}{between}{rest}"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _options(
        self,
        columns: int,
        targets: int,
        per_person: bool,
        categories: Categories,
        target_names: Sequence[str] | None = None,
        prior_model: Any = None,
    ) -> Options:
        names = getattr(self, "feature_names_in_", None)
        # what the table does not have asks for a kind of outcome
        apart = kept_apart()
        asked = {k: v for k, v in self.get_params(deep=False).items() if k not in apart}
        return Options.parse(
            box=Box.from_bounds(self.bounds, columns, names, categories=categories),
            target_box=self._target_box(targets, target_names),
            per_person=per_person,
            prior_model=prior_model,
            **asked,
        )

    def _codes(self, X: Any, y: Any) -> ColumnCodes:
        """Read which columns of arrays and frames have codes for missing values."""
        if self.missing_codes is None:
            return NOWHERE
        inputs, targets, names = columns_of(X), columns_of(y), column_names(X)
        if inputs is None:
            return NOWHERE  # whoever reads it says why it is no table
        check_column_names(names)
        called = target_names(y) or (None,) * (1 if targets is None else len(targets))
        return read_codes(self.missing_codes, names or (None,) * len(inputs), called)

    def _check_weights(self, weights: Any) -> None:
        """Raise where there are weights without their public bound, or a bound of none."""
        if weights is not None and self.weight_bound is None:
            raise RefusedError(
                "`sample_weight` needs `weight_bound`, the public weight of a row that counts in "
                "full",
                "choose one that few weights exceed, by what is known without these rows: larger "
                "ones count as it",
                "docs/how-to/weights.md",
                code="no-weight_bound",
            )
        if weights is None and self.weight_bound is not None:
            raise RefusedError(
                "`weight_bound` needs `sample_weight`, a weight for every row, at `fit`",
                "pass it, or leave the bound out",
                code="no-sample_weight",
            )

    @abstractmethod
    def _target_box(self, targets: int, names: Sequence[str] | None) -> Box:
        """Return what is public of the targets."""

    @abstractmethod
    def _read_targets(self, y: Any, rows: int, codes: Sequence[Codes]) -> Array:
        """Return the targets as numbers; messages never repeat a value of the data."""

    def _validated(self, X: Any, y: Any, kinds: Kinds, codes: ColumnCodes) -> tuple[Array, Array]:
        """Check shapes and types; messages never repeat a value of the data."""
        inputs = coded_matrix(X, kinds, codes.inputs, least=2)
        targets = self._read_targets(y, len(inputs), codes.targets)
        self._check_columns(X, inputs, reset=True)
        return inputs, targets

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

    def _fitted(self) -> FittedModel:
        check_is_fitted(self)
        model: FittedModel = self.model_
        return model

    def _inputs(self, X: Any) -> CodedRows:
        """Return new rows as numbers, their columns compared with those of :meth:`fit`."""
        options, has_names = self._fitted().options, column_names(X) is not None
        if has_names:  # before cells are read: columns in another order have other levels
            self._check_columns(X, X, reset=False)
        array = coded_matrix(X, options.box.kinds, options.missing_codes.inputs)
        if not has_names:
            self._check_columns(X, array, reset=False)
        return CodedRows(array)

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


def _shown(wanted: bool) -> AbstractContextManager[None]:
    """Show how far a fit is, if that is wanted."""
    if not wanted:
        return nullcontext()
    from dpgp.progress import working

    return working("Fitting", every_step=True)
