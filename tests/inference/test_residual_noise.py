import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp.inference.few.beliefs import Residual
from dpgp.inference.few.gram_estimate import IsotropicEstimate
from dpgp.inference.posterior import Moments
from dpgp.inference.residual_law import gaussian_law

CLEAR = replace(gaussian_law(), log_sd=math.log(2.0), log_sd_error=0.1, odds=0.0)
W0 = np.zeros(3)


def test_before_a_histogram_nothing_is_known_of_the_noise():
    thetas = np.array([[0.0, -3.0], [0.0, 1.0]])
    np.testing.assert_array_equal(Residual().log_density(thetas), 0.0)
    assert (
        Residual().noise(Moments(W0, np.eye(3), 0.1), IsotropicEstimate(np.eye(3), 0.0), 9) == 0.0
    )


def test_the_error_of_the_mean_is_taken_out():
    found = Residual.measured(CLEAR, 0.1, W0, 0.3**2 * 0.2**2)
    assert found.sd == pytest.approx(0.2)
    assert math.exp(2 * found.log_noise) == pytest.approx(0.2**2 * (1 - 0.3**2))
    sure, unsure = (Residual.measured(CLEAR, 0.1, W0, part * 0.2**2) for part in (0.0, 0.7))
    assert sure.log_noise_error < unsure.log_noise_error


def test_counts_that_do_not_tell_a_bell_say_nothing_of_the_noise():
    unclear = Residual.measured(replace(CLEAR, odds=0.5), 0.1, W0, 0.0)
    assert unclear.log_density(np.array([[5.0]])) == pytest.approx(0.0)


def test_what_was_explained_since_is_no_noise():
    found = Residual.measured(CLEAR, 0.1, W0, 0.0)
    gram = IsotropicEstimate(10.0 * np.eye(3), 0.0)
    moved = Moments(np.array([0.1, 0.0, 0.0]), np.zeros((3, 3)), 0.1)
    assert found.noise(moved, gram, 10.0) == pytest.approx(math.sqrt(0.2**2 - 0.1**2))
    far = Moments(np.ones(3), np.zeros((3, 3)), 0.1)
    assert found.noise(far, gram, 10.0) == 0.0
