"""What a fit knows so far: public choices, and inference on what was released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.inference.conformal import Calibration
from dpgp.inference.gram_estimate import MANY_INPUTS, DoubtedEstimate
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.many.target import Target
from dpgp.inference.posterior import Posterior
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import StageRelease
from dpgp.inference.stages import TargetFit
from dpgp.model.density import InputDensity
from dpgp.model.fitted import FittedModel
from dpgp.options import Options
from dpgp.planning.design import Design, choose_design
from dpgp.planning.setting import Setting
from dpgp.privacy.books import share_of_mu
from dpgp.privacy.certificate import Certificate
from dpgp.steps.base import Step
from dpgp.steps.linear_stage import LinearStage
from dpgp.steps.many import ManyInputs
from dpgp.steps.metric_stage import MetricStage


@dataclass
class Known:
    """Beliefs between the steps of one fit; steps read them and add to them.

    ``scales`` has one function of the scale a target, none before it is known, and ``findings``
    released plain values of steps that only tell something, by their labels.
    """

    options: Options
    mu: float
    steps: Sequence[Step]
    n: float
    inputs: UnitInputs
    calibrations: tuple[Calibration, ...]
    scales: tuple[LocalScale, ...] = ()
    findings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def before(
        cls, options: Options, mu: float, steps: Sequence[Step], public_rows: int | None
    ) -> Known:
        """Return what is known before the first release."""
        return cls(
            options=options,
            mu=mu,
            steps=steps,
            n=math.nan if public_rows is None else float(public_rows),
            inputs=UnitInputs(options.box),
            calibrations=(Calibration.gaussian(),) * options.n_targets,
        )

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

    def stage_weight(self, share: float) -> float:
        """Return a stage's part of all of them, by which they share the sampling noise.

        Rows of a unit may err together: m of them then say as much as one.
        """
        kinds = (LinearStage, MetricStage)
        total = math.fsum(step.share for step in self.steps if isinstance(step, kinds))
        return share / total / self.options.max_rows_per_unit

    @cached_property
    def many(self) -> ManyInputs:
        """What is known where a metric is learned."""
        outcome = self.options.outcome
        known = () if outcome.location is None else (outcome.location,) * self.options.n_targets
        return ManyInputs(self.n, self.signal, self.columns, outcome, known)

    @cached_property
    def design(self) -> Design:
        """Features and clipping, chosen when the number of rows is known."""
        options = self.options
        return choose_design(
            Setting.of(options, self.n, self.mu),
            self.steps,
            kernel=options.own_kernel,
            family=options.families,
            inducing_points=options.inducing_points,
        )

    @cached_property
    def features(self) -> BoxFeatures:
        """The features of raw inputs."""
        return BoxFeatures(self.inputs, self.design.features)

    @cached_property
    def targets(self) -> tuple[TargetFit, ...]:
        """The fit of every target."""
        design = self.design
        return tuple(
            TargetFit(
                design.features,
                self.options.kernels,
                design.positions,
                design.kappa,
                self.n,
                self.options.max_rows_per_unit,
                self.options.outcome,
            )
            for _ in range(self.options.n_targets)
        )

    @property
    def residual_sds(self) -> list[float]:
        """Standard deviations of what the present means leave of the targets."""
        if self.options.learns_metric:
            return self.many.residual_sds
        return [fit.residual_sd for fit in self.targets]

    def residuals(self, clips: Sequence[float]) -> Residuals:
        """Return what the present means leave of the targets, to be clipped there."""
        if self.options.learns_metric:
            return self.many.residuals(self.inputs, clips)
        weights = np.array([fit.weights for fit in self.targets])
        return Residuals(self.features, weights, np.array(clips))

    def learn_laws(self, laws: Sequence[ResidualLaw]) -> None:
        """Take the law of the residuals of every target."""
        fits: Sequence[TargetFit | Target] = (
            self.many.fit.targets if self.options.learns_metric else self.targets
        )
        for fit, law in zip(fits, laws, strict=True):
            fit.learn_law(law, self.signal / self.n)

    @property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of every target, from the stages and the guard so far."""
        if self.options.learns_metric:
            return self.many.posteriors
        return tuple(fit.posterior() for fit in self.targets)

    @property
    def optimism(self) -> tuple[float, ...]:
        """How many times as large residuals of new rows are; few fixed features change little."""
        return self.many.optimism if self.options.learns_metric else (1.0,) * self.options.n_targets

    def fitted(self, certificate: Certificate) -> FittedModel:
        """Return all that leaves a fit: functions of releases and of public choices."""
        return FittedModel(
            options=self.options,
            inputs=self.inputs,
            posteriors=self.posteriors,
            calibrations=self.calibrations,
            scales=self.scales,
            stages=self._stages(),
            density=self._density(),
            certificate=certificate,
            findings=self.findings,
        )

    def _stages(self) -> tuple[tuple[StageRelease, ...], ...]:
        if self.options.learns_metric:
            return self.many.releases()
        return tuple(tuple(fit.stages) for fit in self.targets)

    def _density(self) -> InputDensity | None:
        """Return the density behind the estimate of B at raw inputs, or synthetic rows."""
        if self.options.learns_metric:
            return self.many.density(self.inputs)
        state, positions = self.targets[0].state, self.design.positions
        gram = None if state is None else state.gram
        if not isinstance(gram, DoubtedEstimate) or positions is None:
            return None
        if self.columns >= MANY_INPUTS:  # scattered atoms serve B, and nobody's eyes
            return None
        return InputDensity(self.inputs.invert(positions), gram.density.weights)
