"""What looks wrong with a fitted model, from released numbers and public choices alone: free.

One function a check; each takes one target of a model, and returns a sentence with the remedy, or
None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from dpgp.inference.conformal import COVERAGE
from dpgp.inference.residual_families import Kind
from dpgp.model.input_model import even_rows
from dpgp.report.bounds_health import DECLARE_CODES, target_at_bound, wrong_bounds
from dpgp.report.expected_error import expected_error
from dpgp.report.rows_health import rows_are_few, too_little
from dpgp.steps import LAW_OF_RESIDUALS, ResidualHistograms, TargetHistograms
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.posterior import Posterior
    from dpgp.inference.stage import StageRelease
    from dpgp.model.fitted import FittedModel


class HealthWarning(UserWarning):
    """Something looks wrong with a fitted model, by what was released."""


LOOKS_WRONG = "Look at this before you use the model:"

# Thresholds are set by hand: a false alarm must be rare, and wrong units must not pass
BOX_POINTS = 256  # inputs that stand for the box where there is no density
FAR_OUTSIDE, OFTEN = 1.2, 0.05
"""How far a mean may lie outside [−1, 1] without notice, and at what share of the inputs."""

SMALLEST_FACTOR = 1e-3
"""Keeps the ratio finite where half of the observations equal their prediction."""

LARGEST_SD = 1.2
"""Sd that no target within [−1, 1] has; it could be 1, and is known up to noise."""

SMALLEST_SPREAD = 0.022
"""Sd of a target within [−1, 1] below which its bounds are far too wide: with bounds ten times too
wide, a target that fills a quarter of its own has more."""

NEXT_TO_ONE = 0.95
"""Mean of a target within [−1, 1] beyond which it is next to a bound."""

HARDLY_CLIPPED = 0.25
"""Part of the largest possible second moment that residuals which are hardly clipped stay below."""

ALL_CLIPPED, NEARLY_ONE = 0.8, 0.9
"""Shares of the largest possible second moment, and of the bounds, that speak of wrong units."""

FEWEST_TAILS, MOST_TAILS = 1.7, 5.0
"""Ratios of the 95 % to the 50 % factor of intervals: 2.9 is normal, 4.5 a Student law of df 2.5"""

VERY_FAR = 2.8
"""95 % factor of intervals from which on a few observations lie far: 1.96 is normal, and of
targets half of which are equal or cut to a bound it was 2.4 to 2.7, with codes in a twentieth
of the cells 3.2 and more."""

LARGEST_BIN_NOISE = 0.02
"""Noise of a bin of the residuals, as a share of the rows, up to which tails are judged: beyond it
one clean table in ten was told of observations that lie very far."""

WORSE, CLEARLY = 1.25, 4.0
"""Growth of the residuals' second moment between stages, and in sds of its noise."""

LIKELY = 0.8
"""Probability from which on a kind of law is told."""

AT_BOUNDS = 0.9
"""Mean t² of a target in [−1, 1] that other than two values hardly reach."""

FAR_APART = 3.0
"""How often the upper end of the forecast an error may hold."""

SAME_UNIT = "check that both have the same unit, or tighten the bounds"


