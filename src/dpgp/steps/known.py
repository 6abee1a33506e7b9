"""What a fit knows so far: public choices, and inference on what was released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.choices import Missing
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.inference.conformal import Calibration
from dpgp.inference.earlier import Earlier
from dpgp.inference.few.before import ToldBefore
from dpgp.inference.few.fit import FixedFit
from dpgp.inference.few.target import TargetFit
from dpgp.inference.frame import Fit
from dpgp.inference.local_scale import Distances, LocalScale
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.families import Family, KernelFamily
from dpgp.inference.many.fit import Growth, MetricFit
from dpgp.inference.many.marginals import Marginals
from dpgp.inference.many.metric import MetricFamily, first_metric, line_of_tails
from dpgp.inference.many.plan import EARLY_POINTS, clip_kappa, inducing_points
from dpgp.inference.many.synthetic import CONSTANT_SHARE, ROWS, anchors_among
from dpgp.inference.many.target import first_clip
from dpgp.kernels.linear import BrokenLines
from dpgp.model.file.records import digest_of_records
from dpgp.model.fitted import FittedModel, model_class
from dpgp.model.input_model import InputDensity
from dpgp.model.log_odds import log_odds_of
from dpgp.options import Options
from dpgp.outcomes import Location
from dpgp.planning.design import Design, asked_features, choose_design
from dpgp.planning.file_room import DENSITY_POINTS, most_points
from dpgp.planning.setting import Setting
from dpgp.prior_model import PriorModel
from dpgp.privacy.books import share_of_mu
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.parts import RowPart
from dpgp.steps.base import Purpose, Step
from dpgp.steps.stage import Stage
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.steps.linear_stage import Line


@dataclass
class Known:
    """Beliefs between the steps of one fit; steps read them and add to them.

    ``n`` is the number of usable rows, known to ``n_std``, ``told`` that of all rows of the table
    where it is public. Of rows with weights it is their effective number, as if each weighed
    ``row_weight`` of a whole one: :mod:`dpgp.row_weights`.

    Of many inputs: ``locations`` of the targets, ``marginals`` of the columns of numbers, masses of
    the ``levels`` of every category, ``shares_there``, of the rows that have each input,
    ``synthetic`` rows, and the ``line``. ``scales`` has one function of the scale a target, none
    before it is known, ``distances`` what every sweep told of it, target by target, and
    ``scale_variances`` what is expected of its parts. ``findings`` are released plain values of
    steps that only tell something, by their labels.
    """

    options: Options
    mu: float
    steps: Sequence[Step]
    n: float
    inputs: UnitInputs
    calibrations: tuple[Calibration, ...]
    told: int | None = None
    n_std: float = 0.0
    row_weight: float = 1.0
    locations: tuple[Location, ...] = ()
    marginals: Marginals | None = None
    shares_there: Array | None = None
    levels: tuple[Array, ...] = ()
    synthetic: Array = field(default_factory=lambda: np.empty((0, 0)))
    line: Line | None = None
    scales: tuple[LocalScale, ...] = ()
    distances: tuple[Sequence[Distances], ...] = ()
    scale_variances: Array | None = None
    findings: dict[str, Any] = field(default_factory=dict)
    earlier: Earlier | None = None

    @classmethod
    def before(
        cls,
        options: Options,
        mu: float,
        steps: Sequence[Step],
        public_rows: int | None,
        told: int | None = None,
    ) -> Known:
        """Return what is known before the first release."""
        place = options.outcome.location
        known = cls(
            options=options,
            mu=mu,
            steps=steps,
            n=math.nan if public_rows is None else float(public_rows),
            inputs=UnitInputs(options.box),
            calibrations=(Calibration.gaussian(),) * options.n_targets,
            told=told,
            locations=() if place is None else (place,) * options.n_targets,
        )
        return known if options.prior_model is None else known._starting(options.prior_model)

    def _starting(self, prior: PriorModel) -> Known:
        """Return what is known where an earlier model told where inputs and targets lie."""
        told = prior.earlier
        known = replace(self, earlier=told, inputs=told.inputs, locations=told.locations)
        known.draw(told.synthetic)
        return known

    def draw(self, synthetic: Array) -> None:
        """Take synthetic rows, and complete those with gaps as they go."""
        self.synthetic = synthetic
        if self.has_gaps:
            self.inputs = self.inputs.completed_by(synthetic)

    def take(self, step: Step, release: Any) -> None:
        """Let a step learn from its release, whose sums are those of rows that weigh less."""
        step.learn(self, release if self.row_weight == 1.0 else release.times(1 / self.row_weight))

    def weigh(self, row_weight: float) -> None:
        """Take rows to weigh so much each: as many more make n, and each has as much more noise."""
        self.row_weight = row_weight
        self.n, self.n_std = self.n / row_weight, self.n_std / row_weight
        self.mu *= row_weight

    @property
    def has_gaps(self) -> bool:
        """Whether rows that lack inputs count."""
        return self.options.missing is Missing.MODEL

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return self.options.columns

    def mu_of(self, share: float) -> float:
        """Return the μ of a share of the budget."""
        return share_of_mu(self.mu, share)

    @property
    def signal(self) -> float:
        """nμ over the rows of a unit: how many rows stand out of the noise of a count."""
        return self.n * self.mu / self.options.max_rows_per_unit

    def stage_weight(self, share: float, part: RowPart | None = None) -> float:
        """Return a stage's part of all that ask the same rows, by which they share sampling noise.

        Rows of a unit may err together: m of them then say as much as one.
        """
        same = [s.share for s in self.steps if s.purpose is Purpose.FUNCTION and s.part == part]
        return share / math.fsum(same) / self.options.max_rows_per_unit

    def rows_of(self, part: RowPart | None) -> tuple[float, float]:
        """Return how many rows are in a part, and the sd of that: every row draws its own."""
        if part is None:
            return self.n, 0.0
        rows = self.n * part.fraction
        return rows, math.sqrt(rows * (1.0 - part.fraction))

    @cached_property
    def tails(self) -> BrokenLines | None:
        """The line in inputs with long tails, where any has them and kernels are not given."""
        if self.earlier is not None and self.earlier.family is not None:
            return self.earlier.family.tails
        if self.marginals is None or self.options.own_kernels or asked_features(self.options):
            return None
        return line_of_tails(self.marginals, ~self.inputs.coordinates.is_indicator)

    @property
    def kappa(self) -> float:
        """Where stages clip before a law of the residuals is known, in their sds."""
        return clip_kappa(self.signal, has_tails=self.tails is not None)

    @cached_property
    def fit(self) -> Fit:
        """Beliefs about all targets, once it is known where the inputs are."""
        return self._metric_fit() if self.options.learns_metric else self._fixed_fit()

    def _fixed_fit(self) -> FixedFit:
        options = self.options
        design = choose_design(
            Setting.of(options, self.n, self.mu),
            self.steps,
            kernel=options.own_kernel,
            family=options.families,
            inducing_points=options.inducing_points,
        )
        before = [self._told_before(design, k) for k in range(options.n_targets)]
        targets = [
            TargetFit(
                design.features,
                options.kernels,
                design.positions,
                design.kappa,
                self.n,
                options.max_rows_per_unit,
                options.outcome,
                told,
            )
            for told in before
        ]
        features = BoxFeatures(self.inputs, design.features)
        return FixedFit(features, targets)

    def _told_before(self, design: Design, target: int) -> ToldBefore | None:
        """Return what an earlier model says of a target in the features of a design."""
        if self.earlier is None:
            return None
        family = KernelFamily.of([self.options.kernels[0]], self.columns)
        features = design.features
        dictionary = Dictionary(family, features.anchors, design.positions, features)
        equations = self.earlier.equations(target, dictionary, Location(0.0, 1.0))
        return ToldBefore(equations, self.earlier.noises[target])

    def _metric_fit(self) -> MetricFit:
        """Return a fit on the synthetic inputs, with the line as its first record."""
        if self.line is None and self.earlier is None:
            raise ValueError("a fit of many inputs starts with a line.")
        options, rows = self.options, self.synthetic[:ROWS]
        points, growth = self._points_by_stage(rows)
        dictionary = Dictionary(self._family(rows), points, rows, asked_features(options))
        fit = MetricFit(
            self.inputs,
            dictionary,
            self.locations,
            self.n,
            self.kappa,
            options.outcome,
            growth,
            1 + len(self._parts_of_stages),
        )
        if self.earlier is not None:
            fit.start_from(self.earlier)
        if self.line is None:
            return fit
        line = self.line
        phi, places = line.features.evaluate(rows).T, self._told_by_line()
        fit.take_stage(line.release, line.features, phi, line.weight, renew=False, places=places)
        return fit

    def _family(self, rows: Array) -> Family:
        """Return the kernels that were asked for, or all parts that the inputs call for."""
        if self.options.own_kernels:
            return KernelFamily.of(self.options.own_kernels, self.columns)
        if self.earlier is not None and self.earlier.family is not None:
            return self.earlier.family
        first = first_metric(rows)
        return MetricFamily(first, first, self.tails)

    def _told_by_line(self) -> tuple[Location, ...]:
        """Return where targets lie by the line's constant, of kinds whose average says it."""
        places = [self.options.outcome.located(*each) for each in self._averages]
        return tuple(place for place in places if place is not None)

    @property
    def _averages(self) -> tuple[tuple[float, float], ...]:
        """The average of every target that the line's constant tells, and its standard error.

        None of targets that may be clipped.
        """
        if self.line is None or self.options.outcome.location is None:
            return ()
        size, release = self.n * math.sqrt(CONSTANT_SHARE), self.line.release
        clips = [place.scale * first_clip(place, math.inf) for place in self.locations]
        return tuple(
            (place.centre + clip * float(total) / size, clip * release.cross_std / size)
            for place, clip, total in zip(self.locations, clips, release.cross[0], strict=True)
        )

    @property
    def _parts_of_stages(self) -> list[RowPart]:
        """Parts of the rows that early stages ask."""
        stages = (step.part for step in self.steps if step.purpose is Purpose.FUNCTION)
        return [part for part in stages if part is not None]

    def _points_by_stage(self, rows: Array) -> tuple[Array, Growth | None]:
        """Return the inducing points to start with, and when which others replace them."""
        signal = (
            self.signal if self.earlier is None else math.hypot(self.signal, self.earlier.signal)
        )
        points, parts = self._points(rows, signal), self._parts_of_stages
        if parts:
            early, first = len(parts), self._points(rows, self.signal * parts[0].fraction)
        else:
            early = sum(isinstance(step, Stage) and step.is_early for step in self.steps)
            first = points[:EARLY_POINTS]
        is_same = len(first) == len(points) or self.options.inducing_points is not None
        return (points, None) if is_same or not early else (first, Growth(1 + early, points))

    def _points(self, rows: Array, signal: float) -> Array:
        """Return inducing points: those that were asked for, or as many synthetic rows."""
        asked = self.options.inducing_points
        if isinstance(asked, np.ndarray):
            return asked
        coordinates = rows.shape[1]
        wanted = inducing_points(signal, coordinates) if asked is None else asked
        return anchors_among(rows, min(wanted, most_points(coordinates, len(self.locations))))

    def fitted(self, certificate: Certificate) -> FittedModel:
        """Return all that leaves a fit: functions of releases and of public choices."""
        model = model_class(self.options.outcome)(
            options=self.options,
            inputs=replace(self.inputs, completion=None),
            posteriors=self.fit.posteriors,
            calibrations=self.calibrations,
            scales=self.scales,
            stages=self.fit.releases,
            density=self._density(),
            certificate=certificate,
            findings=self.findings,
            recorded=self.fit.recorded,
            records_digest=digest_of_records(self.fit.recorded),
        )
        return replace(model, log_odds=log_odds_of(model))

    def _density(self) -> InputDensity:
        """Return where rows are in the units of the inputs, and how many each place stands for.

        Of many places as many as keep the average of f, of the first target.
        """
        inputs, first = self.fit.input_model, self.fit.posteriors[0]
        values = first.moments.w @ first.features.evaluate(inputs.places)
        found = inputs.thinned_along(values, DENSITY_POINTS)
        return InputDensity(self.inputs.invert(found.places), found.weights)
