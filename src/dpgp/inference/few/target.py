"""From releases to a posterior, and from a posterior to the next release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpgp.features.base import WhitenedMap
from dpgp.inference.clip_choice import (
    DIRECTIONS,
    ClipInterval,
    best_kappa,
    beyond_interval,
    guard_interval,
)
from dpgp.inference.few.before import ToldBefore
from dpgp.inference.few.beliefs import Residual, clustered
from dpgp.inference.few.evidence import combine_stages, corrections, mean_square
from dpgp.inference.few.integral import Model, State, infer
from dpgp.inference.guard import NO_BIAS, BiasPrior, EarlyMean, apply_guard
from dpgp.inference.hyperparameters import thin
from dpgp.inference.posterior import Moments, Posterior
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import LARGEST_RESIDUAL, StageRelease
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.types import Array

DRAWS = 32
"""Equally likely hyperparameters that a fitted model keeps: by hand, the same trade."""

FIRST_SWEEPS, SWEEPS = 4, 2
"""Linearisations at the first stage, which starts from the prior, and at others, which go on. By
hand: accuracy against time."""

WIDER = 2.0
"""How much wider the first stage clips about a curve that was told before, which may have moved: by
more than the clip, and what is left of it says little. By hand."""

NEARLY_ALL, USELESS = 0.75, 1e-6
"""Mean clipped square of a stage from which on nearly all residuals were clipped, as with many
inputs, and what it then has left of its signal for whoever reads its record."""


def _clips_nearly_all(stage: StageRelease) -> bool:
    full = stage.n * stage.clip**2
    return stage.outcome.is_clipped and stage.c > NEARLY_ALL * full and stage.sigma_c < 0.15 * full


class TargetFit:
    """The fit of one target: takes releases one by one, and says what to release next."""

    def __init__(
        self,
        features: WhitenedMap,
        kernels: Sequence[Any],
        positions: Array,
        kappa: float,
        n: float,
        rows_per_unit: int = 1,
        outcome: OutcomeKind = NUMBER,
        before: ToldBefore | None = None,
    ) -> None:
        self.rows_per_unit = rows_per_unit
        self.outcome = outcome
        # a curve that was told before may have moved: then nothing is known of it
        told = (None,) if before is None else (before, None)
        self.models = [
            Model(features, kernel, positions, outcome, each) for each in told for kernel in kernels
        ]
        self.kappa = kappa
        self.n = n
        self.residual = Residual()
        self.was_surprised = False
        self.forgotten = 0
        self.stages: list[StageRelease] = []
        self.states: list[State | None] = [None] * len(self.models)
        self.early: EarlyMean | None = None
        self.guarded: Moments | None = None
        self.guard_release: StageRelease | None = None

    @property
    def best(self) -> int:
        """The model of the largest evidence so far: a kernel, and whether the curve has moved."""
        return int(
            np.argmax([-np.inf if s is None else s.points.log_integral for s in self.states])
        )

    @property
    def state(self) -> State | None:
        """Beliefs under the best kernel; None before the first stage."""
        return self.states[self.best]

    @property
    def weights(self) -> Array:
        """What the next stage takes residuals from: the mean of w."""
        return self._start.w if self._is_anew or self.state is None else self.state.moments.w

    @property
    def _is_anew(self) -> bool:
        """Whether no stage is believed yet."""
        return len(self.stages) == self.forgotten

    @property
    def _start(self) -> Moments:
        """Beliefs before the first stage."""
        return self.models[0].prior_moments()

    @property
    def _was_told(self) -> bool:
        return self.models[0].before is not None

    @property
    def clip(self) -> float:
        """Where the next stage clips: κ residual sds, at most the largest residual."""
        if self._is_anew and not self._was_told:
            return 1.0
        if not self.outcome.is_clipped or self.was_surprised:
            return self._largest_residual
        width = WIDER if self._is_anew else 1.0
        return min(LARGEST_RESIDUAL, width * self.kappa * self.residual_sd)

    @property
    def _largest_residual(self) -> float:
        """1 + max|f₀| over public positions that fill the box."""
        values = self.models[0].atoms @ self.weights
        return min(LARGEST_RESIDUAL, 1.0 + float(np.abs(values).max()))

    def guard_interval(self, mu: float) -> ClipInterval:
        """Return where the guard clips."""
        sd = max(self.residual_sd, self._noise)
        return guard_interval(self.residual.law, sd, self.n, mu, self._widest)

    @property
    def _widest(self) -> ClipInterval:
        """1 + max f₀ and 1 − min f₀ over the same positions."""
        values = self.models[0].atoms @ self.weights
        return ClipInterval(1.0 + float(values.max()), 1.0 - float(values.min()))

    @property
    def residual_sd(self) -> float:
        """Sd of what the present mean leaves, τ² = σ² + mean predictive variance."""
        if self._is_anew:
            values = self.models[0].atoms
            spread = float(np.mean(np.sum((values @ self._start.V) * values, axis=1)))
            return math.hypot(self._start.noise, math.sqrt(max(spread, 0.0)))
        state, _ = self.fitted
        spread = mean_square(np.zeros_like(self.weights), state.moments.V, state.gram, self.n)
        # clipping makes far values look small, so only of a bell a smaller σ is believed
        noise, seen = state.moments.noise, self.residual.noise(state.moments, state.gram, self.n)
        doubt = self.residual.law.suspicion * max(seen**2 - noise**2, 0.0)
        return math.sqrt(noise**2 + doubt + spread)

    def learn_law(self, law: ResidualLaw, mu: float) -> None:
        """Take the law of the residuals, and clip where it is best from now on."""
        self.kappa = best_kappa(law, self.n, mu, DIRECTIONS[self.models[0].columns])
        state, _ = self.fitted
        self.early = EarlyMean(state.moments, self.stages[-1].clip, self.n)
        unit = self.residual_sd
        spread = unit**2 - state.moments.noise**2
        self.residual = Residual.measured(law, unit, state.moments.w, spread)
        self._infer(SWEEPS)

    def add(self, release: StageRelease) -> None:
        """Take a stage's release and update all beliefs."""
        is_anew, was_told = self._is_anew, self._was_told
        self.stages.append(release)
        self._infer(FIRST_SWEEPS if is_anew else SWEEPS)
        self.was_surprised = was_told and self.fitted[1].before is None
        if was_told and is_anew and _clips_nearly_all(release):
            self.forgotten = 1
        if self.was_surprised or self.forgotten:
            self._forget()

    @property
    def _believed(self) -> list[StageRelease]:
        """All stages but one that clipped nearly all about a curve that has moved."""
        return self.stages[self.forgotten :] or self.stages

    def _forget(self) -> None:
        """Drop what was told before of a curve that has moved; the next stage clips nothing."""
        pairs = zip(self.models, self.states, strict=True)
        kept = [(model, state) for model, state in pairs if model.before is None]
        self.models, self.states = [model for model, _ in kept], [state for _, state in kept]

    def _infer(self, sweeps: int) -> None:
        pairs = zip(self.models, self.states, strict=True)
        self.states = [
            infer(model, self._believed, state, sweeps, self.residual) for model, state in pairs
        ]

    def guard(self, release: StageRelease) -> None:
        """Take the guard's release and correct the mean."""
        state, model = self.fitted
        self.guard_release = release
        measurement = combine_stages(self._believed, state.gram, state.moments, self.residual.law)
        L = model.guard_embedding
        guarded = apply_guard(
            release,
            measurement,
            state.gram,
            state.moments,
            L,
            bias=self._bias_at(self.stages[-1].clip),
            beyond=self._beyond(release),
            odds=self.residual.law.odds,
        )
        if self.early is not None:
            bias = self._bias_at(self.early.clip)
            suspicion = self.residual.law.suspicion
            guarded = self.early.correct(guarded, state.gram, L, bias, suspicion)
        self.guarded = guarded

    def _beyond(self, guard: StageRelease) -> float:
        """Return the rms of what the guard's own clip may hide."""
        return beyond_interval(self.residual.law, self._noise, guard.interval, self._widest)

    @property
    def bias(self) -> BiasPrior:
        """What the clip of the last stage may have done to the mean."""
        return self._bias_at(self.stages[-1].clip) if self.outcome.is_clipped else NO_BIAS

    @property
    def corrections(self) -> tuple[Array, Array]:
        """What clipping left of the signal of every stage, and the variance that it added."""
        state, _ = self.fitted
        slopes, added = corrections(self._believed, state.gram, state.moments, self.residual.law)
        missing = len(self.stages) - len(slopes)
        return np.append([USELESS] * missing, slopes), np.append([0.0] * missing, added)

    @property
    def recorded_guard(self) -> tuple[StageRelease, float] | None:
        """The guard's release, if there was one, and the rms of what its clip may hide."""
        if self.guard_release is None:
            return None
        return self.guard_release, self._beyond(self.guard_release)

    def _bias_at(self, clip: float) -> BiasPrior:
        return BiasPrior.at(self.residual.law, clip, self._noise)

    @property
    def _noise(self) -> float:
        """σ, that of the stages or that of the law, whichever is larger."""
        state, _ = self.fitted
        return max(state.moments.noise, self.residual.noise(state.moments, state.gram, self.n))

    def posterior(self) -> Posterior:
        """Return the fitted model under the best kernel."""
        state, model = self.fitted
        index = thin(state.points, DRAWS)
        moments = state.moments if self.guarded is None else self.guarded
        measurement = combine_stages(self._believed, state.gram, state.moments, self.residual.law)
        return Posterior(
            features=model.features,
            kernel=model.kernel,
            moments=clustered(moments, measurement, self.rows_per_unit),
            thetas=state.points.thetas[index],
            spreads=state.spreads[index],
            log_evidence=state.points.log_integral,
        )

    @property
    def fitted(self) -> tuple[State, Model]:
        """Beliefs under the best kernel, and its model; an error before the first stage."""
        state = self.state
        if state is None:
            raise ValueError("a fit needs at least one stage.")
        return state, self.models[self.best]
