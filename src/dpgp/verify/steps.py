"""The steps that a fit may take, a line each: what each releases, and what it leaves in a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace

from dpgp.verify import shares
from dpgp.verify.claim import GRID_BITS, ROUNDING, ClaimedRelease, are_close
from dpgp.verify.contents import ClaimedFit, ClaimedStage

CALIBRATION = "residual histograms"
UPDATE = "update"
"""What a fit found of the earlier model that it started from: no release, but a comparison."""
LAW_BINS = 22
COARSE_BINS, FINE_BINS, FINE_FROM = 14, 28, 80
MOST_BINS_OF_LABELS = 10
MOST_FEATURES, LEADING = 400, 128
"""Features that a stage in a learned metric may have, and those whose products are released."""
SAME_SHARE = 1e-6
"""Relative difference of shares that roundings of μ may make; nobody gains by less."""

Numbers = Callable[[ClaimedFit, ClaimedRelease], Container[int]]


@dataclass(frozen=True)
class PlannedStep:
    """One kind of release: its name, its query, when a fit has it, and at which share of μ².

    ``numbers`` are how many it may have. ``left`` says whether the file holds what only this step
    can have told; None where it leaves nothing of its own. ``part`` is the part of the rows that it
    asks where only some are asked.
    """

    label: str
    query: str
    size: Callable[[ClaimedFit], float]
    numbers: Numbers
    is_taken: Callable[[ClaimedFit], bool]
    share: shares.Share
    left: Callable[[ClaimedFit], bool] | None = None
    part: tuple[int, int] | None = None


def _exactly(count: int) -> range:
    return range(count, count + 1)


def _triangle(features: int, targets: int) -> int:
    """Entries of a symmetric matrix of features and targets."""
    size = features + targets
    return size * (size + 1) // 2


def _gram_of(features: Callable[[ClaimedFit], int]) -> Numbers:
    return lambda fit, release: _exactly(_triangle(features(fit), fit.targets))


def _bins_of_input(fit: ClaimedFit) -> int:
    return max(fit.warp_bins or 0, fit.levels)


def _calibration_bins(fit: ClaimedFit, release: ClaimedRelease) -> int:
    of = 1 if release.part is None else release.part[1]
    return FINE_BINS if release.noise_std * FINE_FROM <= fit.n / of else COARSE_BINS


def _stage_numbers(fit: ClaimedFit, release: ClaimedRelease) -> Container[int]:
    fixed = fit.stages[0].features
    if fixed is not None:
        return _exactly(_triangle(fixed, fit.targets))
    return {_learned_numbers(features, fit.targets) for features in range(1, MOST_FEATURES + 1)}


def _learned_numbers(features: int, targets: int) -> int:
    """Products of the leading features, of all of them with targets, and of targets."""
    return _triangle(min(features, LEADING), 0) + features * targets + _triangle(0, targets)


def _one(fit: ClaimedFit) -> float:
    return 1.0


def _counted(fit: ClaimedFit) -> int:
    """Rows, the squares of their weights where they have any, and cells of columns of levels."""
    return 1 + (fit.row_weight is not None) + fit.counted_levels


def _two(fit: ClaimedFit) -> float:
    """‖φ‖² ≤ 1, and the squares of K targets of weight 1/√K, or of the classes of one."""
    return 2.0


def _columns(fit: ClaimedFit) -> float:
    return float(fit.columns)


def _targets(fit: ClaimedFit) -> float:
    return float(fit.targets)


STAGE = PlannedStep(
    "stage", "gram", _two, _stage_numbers, lambda fit: True, shares.constant(math.nan)
)
"""Stages are numbered, and share what the other steps leave by their weights."""

LAW = PlannedStep(
    "law of residuals", "histograms", _targets,
    lambda fit, release: _exactly(fit.targets * LAW_BINS),
    lambda fit: fit.clips and len(fit.weights) > 1, shares.for_law,
    lambda fit: "law of residuals" in fit.findings,
)  # fmt: skip
"""It comes after the first stages, before the last one."""

BEFORE_STAGES = (
    PlannedStep(
        "number of rows", "count", lambda fit: 1.25 if _counted(fit) > 1 else 1.0,
        lambda fit, release: _exactly(_counted(fit)),
        lambda fit: not fit.has_public_rows, shares.constant(0.02),
    ),
    PlannedStep(
        "target histograms", "histograms", _targets,
        lambda fit, release: _exactly(fit.targets * shares.target_bins(fit)),
        lambda fit: fit.learns_metric and not (fit.has_classes or fit.has_prior),
        shares.for_targets,
        lambda fit: "target histograms" in fit.findings,
    ),
    PlannedStep(
        "input histograms", "histograms", _columns,
        lambda fit, release: _exactly(fit.columns * _bins_of_input(fit)),
        lambda fit: shares.warps(fit) and not fit.has_prior, shares.for_inputs,
        lambda fit: fit.warp_bins is not None and not fit.has_prior,
    ),
    PlannedStep(
        "linear stage", "gram", _two, _gram_of(lambda fit: fit.coordinates + 1),
        lambda fit: fit.learns_metric and not fit.has_prior, shares.for_line,
    ),
    PlannedStep(
        "cells of the inputs", "histograms", _one,
        lambda fit, release: range(1, shares.most_cells(fit.n, release.noise_std) + 1),
        shares.counts_cells, shares.constant(shares.CELLS),
    ),
)  # fmt: skip

LOCAL_SCALE = PlannedStep(
    "local scale", "gram", _two, _gram_of(lambda fit: fit.scale_features or 0),
    lambda fit: fit.calibrates and fit.scale_features is not None, shares.for_scale,
    lambda fit: fit.scale_features is not None,
)  # fmt: skip
"""One or two sweeps of it."""

AFTER_STAGES = (
    PlannedStep(
        "guard of the mean", "gram", _two, _gram_of(lambda fit: fit.coordinates + 1),
        shares.guards, shares.constant(shares.GUARD),
    ),
    LOCAL_SCALE,
    replace(
        LOCAL_SCALE, label="local scale again", left=None,
        is_taken=lambda fit: LOCAL_SCALE.is_taken(fit) and shares.sweeps_of_scale(fit) > 1,
    ),
    PlannedStep(
        CALIBRATION, "histograms", _targets,
        lambda fit, release: _exactly(fit.targets * _calibration_bins(fit, release)),
        lambda fit: fit.calibrates, shares.for_calibration,
        lambda fit: not fit.laws_are_known,
    ),
    PlannedStep(
        "labels by prediction", "histograms", _one,
        lambda fit, release: range(2, 2 * MOST_BINS_OF_LABELS + 1, 2),
        shares.counts_labels, shares.for_labels,
        lambda fit: "labels by prediction" in fit.findings,
    ),
)  # fmt: skip

OF_PARTS = ("law of residuals", "local scale", "local scale again", CALIBRATION)
"""What asks a part of the rows where early stages do."""

OTHERS = (*BEFORE_STAGES, LAW, *AFTER_STAGES)
"""All steps with a name and a share of their own. Each kind of step of a fit needs its line."""


def expected_steps(fit: ClaimedFit) -> tuple[PlannedStep, ...]:
    """Return the steps that settings and rows lead to, in their order, shares filled in."""
    before, after = _taken(fit, BEFORE_STAGES), _taken(fit, AFTER_STAGES)
    between = _taken(fit, (LAW,))
    deal = shares.deal(fit)
    common = [step for step in (*before, *between, *after) if not (deal and step.label in OF_PARTS)]
    rest = 1.0 - sum(step.share(fit) for step in common)
    stages = _stages(fit, rest)
    cut = min(2, len(stages) - 1) if between else 0
    steps = (*before, *stages[:cut], *between, *stages[cut:], *after)
    if deal is not None:
        return _dealt(fit, steps, *deal, rest)
    part = shares.calibration_part(fit)
    return tuple(replace(s, part=part) if s.label == CALIBRATION else s for s in steps)


def _dealt(
    fit: ClaimedFit, steps: tuple[PlannedStep, ...], last: int, share: float, rest: float
) -> tuple[PlannedStep, ...]:
    """Let early stages, law, scale and calibration ask a part each; the last stages share again."""
    stages = [step for step in steps if _is_stage(step.label)]
    late = {step.label: step.share(fit) for step in stages[-last:]}
    asking = [s for s in steps if s.label in OF_PARTS or (s in stages and s.label not in late)]
    of = shares.number_of_parts(fit, len(asking))
    parts = {step.label: (number, of) for number, step in enumerate(asking, start=1)}

    def dealt(step: PlannedStep) -> PlannedStep:
        if step.label in parts:
            each = shares.constant(share * rest)
            return replace(step, share=each, part=parts[step.label])
        if step.label in late:
            own = (1.0 - share) * rest * late[step.label] / sum(late.values())
            return replace(step, share=shares.constant(own))
        return step

    return tuple(map(dealt, steps))


def _taken(fit: ClaimedFit, steps: tuple[PlannedStep, ...]) -> list[PlannedStep]:
    return [step for step in steps if step.is_taken(fit)]


def _stages(fit: ClaimedFit, rest: float) -> list[PlannedStep]:
    weights = shares.stage_weights(fit)
    total = sum(weights)
    return [
        replace(STAGE, label=f"stage {k}", share=shares.constant(rest * weight / total))
        for k, weight in enumerate(weights, start=1)
    ]


def wrong_order(fit: ClaimedFit, expected: tuple[PlannedStep, ...]) -> Iterator[str]:
    """Say which releases are missing, too many, unknown or out of order."""
    found = [release.label for release in fit.claim.releases]
    wanted = [step.label for step in expected]
    if found == wanted:
        return
    known = {step.label for step in (*OTHERS, *expected)}
    there, needed = dict.fromkeys(found), dict.fromkeys(wanted)
    for label in there:
        if label not in known and not _is_stage(label):
            yield f"this version does not know a release '{label}'"
        elif label not in needed:
            yield f"'{label}' is not of this fit"
    yield from (f"'{label}' is missing" for label in needed if label not in there)
    if len(there) < len(found):
        yield "a release is listed twice"
    elif len(found) == len(wanted) and there.keys() == needed.keys():
        yield "releases are not in the order of the steps"


def _is_stage(label: str) -> bool:
    name, _, number = label.partition(" ")
    return name == STAGE.label and number.isdecimal()


def wrong_queries(
    fit: ClaimedFit, pairs: list[tuple[PlannedStep, ClaimedRelease]]
) -> Iterator[str]:
    """Say which releases are no answer to the query of their step."""
    for step, release in pairs:
        if release.query != step.query:
            yield f"'{release.label}' is {step.query}, not {release.query}"
        elif not are_close(release.size, step.size(fit)):
            yield f"'{release.label}' has size {step.size(fit):.6g}, not {release.size:.6g}"
        elif release.coordinates not in step.numbers(fit, release):
            yield f"'{release.label}' cannot have {release.coordinates} numbers"
        elif release.part != step.part:
            yield f"'{release.label}' is about {_rows_in(step.part)}, not {_rows_in(release.part)}"


def _rows_in(part: tuple[int, int] | None) -> str:
    return "all rows" if part is None else f"part {part[0]} of {part[1]}"


def wrong_shares(fit: ClaimedFit, pairs: list[tuple[PlannedStep, ClaimedRelease]]) -> Iterator[str]:
    """Say which releases have other noise than their part of the budget makes, if it has an end."""
    if fit.is_unlimited:
        return
    for step, release in pairs:
        spent, share = (release.mu / fit.mu) ** 2, step.share(fit)
        if not are_close(spent, share, SAME_SHARE):
            yield f"'{release.label}' has {spent:.4%} of the budget, not {share:.4%}"


def wrong_traces(fit: ClaimedFit) -> Iterator[str]:
    """Say what a file holds without its release, or lacks in spite of it."""
    made = {release.label for release in fit.claim.releases}
    for step in OTHERS:
        if step.left is not None and step.left(fit) != (step.label in made):
            holds = "holds what only this can have told" if step.left(fit) else "has nothing of it"
            yield f"'{step.label}' is {'' if step.label in made else 'not '}there, the file {holds}"
    told = made | {UPDATE} if fit.has_prior else made
    yield from (f"nothing released a finding '{name}'" for name in fit.findings if name not in told)


def wrong_stages(fit: ClaimedFit) -> Iterator[str]:
    """Say which stages state other noise than their releases."""
    made = [r for r in fit.claim.releases if r.label == "linear stage" or _is_stage(r.label)]
    if len(made) != len(fit.stages):
        yield f"{len(fit.stages)} stages of {len(made)} releases"
        return
    for release, stage in zip(made, fit.stages, strict=True):
        times = 1.0 / (fit.row_weight or 1.0)
        stated = _is_noise_of(release, stage, times, fit.are_joint)
        if (stage.features is None) != fit.learns_metric or not stated:
            yield f"the noise of '{release.label}'"


def _is_noise_of(
    release: ClaimedRelease, stage: ClaimedStage, times: float, are_joint: bool
) -> bool:
    """σ_b = σ/z², σ_a = clip·σ/(√2 s z) and σ_c = clip²σ/s² with z = 1 − √d/2²⁰, ‖ψ‖² = 1 + Ks².

    Sums of a part stand for all rows: they and their noise are multiplied by how many there are,
    and sums of rows with weights by how many of these make a whole one.
    Of K classes the norm is bounded and one clip is that of all, s = (1 − √K/2²⁰), and √(1 − 1/K)
    of the noise on their sums with features is left where these add up to nothing.
    """
    targets = len(stage.targets)
    weight = math.sqrt(max(release.size - 1.0, ROUNDING) / (1 if are_joint else targets))
    z, left = _shrinkage(stage.features or _features_of(release, targets)), 1.0
    if are_joint:
        weight, left = weight * _shrinkage(targets), math.sqrt(1.0 - 1.0 / targets)
        if len({clip for clip, _, _ in stage.targets}) > 1:
            return False
    sigma = times * release.noise_std * (1 if release.part is None else release.part[1])
    return are_close(stage.sigma_b, sigma / z**2) and all(
        are_close(sigma_a, left * clip * sigma / (math.sqrt(2.0) * weight * z))
        and are_close(sigma_c, clip * clip * sigma / weight**2)
        for clip, sigma_a, sigma_c in stage.targets
    )


def _features_of(release: ClaimedRelease, targets: int) -> int:
    """Return d, where (d + K)(d + K + 1)/2 numbers were released, or those of leading products."""
    if _is_stage(release.label) and release.coordinates > _triangle(LEADING, targets):
        others = release.coordinates - _triangle(LEADING, 0) - _triangle(0, targets)
        return others // targets
    return max((math.isqrt(8 * release.coordinates + 1) - 1) // 2 - targets, 0)


def _shrinkage(features: int) -> float:
    """Return the public factor of features before they are rounded: docs/proofs/exact_sums.md."""
    return 1.0 - math.sqrt(features) * 2.0 ** -(GRID_BITS // 2)
