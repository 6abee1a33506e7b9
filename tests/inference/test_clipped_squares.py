"""What stage and guard told of the size of residuals, as counts of their law."""

from dataclasses import dataclass

import numpy as np
import pytest

from dpgp.inference.clipped_squares import ClippedSquare
from dpgp.inference.conformal import calibrate, calibration_edges
from dpgp.inference.frame import InputModel
from dpgp.inference.residual_families import GRID
from dpgp.inference.stage import StageRelease

N = 4_000
PLACES = np.linspace(-1.0, 1.0, 400)[:, None]
INPUTS = InputModel(PLACES, np.full(len(PLACES), N / len(PLACES)))


@dataclass(frozen=True)
class Law:
    """m and s at every point."""

    sd: float = 0.1

    def at(self, U):
        return 0.3 * U[:, 0], self.sd * (1.5 + U[:, 0])


def released(y, centre, clip, middle=0.0, noise=0.0):
    c = float(np.sum(np.clip(y - centre - middle, -clip, clip) ** 2))
    none = np.empty(0)
    return StageRelease(none, none, c, 0.0, 0.0, noise * N, clip, none, float(N), middle=middle)


@pytest.mark.parametrize(("clip", "middle"), [(0.12, 0.0), (0.5, 0.2), (2.0, 0.0)])
def test_it_is_a_mean_over_the_law_of_scaled_residuals(clip, middle):
    rng = np.random.default_rng(0)
    x, t = rng.uniform(-1.0, 1.0, N), rng.exponential(1.0, N) - 1.0
    mean, std = Law().at(x[:, None])
    y, centre = mean + t * std, 0.27 * x
    square = ClippedSquare(released(y, centre, clip, middle), 0.27 * PLACES[:, 0])
    told = square.of_law(INPUTS, Law())
    masses = np.histogram(rng.exponential(1.0, 10**6) - 1.0, GRID)[0] / 10**6
    assert masses @ told.values == pytest.approx(told.found, rel=0.06)
    assert told.error < 0.05 * told.found


def test_it_mends_a_histogram_whose_far_bins_are_noise():
    rng, noise = np.random.default_rng(1), 80.0
    edges = calibration_edges(noise, N)
    found = []
    for _ in range(12):
        t = rng.standard_normal(N)
        counts = np.histogram(t, edges)[0] + noise * rng.standard_normal(len(edges) - 1)
        mean, std = Law().at(rng.uniform(-1.0, 1.0, (N, 1)))
        stages = [released(mean + t * std, mean, clip) for clip in (0.15, 0.6)]
        told = [ClippedSquare(one, 0.3 * PLACES[:, 0]).of_law(INPUTS, Law()) for one in stages]
        found.append([calibrate(counts, noise, N, edges, 0.0, s).scale for s in ((), told)])
    alone, with_squares = np.sqrt(np.mean((np.array(found) - 1.0) ** 2, axis=0))
    assert with_squares < 0.5 * alone
