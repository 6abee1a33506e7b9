"""Shares of the budget by public rules, written again from docs/method.md: what noise must be."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpgp.verify.contents import ClaimedFit

Share = Callable[[ClaimedFit], float]

DEFAULT_WEIGHTS = (1.0, 1.0, 2.0, 3.0, 4.0, 6.0)
"""Weights of stages where none were asked for."""
UPDATE_WEIGHTS = (1.0, 1.0, 2.0, 2.0)
"""Those of a fit that starts from an earlier model."""
UNLIMITED_STAGES = 8
"""Stages in a learned metric where nothing has a price."""

INPUT_MODEL, CELLS, GUARD = 0.05, 0.05, 0.05
"""Shares of histograms and cells of many inputs, and of the guard of the mean."""
FEWEST_CELLS, MOST_CELLS = 8, 256


def signal(fit: ClaimedFit, rows: float) -> float:
    """nμ/m: how many rows stand out of the noise of a count."""
    return rows * fit.mu / fit.claim.rows_per_unit


def constant(share: float) -> Share:
    """Return a share that depends on nothing."""
    return lambda fit: share


def _within(share: float, least: float, most: float) -> float:
    return min(max(share, least), most)


def for_targets(fit: ClaimedFit) -> float:
    """10/nμ, from 3 to 6 %."""
    return _within(10.0 / signal(fit, fit.rows), 0.03, 0.06)


def target_bins(fit: ClaimedFit) -> int:
    """16, 32 or 64 bins of a target."""
    found = signal(fit, fit.n)
    return 16 if found < 400 else 32 if found < 800 else 64


def for_law(fit: ClaimedFit) -> float:
    """A bin of the residuals known to 1.5 % of the rows, from 1 to 3 %."""
    return _within(2.0 / (0.015 * signal(fit, fit.rows)) ** 2, 0.01, 0.03)


def for_calibration(fit: ClaimedFit) -> float:
    """A bin known to 1 % of the rows, from 1 to 10 %."""
    return _within(2.0 / (0.01 * fit.rows * fit.mu) ** 2, 0.01, 0.10)


def counts_labels(fit: ClaimedFit) -> bool:
    """Return whether 5 % lets a bin of yes and no be known to 3 % of the rows."""
    if not fit.is_yes_no or fit.is_unlimited:
        return fit.is_yes_no
    return 2.0 / (0.03 * signal(fit, fit.rows)) ** 2 <= 0.05


def for_labels(fit: ClaimedFit) -> float:
    """A bin known to half a per cent of the rows, from 2 to 5 %."""
    return _within(2.0 / (0.005 * signal(fit, fit.rows)) ** 2, 0.02, 0.05)


def sweeps_of_scale(fit: ClaimedFit) -> int:
    """Two of several inputs, one where nothing has a price."""
    return 1 if fit.is_unlimited else min(fit.columns, 2)


def for_scale(fit: ClaimedFit) -> float:
    """A sum known to 1.35 % of the rows in every sweep, all of them from 2 to 4 %."""
    sweeps = sweeps_of_scale(fit)
    wanted = sweeps * (_noise_of_sum(fit, 1.0) / (0.0135 * fit.rows)) ** 2
    return _within(wanted, 0.02, 0.04) / sweeps


def _noise_of_sum(fit: ClaimedFit, share: float) -> float:
    """σ/(√2 s) of features times targets of weight s = 1/√K, where ‖ψ‖² ≤ 2."""
    claim = fit.claim
    sigma = 2.0 * math.sqrt(claim.changed) * claim.rows_per_unit / (fit.mu * math.sqrt(share))
    return sigma * math.sqrt(fit.targets / 2.0)


def for_inputs(fit: ClaimedFit) -> float:
    """5 % where a metric is learned; else the middle of a CDF known to 0.03, from 1 to 5 %."""
    if fit.learns_metric:
        return INPUT_MODEL
    return _within((_error_of_middle(fit) / 0.03) ** 2, 0.01, 0.05)


def _error_of_middle(fit: ClaimedFit) -> float:
    """√(2D)·√bins/(2nμ), at the whole budget."""
    over_noise = fit.rows * fit.mu / math.sqrt(2.0 * fit.columns)
    bins = 8 if over_noise < 180 else 16 if over_noise < 1500 else 32
    return math.sqrt(bins) / (2.0 * over_noise)


def warps(fit: ClaimedFit) -> bool:
    """Return whether histograms of the inputs are worth their price."""
    if not fit.may_warp or (fit.is_unlimited and not fit.learns_metric):
        return False
    if fit.learns_metric:
        return _buys_input_model(fit)
    return _error_of_middle(fit) / math.sqrt(0.05) <= 0.1


def _buys_input_model(fit: ClaimedFit) -> bool:
    """All rows are five times the noise of a histogram."""
    return signal(fit, fit.rows) * math.sqrt(INPUT_MODEL / (2 * fit.columns)) >= 5.0


def for_line(fit: ClaimedFit) -> float:
    """6 %, and 15 % where it is all that is learned of the inputs."""
    return 0.06 if _buys_input_model(fit) else 0.15


def counts_cells(fit: ClaimedFit) -> bool:
    """Return whether there is an input model, and eight cells of four times their noise."""
    if not (fit.learns_metric and warps(fit)):
        return False
    noise = math.sqrt(fit.claim.changed) * fit.claim.rows_per_unit / (fit.mu * math.sqrt(CELLS))
    return most_cells(fit.rows, noise) >= FEWEST_CELLS


def most_cells(rows: float, noise: float) -> int:
    """n/4σ, from 1 to 256."""
    return int(_within(rows / max(4.0 * noise, 1e-9), 1, MOST_CELLS))


def guards(fit: ClaimedFit) -> bool:
    """Return whether residuals are clipped, and many inputs leave a mean known to a tenth."""
    if not fit.clips or not fit.learns_metric:
        return fit.clips
    return _noise_of_sum(fit, GUARD) <= 0.1 * fit.rows * math.sqrt(0.75)


def stage_weights(fit: ClaimedFit) -> tuple[float, ...]:
    """Return what the stages have of what all others leave."""
    if fit.is_unlimited:
        return (1.0,) * (UNLIMITED_STAGES if fit.learns_metric else 1)
    if fit.weights != DEFAULT_WEIGHTS:
        return fit.weights
    if fit.has_prior:
        return UPDATE_WEIGHTS
    if not fit.learns_metric:
        return DEFAULT_WEIGHTS if fit.clips else (1.0,)
    wanted = 1.5 * math.log2(max(signal(fit, fit.rows), 1.0)) - 8.0
    count = int(_within(round(wanted), 4, 11))
    return tuple((1.3 if count < 8 else 1.15) ** k for k in range(count))


DEALT_FROM, LAST_STAGES, PART_SHARE = 60_000.0, 4, 0.3
"""From this nμ on so many last stages ask all rows, and all others a part each, for this share."""
PART_SIGNAL = 10_000.0
"""Most of nμ that a part has."""


def deal(fit: ClaimedFit) -> tuple[int, float] | None:
    """Return how many stages ask all rows, and what a part costs; None where all ask all rows."""
    if not _may_deal(fit) or fit.weights != DEFAULT_WEIGHTS:
        return None
    return (LAST_STAGES, PART_SHARE) if signal(fit, fit.rows) >= DEALT_FROM else None


def number_of_parts(fit: ClaimedFit, asked: int) -> int:
    """One for each that is asked, or as many as keep nμ of a part below its most."""
    return max(asked, int(signal(fit, fit.rows) / PART_SIGNAL))


CALIBRATION_SIGNAL = 6_000.0
"""Least nμ of a part that calibrates intervals, where stages ask all rows."""


def calibration_part(fit: ClaimedFit) -> tuple[int, int] | None:
    """The first of as many parts as have so much each; None where all rows calibrate."""
    parts = int(signal(fit, fit.rows) / CALIBRATION_SIGNAL) if _may_deal(fit) else 1
    return (1, parts) if parts > 1 else None


def _may_deal(fit: ClaimedFit) -> bool:
    has_many = fit.learns_metric and fit.has_public_rows
    return has_many and fit.asks_parts and not fit.is_unlimited
