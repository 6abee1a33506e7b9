"""Low-discrepancy points are those of another library, to the last bit."""

import numpy as np
import pytest
from scipy.stats import qmc

from dpgp.halton import halton


@pytest.mark.parametrize("dimension", [1, 2, 7, 60])
def test_points_are_those_of_scipy(dimension):
    expected = qmc.Halton(dimension, scramble=False).random(700)
    np.testing.assert_array_equal(halton(dimension, 699), expected[1:])
    np.testing.assert_array_equal(halton(dimension, 50, skip=600), expected[600:650])