@dataclass(frozen=True)
class FittedTarget:
    """One target of a fitted model, in units of its bounds scaled to [−1, 1]."""

    model: FittedModel
    number: int

    @property
    def name(self) -> str:
        """The target's name."""
        return self.model.target_names[self.number]

    @property
    def posterior(self) -> Posterior:
        """The target's posterior."""
        return self.model.posteriors[self.number]

    @property
    def stages(self) -> tuple[StageRelease, ...]:
        """The target's releases."""
        return self.model.stages[self.number]

    @cached_property
    def inputs(self) -> tuple[Array, Array]:
        """Inputs to look at, and how many rows each stands for: the private density, or the box."""
        density, box = self.model.density, self.model.inputs.box
        if density is not None:
            return density.points, density.weights
        return even_rows(box, BOX_POINTS), np.ones(BOX_POINTS)

    @cached_property
    def function(self) -> tuple[Array, Array]:
        """Means before they are cut, and standard deviations of f."""
        return self.posterior.predict(self.model.inputs(self.inputs[0]), latent=True)

    @property
    def error(self) -> float:
        """Root mean square of the standard deviation of f."""
        return float(np.sqrt(np.average(self.function[1] ** 2, weights=self.inputs[1])))

    def is_likely(self, kind: Kind) -> bool:
        """Return whether the released law of the residuals, or of the target, is of this kind."""
        labels = (ResidualHistograms.label, TargetHistograms.label)
        laws = [self.model.findings[label] for label in labels if label in self.model.findings]
        return any(law[self.number].get(kind.words, 0.0) > LIKELY for law in laws)

    @property
    def all_at_bounds(self) -> bool:
        """Whether every observation is at a bound, Σt² = n in the first stage, up to its noise."""
        first = self.stages[0]
        unclear = first.sigma_c / first.n
        at_bounds = first.c / first.n - CLEARLY * unclear > AT_BOUNDS
        return first.is_unclipped and len(first.w0) > 0 and at_bounds

    @property
    def has_atoms(self) -> bool:
        """Whether many observations are equal: forecasts take the noise to be Gaussian."""
        return self.all_at_bounds or any(map(self.is_likely, (Kind.TWO_VALUES, Kind.SPIKE)))

    @property
    def at_bound(self) -> str | None:
        """What tells of rows at a bound far from all others, which explains odd residuals."""
        return target_at_bound(self.model, self.number)

    @property
    def tails(self) -> float:
        """How long the tails of the residuals are, k_95/k_50."""
        law = self.model.calibrations[self.number]
        return law.factor(COVERAGE) / max(law.factor(0.5), SMALLEST_FACTOR)

    @property
    def has_far_ones(self) -> bool:
        """Whether residuals have far more large values than a normal law, and these are far."""
        law = self.model.calibrations[self.number]
        return self.tails > MOST_TAILS and law.factor(COVERAGE) > VERY_FAR

    @property
    def tails_are_known(self) -> bool:
        """Whether a bin of the released residuals is known well enough to judge tails by."""
        noise = self.model.noise_of(LAW_OF_RESIDUALS) or 0.0
        return noise < LARGEST_BIN_NOISE * self.stages[0].n

    def share_beyond(self, size: float) -> float:
        """Return at which share of the inputs the mean is larger than ``size``, up or down.

        In halves of what it is cut to, from the middle.
        """
        options = self.model.options
        low, high = options.outcome.bounds(options.functions, self.number)
        middle = ((low + high) / 2 - options.functions.centre[self.number]) / (
            options.functions.half_width[self.number]
        )
        return float(np.average(np.abs(self.function[0] - middle) > size, weights=self.inputs[1]))


Check = Callable[[FittedTarget], str | None]


def check_health(model: FittedModel) -> tuple[str, ...]:
    """Return what looks wrong, a sentence each; nothing where all is well."""
    targets = [FittedTarget(model, k) for k in range(model.n_targets)]
    found = (check(target) for target in targets for check in _checks(target))
    about_targets = (sentence for sentence in found if sentence is not None)
    return (*too_little(model), *wrong_bounds(model), *different_curves(model), *about_targets)


def different_curves(model: FittedModel) -> list[str]:
    """Say which of several pooled releases is not about the function of the others.

    Or that a fit is not about that of the model that it started from.
    """
    if moved := model.findings.get("update"):
        return [f"The curve has moved, so that the new rows alone are believed: {moved}."]
    found = model.findings.get("pooled", {})
    if not any(found.get("between", ())):
        return []
    return [f"The pooled releases are not about one function: {found.get('agreement')}"]


def _checks(target: FittedTarget) -> tuple[Check, ...]:
    """Return what is looked at: where the unit is wrong, that alone, as it explains the others."""
    if target.model.outcome.law_is_known:
        return CHECKS_OF_KNOWN_LAWS
    is_beyond = in_a_corner(target) is None and beyond_the_range(target) is not None
    return (beyond_the_range,) if is_beyond else CHECKS


def outside_bounds(target: FittedTarget) -> str | None:
    """The mean leaves the public bounds at many inputs: |m(x)| > 1.2; labels have no unit."""
    share = target.share_beyond(FAR_OUTSIDE)
    if share <= OFTEN:
        return None
    if target.model.outcome.law_is_known:
        return (
            f"At {share:.0%} of the inputs noise took the probability of {target.name} beyond 0 or "
            "1, where it is cut: fit fewer inputs, or with a larger ε."
        )
    return (
        f"The mean of {target.name} would leave its bounds at {share:.0%} of the inputs, and is "
        "cut to them: check that both have the same unit, or else fit fewer inputs, or a larger ε."
    )


def beyond_the_range(target: FittedTarget) -> str | None:
    """Observations scatter more than bounds allow, σ > 1.2, or nearly all lie beyond one side."""
    last = target.stages[-1]
    scatter = target.posterior.moments.noise > LARGEST_SD
    filled = last.c / (last.n * last.clip**2) > ALL_CLIPPED
    at_one_side = target.share_beyond(NEARLY_ONE) > 0.5
    if not (scatter or (filled and at_one_side)):
        return None
    return (
        f"Observations of {target.name} lie outside its bounds: check that both have the same "
        "unit, and widen the target bounds if they have."
    )


