"""The private fit: which releases are made, in which order, and what each may cost.

Raw rows enter :func:`fit_rows` and only released values leave it. Every step that touches rows is a
release of :mod:`dpgp.release`; everything between them is inference on what was released.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.design import Design, Shares, choose_design
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.whitened import LinearFeatures
from dpgp.forecast import Setting
from dpgp.inference.conformal import Calibration, calibrate, calibration_edges
from dpgp.inference.gram_estimate import MANY_INPUTS, DoubtedEstimate
from dpgp.inference.guard import CONSTANT_SHARE
from dpgp.inference.posterior import Posterior
from dpgp.inference.stage import StageRelease
from dpgp.inference.stages import TargetFit
from dpgp.inference.warp import fit_warp, warp_bins
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.exact_sums import check_arithmetic, check_even
from dpgp.privacy.fixed_point import UNIT
from dpgp.privacy.ledger import Ledger
from dpgp.privacy.mechanism import GramNoise, gram_noise
from dpgp.privacy.noise import NoiseSource, check_scale
from dpgp.privacy.sensitivity import histogram_sensitivity
from dpgp.release import (
    GramRelease,
    Residuals,
    public_block,
    release_count,
    release_gram,
    release_histograms,
)
from dpgp.sources.arrays import Rows
from dpgp.threads import single_threaded_blas

_log = logging.getLogger(__name__)
Array = NDArray[np.float64]

SMALLEST_WEIGHT = 0.5
"""The smallest weight of the target that a design may have: the noise on it is largest there."""


@dataclass(frozen=True)
class InputDensity:
    """A private density of the inputs: about how many rows lie near each point of the box."""

    points: Array
    weights: Array


@dataclass(frozen=True)
class Released:
    """All that leaves a private fit: functions of releases and of public choices."""

    inputs: UnitInputs
    design: Design
    rows: float
    posteriors: tuple[Posterior, ...]
    calibrations: tuple[Calibration, ...]
    stages: tuple[tuple[StageRelease, ...], ...]
    density: InputDensity | None


@dataclass(frozen=True)
class Wall:
    """What every release of one fit shares: the rows, the books, the noise."""

    rows: Rows
    ledger: Ledger
    source: NoiseSource
    rows_per_unit: int = 1
    n_jobs: int | None = None

    def check_noise(self, shares: Shares, columns: int) -> None:
        """Refuse a budget whose noise could not be drawn, before anything is booked."""
        counts = (
            (1, shares.count),
            (columns, shares.warp),
            (len(self.rows.targets), shares.calibration),
        )
        stds = [self.histogram_noise(width, share) for width, share in counts if share > 0.0]
        for share in (*shares.stages, shares.guard):
            if share > 0.0:
                stds += self.gram_noise(share, SMALLEST_WEIGHT).matrix(1, 1).ravel().tolist()
        for std in stds:
            if std > 0.0:
                check_scale(std * UNIT**2)

    def gram_noise(self, share: float, weight: float) -> GramNoise:
        """Return the noise that a Gram matrix will carry."""
        targets = len(self.rows.targets)
        return gram_noise(
            self.ledger.share(share),
            weight / math.sqrt(targets),
            targets,
            self.ledger.neighbours,
            self.rows_per_unit,
        )

    def count(self, share: float) -> float:
        """Release the number of usable rows, at least two."""
        mu = self.ledger.share(share)
        noisy = release_count(
            self.rows, mu, ledger=self.ledger, source=self.source, rows_per_unit=self.rows_per_unit
        )
        return max(noisy, 2.0)

    def gram(
        self, features: BoxFeatures, share: float, weight: float, label: str, residuals: Residuals
    ) -> GramRelease:
        """Release the Gram matrix of features and clipped residuals."""
        return release_gram(
            self.rows,
            features,
            self.gram_noise(share, weight),
            label=label,
            ledger=self.ledger,
            source=self.source,
            residuals=residuals,
            n_jobs=self.n_jobs,
        )

    def histogram_noise(self, histograms: int, share: float) -> float:
        """Return the noise that a count will carry."""
        neighbours = self.ledger.neighbours
        sensitivity = histogram_sensitivity(histograms, neighbours, self.rows_per_unit)
        return gaussian_sigma(sensitivity, self.ledger.share(share))

    def histograms(
        self, bins_of: Any, n_bins: int, share: float, filler: Array, label: str
    ) -> tuple[Array, float]:
        """Release histograms of the rows."""
        return release_histograms(
            self.rows,
            bins_of,
            n_bins,
            self.ledger.share(share),
            filler=filler,
            label=label,
            ledger=self.ledger,
            source=self.source,
            rows_per_unit=self.rows_per_unit,
        )


@single_threaded_blas()
def fit_rows(
    wall: Wall,
    box: Box,
    shares: Shares,
    kernels: Sequence[Any],
    *,
    public_rows: int | None,
    planned_kernel: Any = None,
    family: Sequence[str] | None = None,
    inducing_points: Array | int | None = None,
) -> Released:
    """Fit all targets: count, warp, stages, guard, calibration.

    The design is planned for ``planned_kernel``, by default for smooth functions around a line.
    """
    check_arithmetic()
    wall.check_noise(shares, len(box.low))
    mu, columns = wall.ledger.mu, len(box.low)
    n = float(public_rows) if public_rows is not None else wall.count(shares.count)
    inputs = private_inputs(wall, box, shares.warp, n)
    design = choose_design(
        Setting(n, columns, mu, wall.ledger.neighbours, wall.rows_per_unit, len(wall.rows.targets)),
        shares.stages,
        kernel=planned_kernel,
        family=family,
        inducing_points=inducing_points,
    )
    features = BoxFeatures(inputs, design.features)
    fits = [
        TargetFit(design.features, kernels, design.positions, design.kappa, n)
        for _ in wall.rows.targets
    ]
    for number, share in enumerate(shares.stages, start=1):
        _log.info("stage %d of %d", number, len(shares.stages))
        add_stage(wall, features, fits, share, design.target_weight, f"stage {number}")
    if shares.guard > 0.0:
        add_guard(wall, features, fits, shares.guard)
    _log.info("calibrating intervals")
    posteriors = tuple(fit.posterior() for fit in fits)
    calibrations = calibrated(wall, features, posteriors, shares.calibration, n)
    stages = tuple(tuple(fit.stages) for fit in fits)
    density = input_density(fits[0], inputs, design)
    return Released(inputs, design, n, posteriors, calibrations, stages, density)


def input_density(fit: TargetFit, inputs: UnitInputs, design: Design) -> InputDensity | None:
    """Return the density behind the estimate of B at raw inputs, where it is one on a grid."""
    gram = None if fit.state is None else fit.state.gram
    if not isinstance(gram, DoubtedEstimate) or design.positions is None:
        return None
    if len(inputs.box.low) >= MANY_INPUTS:  # scattered atoms serve B, and nobody's eyes
        return None
    return InputDensity(inputs.invert(design.positions), gram.density.weights)


def private_inputs(wall: Wall, box: Box, share: float, n: float) -> UnitInputs:
    """Return the map to [−1, 1]^D, warped by private histograms where they have a share."""
    if share == 0.0:
        return UnitInputs(box)
    plain, columns = UnitInputs(box), len(box.low)
    n_bins = warp_bins(n, columns, wall.ledger.mu)

    def bins_of(block: Rows) -> NDArray[np.int64]:
        position = (plain(block.inputs).T + 1.0) * (n_bins / 2)
        return np.minimum(position.astype(np.int64), n_bins - 1)

    counts, noise_std = wall.histograms(bins_of, n_bins, share, box.centre, "input histograms")
    return UnitInputs(box, fit_warp(counts, noise_std, n))


def add_stage(
    wall: Wall,
    features: BoxFeatures,
    fits: Sequence[TargetFit],
    share: float,
    weight: float,
    label: str,
) -> None:
    """Release the Gram matrix of the features and the residuals of every target so far."""
    clips = np.array([fit.clip for fit in fits])
    residuals = Residuals(features, np.array([fit.weights for fit in fits]), clips)
    release = wall.gram(features, share, weight, label, residuals)
    for k, fit in enumerate(fits):
        fit.add(stage_of(release, k, fit.clip, fit.weights, fit.n))


def add_guard(wall: Wall, features: BoxFeatures, fits: Sequence[TargetFit], share: float) -> None:
    """Release widely clipped residuals on a few features, against the bias of skewed noise."""
    simple = BoxFeatures(
        features.inputs, LinearFeatures(len(features.inputs.box.low), CONSTANT_SHARE)
    )
    clips = np.array([fit.guard_clip(wall.ledger.share(share)) for fit in fits])
    residuals = Residuals(features, np.array([fit.weights for fit in fits]), clips)
    release = wall.gram(simple, share, 1.0, "guard of the mean", residuals)
    for k, fit in enumerate(fits):
        fit.guard(stage_of(release, k, clips[k], fit.weights, fit.n))


def stage_of(
    release: GramRelease, target: int, clip: float, weights: Array, n: float
) -> StageRelease:
    """Return one target's part of a release, in the units of the scaled target."""
    if release.target_gram is None or release.target_std is None:
        raise ValueError("a stage needs the second moment of its residuals.")
    return StageRelease(
        A=release.cross[:, target] * clip,
        B=release.feature_gram,
        c=float(release.target_gram[target, target]) * clip**2,
        sigma_a=release.cross_std * clip,
        sigma_b=release.feature_std,
        sigma_c=release.target_std * clip**2,
        clip=clip,
        w0=weights,
        n=n,
    )


