"""Shares of the budget and sizes of a fit of many inputs, from public numbers alone.

``signal`` is nμ over the rows of a unit: how many rows stand out of the noise of a count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

INPUT_SHARE, CELL_SHARE = 0.05, 0.05
"""Shares of μ² for the histograms of the inputs, and for the counts of their cells. By hand."""

WORTHWHILE = 5.0
"""How many times its noise all rows must be in a histogram for an input model to be bought. By
hand: it was 17, and a model of the inputs paid from a third of the rows on."""

LINEAR_SHARE, LINEAR_SHARE_ALONE = 0.06, 0.15
"""Share of the linear stage, and where it is all that is learned about the inputs. By hand."""

FEWEST_STAGES, MOST_STAGES = 4, 11  # by hand; in a prototype, fewer or many more gained nothing
FEWEST_CELLS, MOST_CELLS = 8, 256
"""Cells below which counts say nothing worth their share, and cells beyond which time is wasted."""

FEWEST_POINTS, ENOUGH_POINTS, MOST_POINTS, POINTS_STEP = 208, 608, 800, 16
"""More than enough pay where nμ is beyond 10⁴ alone. Inducing points come in sixteens: matrix
products treat the rest of a block in another way, and a row's numbers must not depend on its place.
"""

EARLY_POINTS = 400
"""Most inducing points of the first third of the stages: what they can tell is coarse. By hand; no
loss was seen, and with two thirds kin40k lost: docs/results/one_pass.md."""

POINTS_OF_ONE_INPUT = 64
"""By hand: half as many lose a per cent or two of the error, and all of them gain nothing."""

MOST_FEATURES = 400
"""Features of a stage: the rest of them would each carry little, and d²/2 noises cost time."""

KAPPA_OF_TAILS = 4.0
"""Residual sds at which stages clip before the law is known, where inputs have long tails: clipped
harder, far rows all say the same, and no line is steep enough. By hand."""

LEADING = 128
"""Features of a stage, by their weight, whose products are released: docs/results/one_pass.md. What
is seen above the noise of others is nearly nothing, and their noises cost most of the draws."""


def target_share(signal: float) -> float:
    """Return the share of the histograms of the targets."""
    return float(np.clip(10.0 / signal, 0.03, 0.06))


def bins_of_target(signal: float) -> int:
    """Return how many bins a histogram of a target has: every bin adds its own noise."""
    return 16 if signal < 400 else 32 if signal < 800 else 64


def buys_input_model(signal: float, columns: int) -> bool:
    """Return whether histograms of the inputs would not be mostly noise."""
    return signal * math.sqrt(INPUT_SHARE / (2 * columns)) >= WORTHWHILE


def linear_share(signal: float, columns: int) -> float:
    """Return the share of the linear stage."""
    return LINEAR_SHARE if buys_input_model(signal, columns) else LINEAR_SHARE_ALONE


def stage_weights(signal: float) -> tuple[float, ...]:
    """Return growing weights of the stages: later ones see smaller residuals."""
    wanted = 1.5 * math.log2(max(signal, 1.0)) - 8.0
    count = int(np.clip(round(wanted), FEWEST_STAGES, MOST_STAGES))
    return tuple(((1.3 if count < 8 else 1.15) ** np.arange(count)).tolist())


def bins_of_inputs(signal: float, columns: int) -> int:
    """Return how many bins a histogram of an input has."""
    scaled = signal / math.sqrt(2 * columns)
    return 16 if scaled < 180 else 32 if scaled < 600 else 64


def number_of_cells(rows: float, noise_std: float) -> int:
    """Return how many cells hold about four times the noise of their count."""
    return int(np.clip(rows / max(4 * noise_std, 1e-9), 1, MOST_CELLS))


def inducing_points(signal: float, coordinates: int) -> int:
    """Return how many synthetic rows serve as inducing points."""
    wanted = max(min(signal / 4, ENOUGH_POINTS), signal / 20)
    most = min(MOST_POINTS, points_that_cover(coordinates))
    return int(np.clip(wanted, min(FEWEST_POINTS, most), most)) // POINTS_STEP * POINTS_STEP


def early_stages(stages: int) -> int:
    """Return how many stages have fewer points: a third, and a new metric is due after them."""
    return (stages + 1) // 6 * 2


def points_that_cover(coordinates: int) -> int:
    """Return how many points leave no gap that matters: four times as many for each input."""
    return int(POINTS_OF_ONE_INPUT * 4.0 ** min(coordinates - 1, 8))


def clip_kappa(signal: float, *, has_tails: bool = False) -> float:
    """Return where stages clip, in residual sds; nothing is clipped without noise."""
    return math.inf if math.isinf(signal) else KAPPA_OF_TAILS if has_tails else 1.0


class Deal(NamedTuple):
    """How stages share the rows: so many last ones ask all, the others a part each.

    ``share`` is what each of the others has of what all stages have for one row, and so does
    whoever else asks a part.
    """

    last: int
    share: float


DEAL, DEALT_FROM = Deal(4, 0.3), 60_000.0
"""From which nμ on parts of the rows are enough for early stages: docs/results/one_pass.md."""

PART_SIGNAL = 10_000.0
"""Most of nμ that a part has: what time grows with are then the passes over all rows. By hand: the
metric of a function is found from as much where every stage asks all rows."""


def deal_of(signal: float) -> Deal | None:
    """Return how stages share the rows; None where all of them ask all rows."""
    return DEAL if signal >= DEALT_FROM else None


def number_of_parts(signal: float, asked: int) -> int:
    """Return into how many parts rows are dealt, of which so many are asked."""
    return max(asked, int(signal / PART_SIGNAL))


CALIBRATION_SIGNAL = 6_000.0
"""Least nμ of a part that calibrates intervals: at the least share of the budget the noise of a bin
is a four-hundredth of its rows."""


def parts_of_calibration(signal: float) -> int:
    """Return of how many parts calibration asks one, where stages ask all rows."""
    return max(int(signal / CALIBRATION_SIGNAL), 1)
