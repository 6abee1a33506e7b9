"""The fitted model: released values and public choices, and everything that follows from them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.coded_rows import CodedRows, coded_columns, coded_matrix, named_columns
from dpgp.features.inputs import UnitInputs
from dpgp.inference.conformal import Calibration
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.inference.recorded import Recorded
from dpgp.inference.stage import StageRelease
from dpgp.model.beliefs import TargetBeliefs
from dpgp.model.input_model import InputDensity
from dpgp.model.methods import EffectMethods, OutputMethods, PlotMethods
from dpgp.model.predictions import (
    CentileMethods,
    ClassMethods,
    NumberMethods,
    ObservationMethods,
    side_by_side,
)
from dpgp.options import Options
from dpgp.outcomes import OutcomeKind
from dpgp.outcomes.log_odds import LogOdds
from dpgp.privacy.certificate import Certificate
from dpgp.row_weights import ReleasedWeights
from dpgp.types import Array

COLUMN_HEADINGS = ("column", "role", "from", "to")

ID_DIGITS = 32  # 128 bits

MOSTLY = 0.5
"""Share of new rows outside the bounds of a column from which on its unit is doubted; by hand."""

NINE_IN_TEN = (0.05, 0.5, 0.95)
"""Quantiles by which draws of a hyperparameter are told: nine in ten lie between the outer ones."""


class OutsideBoundsWarning(UserWarning):
    """Most rows that are to be predicted lie outside the bounds of an input."""


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel(
    TargetBeliefs,
    NumberMethods,
    ObservationMethods,
    CentileMethods,
    EffectMethods,
    OutputMethods,
    PlotMethods,
):
    """A Gaussian process fitted under differential privacy. No row of the data is in it.

    ``posteriors``, ``calibrations`` and ``stages`` have one entry a target, and so have ``scales``,
    factors of the standard deviation at each x, where they were learned. ``density`` is a private
    density of the inputs, on a grid where there are at most three, else of synthetic rows.
    ``findings`` are plain values that other steps released, by their names in the certificate.
    ``log_odds`` make probabilities of what is believed of every target, so that they add up, and
    are none where that needs nothing (dpgp.model.log_odds). ``recorded`` is what the stages
    measured of f, where it was kept: models that have it can be pooled (dpgp.pooling), and then
    are the ``members`` of what comes out. ``records_digest`` binds them to the ``id``, also where
    they are left out of a file; models of earlier versions have none.
    """

    options: Options
    inputs: UnitInputs
    posteriors: tuple[Posterior, ...]
    calibrations: tuple[Calibration, ...]
    stages: tuple[tuple[StageRelease, ...], ...]
    density: InputDensity | None
    certificate: Certificate
    scales: tuple[LocalScale, ...] = ()
    findings: Mapping[str, Any] = field(default_factory=dict)
    log_odds: tuple[LogOdds, ...] = ()
    recorded: Recorded | None = None
    members: tuple[FittedModel, ...] = ()
    records_digest: str | None = None

    def __repr__(self) -> str:
        targets, inputs = ", ".join(self.predicted_names), ", ".join(self.input_names)
        statement, *_ = str(self.certificate).splitlines()
        return f"FittedModel({targets} by {inputs}; {statement})"

    @property
    def id(self) -> str:
        """What the model is called in its file, its report and its papers; no other has that name.

        The start of SHA-256 over the sums (c, A) of all stages, as little-endian doubles, and over
        the digest of what they recorded. Their noise is fresh in every fit, so that two fits of the
        same study have two names, and a copy of a file, or the same model saved anew, has one.
        """
        sums = [np.append(stage.c, stage.A) for target in self.stages for stage in target]
        content = np.concatenate(sums).astype("<f8").tobytes()
        content += (self.records_digest or "").encode()
        return hashlib.sha256(content).hexdigest()[:ID_DIGITS]

    @property
    def weights(self) -> ReleasedWeights | None:
        """What the weights of rows add up to, released with noise; None where rows have none."""
        return ReleasedWeights.found(self.findings.get("number of rows"))

    @property
    def row_weight(self) -> float:
        """What part of a whole row an effective row weighs: all where there are no weights."""
        return 1.0 if self.weights is None else self.weights.per_row

    def noise_of(self, label: str) -> float | None:
        """Return the noise of releases of this name on sums over effective rows, None without."""
        noise = self.certificate.noise_of(label)
        return None if noise is None else noise / self.row_weight

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, numbered ones where they have none."""
        return self.options.box.column_names("input")

    @property
    def target_names(self) -> list[str]:
        """Names of the targets, numbered ones where they have none, or of their classes."""
        return self.options.functions.column_names("target")

    @property
    def predicted_names(self) -> list[str]:
        """Names of the columns that are predicted, numbered ones where they have none."""
        return self.options.target_box.column_names("target")

    def target_in_words(self, target: int) -> str:
        """Return what a mean is of: the target's name, or P(name = class)."""
        return self.outcome.mean_of(self.target_names[target])

    def column_rows(self) -> list[tuple[str, str, str, str]]:
        """Return name, role and bounds of all columns as text, under ``COLUMN_HEADINGS``."""
        boxes = (("input", self.options.box), ("target", self.options.target_box))
        return [
            (name, kind, *box.extent_in_words(k))
            for kind, box in boxes
            for k, name in enumerate(box.column_names(kind))
        ]

    def noise_draws(self, target: int) -> Array:
        """Return equally likely standard deviations of one observation, in units of the target."""
        return np.asarray(self._scale(target) * np.exp(self.posteriors[target].thetas[:, -1]))

    def noise_quantiles(self, target: int) -> tuple[float, float, float]:
        """Return the median of these draws between two values that hold nine in ten of them."""
        return low_median_high(self.noise_draws(target))

    def mean(
        self, X: Any, return_std: bool = False, return_cov: bool = False, latent: bool = False
    ) -> Any:
        """Return the predictive mean, with standard deviations or covariances if asked.

        As :meth:`predict` of numbers; of two classes the mean is the probability of the second one,
        of more it has a column for each.
        """
        if return_std and return_cov:
            raise ValueError("`return_std` and `return_cov` cannot both be true; ask for one.")
        U = self.unit_inputs(X)
        parts = (
            [self.mean_and_covariance(k, U, latent) for k in range(self.n_targets)]
            if return_cov
            else self.means_and_stds(U, latent)
        )
        mean = side_by_side([self.within_bounds(k, mean) for k, (mean, _) in enumerate(parts)])
        second = side_by_side([second for _, second in parts])
        return (mean, second) if return_std or return_cov else mean

    @cached_property
    def health(self) -> tuple[str, ...]:
        """What looks wrong, a sentence with its remedy each, from released numbers alone."""
        from dpgp.report.health import check_health

        return check_health(self)

    def chosen_target(self, target: int | str | None) -> int:
        """Return the number of the target that was chosen; of several, one must be.

        One of several classes is chosen by its label, where that is a text, or its number.
        """
        count, labels = self.n_targets, self.outcome.labels
        if isinstance(target, str):
            if not self.outcome.is_joint or target not in labels:
                words = (
                    f"one of the classes: {', '.join(map(str, labels))}" if labels else "a number"
                )
                raise ValueError(f"`target` must be {words}, got {target!r}.")
            return labels.index(target)
        if target is None and count > 1:
            of = f"classes ({', '.join(map(str, labels))})" if labels else "targets"
            raise ValueError(f"`target` must say which of the {count} {of}, from 0 to {count - 1}.")
        if not 0 <= (target or 0) < count:
            raise ValueError(f"`target` must lie between 0 and {count - 1}, got {target}.")
        return target or 0

    def raw_inputs(self, X: Any) -> Array:
        """Return rows as numbers; an error where columns or cells are not what the model takes."""
        inputs = self._inputs(X).values
        kinds = self.options.box.kinds  # none at all where all inputs are numbers
        for name, kind, column in zip(self.input_names, kinds, inputs.T, strict=False):
            if kind is not None and np.isnan(column).any():
                raise ValueError(
                    f"column '{name}' of `X` must hold {kind.cells} alone to be predicted: "
                    f"{kind.words}; leave other rows out."
                )
        if not np.isfinite(inputs).all():
            raise ValueError(
                "`X` must be finite and complete to be predicted, without NaN or inf; leave other "
                "rows out."
            )
        self._warn_outside(inputs)
        return inputs

    def _warn_outside(self, inputs: Array) -> None:
        """Say of which columns most values lie outside their bounds: they are cut in silence."""
        box = self.options.box
        outside = np.mean((inputs < box.low) | (inputs > box.high), axis=0)
        for name, share, low, high in zip(
            self.input_names, outside, box.low, box.high, strict=True
        ):
            if share > MOSTLY:
                warnings.warn(
                    f"Most of these rows have {name} outside its bounds, {low:g} to {high:g}, and "
                    "are taken as at the nearest bound: check that both have the same unit.",
                    OutsideBoundsWarning,
                    stacklevel=6,
                )

    def _inputs(self, X: Any) -> CodedRows:
        """Return rows as numbers: columns by their names, in any order, or as they come."""
        if isinstance(X, CodedRows):
            return X
        box, count = self.options.box, self.options.columns
        codes, columns = self.options.missing_codes.inputs, named_columns(X, box.names)
        if columns is not None:
            return CodedRows(coded_columns(columns, box.kinds, codes))
        inputs = coded_matrix(X, box.kinds, codes)
        if inputs.shape[1] != count:
            raise ValueError(f"`X` must have {count} columns, got {inputs.shape[1]}.")
        return CodedRows(inputs)

    def unit_inputs(self, X: Any) -> Array:
        """Return raw inputs clipped to their bounds, scaled to [−1, 1]^D and warped."""
        return self.inputs(self.raw_inputs(X))

    def _repr_html_(self) -> str:
        from dpgp.report.notebook import model_html

        return model_html(self)

    def _fitted(self) -> FittedModel:
        return self


class FittedClassifier(ClassMethods, FittedModel):  # type: ignore[misc]
    """A model of classes: ``predict`` returns labels, and there are ``predict_proba`` and others.

    All the rest is as of a :class:`FittedModel`, with 0 and 1 for two classes, or with one target
    for each of more.
    """


def model_class(outcome: OutcomeKind) -> type[FittedModel]:
    """Return what a fitted model of such an outcome is."""
    return FittedClassifier if outcome.labels else FittedModel


def low_median_high(draws: Array) -> tuple[float, float, float]:
    """Return the median of draws between the ends of the range of nine in ten of them."""
    low, median, high = np.quantile(draws, NINE_IN_TEN).tolist()
    return low, median, high


def fitted_model(source: Any) -> FittedModel:
    """Return the model of a fitted estimator, or the model that was given."""
    if not hasattr(source, "_fitted"):
        raise TypeError(f"pass a fitted estimator or model of dpgp, not {type(source).__name__}.")
    model: FittedModel = source._fitted()
    return model