def calibrated(
    wall: Wall,
    features: BoxFeatures,
    posteriors: Sequence[Posterior],
    share: float,
    n: float,
) -> tuple[Calibration, ...]:
    """Return factors for intervals of new observations, from histograms of scaled residuals."""
    if share == 0.0:
        return tuple(Calibration.gaussian() for _ in posteriors)
    noise_std = wall.histogram_noise(len(posteriors), share)
    edges = calibration_edges(noise_std, n)

    def scaled_residuals(block: Rows) -> Array:
        U = features.inputs(block.inputs)
        predictions = [posterior.predict(U) for posterior in posteriors]
        pairs = zip(predictions, block.targets, strict=True)
        # predictions are cut to the bounds of the target
        return np.array(
            [np.abs(target - np.clip(mean, -1.0, 1.0)) / std for (mean, std), target in pairs]
        )

    def bins_of(block: Rows) -> NDArray[np.int64]:
        return np.searchsorted(edges[1:-1], scaled_residuals(block), side="right")

    check_even(scaled_residuals(public_block(features.filler, wall.rows)))
    counts, noise_std = wall.histograms(
        bins_of, len(edges) - 1, share, features.filler, "residual histograms"
    )
    return tuple(calibrate(row, noise_std, n, edges) for row in counts)