def in_a_corner(target: FittedTarget) -> str | None:
    """Mean and residuals scatter over a hundredth of the bounds: Var m + c/n < 0.022².

    By the smallest c + 4σ_c of stages that clipped few residuals.
    """
    stages = [
        (stage.clip, (stage.c + CLEARLY * stage.sigma_c) / stage.n) for stage in target.stages
    ]
    squares = [square for clip, square in stages if square < HARDLY_CLIPPED * clip**2]
    mean, weights = target.function[0], target.inputs[1]
    spread = np.average((mean - np.average(mean, weights=weights)) ** 2, weights=weights)
    if spread + min(squares, default=1.0) >= SMALLEST_SPREAD**2:
        return None
    return (
        f"Nearly all observations of {target.name} lie within a hundredth of its bounds: noise is "
        f"as large as these bounds ask for; {SAME_UNIT}."
    )


def at_one_bound(target: FittedTarget) -> str | None:
    """Every t² of the first stage is near one, and the mean is near one bound everywhere."""
    is_there = target.all_at_bounds and target.share_beyond(NEXT_TO_ONE) > 1.0 - OFTEN
    if not is_there or in_a_corner(target) is not None:
        return None
    return (
        f"Nearly all observations of {target.name} lie next to one of its bounds: {SAME_UNIT}. If "
        "it is yes or no, fit PrivateGPClassifier."
    )


def far_at_a_bound(target: FittedTarget) -> str | None:
    """Rows of a target lie at a bound, far from all others, as codes such as 999 do."""
    return target.at_bound


def unusual_tails(target: FittedTarget) -> str | None:
    """Residuals have far more large values than a normal law: k_95/k_50, and k_95."""
    if not target.has_far_ones or target.has_atoms or not target.tails_are_known:
        return None
    if target.at_bound is not None:
        return None
    return (
        f"A few observations of {target.name} lie very far from the others: {DECLARE_CODES}, and "
        "look for rows in another unit; if it takes few values, fit them as classes."
    )


def two_values(target: FittedTarget) -> str | None:
    """The law of the residuals has two atoms, every t² is one, or residuals have no tails."""
    few_tails = target.tails < FEWEST_TAILS and target.tails_are_known
    if not (target.is_likely(Kind.TWO_VALUES) or target.all_at_bounds or few_tails):
        return None
    explained = (in_a_corner(target), at_one_bound(target), target.at_bound)
    if any(told is not None for told in explained):
        return None
    return (
        f"Observations of {target.name} take two values or so: read its mean as a share, or fit "
        "PrivateGPClassifier; if it has others, "
        f"{DECLARE_CODES}."
    )


def many_equal(target: FittedTarget) -> str | None:
    """The law of the residuals has a spike at one end: many observations are equal."""
    if not target.is_likely(Kind.SPIKE) or target.all_at_bounds:
        return None
    return (
        f"Many observations of {target.name} are equal, at one end of the others: its mean is that "
        "of all of them; a second model of which are equal says more."
    )


def worse_stages(target: FittedTarget) -> str | None:
    """A stage left larger residuals than one before, which was not clipped closer: c_k > c_j."""
    if not any(_grew(before, after) for before, after in combinations(target.stages, 2)):
        return None
    return (
        f"A stage of the fit of {target.name} made residuals larger: the model may be worse than "
        "the mean of the target; fit fewer inputs, or with a larger ε."
    )


def _grew(before: StageRelease, after: StageRelease) -> bool:
    comparable = before.is_unclipped or after.clip <= before.clip
    noise = float(np.hypot(before.sigma_c, after.sigma_c))
    return comparable and after.c > WORSE * max(before.c, 0.0) + CLEARLY * noise


def far_from_forecast(target: FittedTarget) -> str | None:
    """The posterior's own error of f is several times what was plausible before the fit.

    Where rows are few that is said, and nobody's bounds are to blame.
    """
    if target.has_atoms or rows_are_few(target.model):
        return None
    enough = target.error / FAR_APART
    high = expected_error(target.model, target.posterior, enough)
    if high >= enough:
        return None
    scale = float(target.model.options.functions.half_width[target.number])
    error, most = (f"{scale * size:.2g}" for size in (target.error, high))
    return (
        f"The error of the mean of {target.name} is about {error}, though {most} at most was to be "
        "expected: check its unit and bounds, and whether inputs fill theirs."
    )


CHECKS = (
    in_a_corner,
    at_one_bound,
    outside_bounds,
    far_at_a_bound,
    unusual_tails,
    two_values,
    many_equal,
    worse_stages,
    far_from_forecast,
)
"""What is looked at where the unit is right."""

CHECKS_OF_KNOWN_LAWS = (outside_bounds, worse_stages, far_from_forecast)
"""What is looked at where the law of an observation is not learned."""
