"""The helpers that the experiments stand on."""

import math
import warnings

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp.privacy.noise import SeededNoiseWarning, noise_source
from dpgp_experiments.calibration import KERNEL, NODES
from dpgp_experiments.simulated import coverage, draw_function, generator, simulation
from dpgp_experiments.tables import Estimate, write_csv


def test_nodes_leave_nothing_of_the_function_open():
    X = np.linspace(-4.0, 4.0, 200)[:, None]
    K = KERNEL(NODES) + 1e-10 * np.eye(len(NODES))
    left_open = 1.0 - np.einsum("ij,ji->i", KERNEL(X, NODES), np.linalg.solve(K, KERNEL(NODES, X)))
    assert np.max(np.abs(left_open)) < 1e-8


def test_drawn_functions_have_the_covariance_of_the_kernel():
    X = np.array([[-4.0], [0.0], [1.0], [4.0]])
    draws = np.array([draw_function(KERNEL, X, NODES, generator(0, i)) for i in range(4000)])
    # the standard error of a covariance is at most sqrt(2/4000) = 0.022
    np.testing.assert_allclose(draws.T @ draws / len(draws), RBF(1.0)(X), atol=0.12)


def test_coverage_counts_the_central_interval():
    values = np.array([0.0, 0.6, -0.7, 1.9, 2.0])
    assert coverage(values, np.zeros(5), np.ones(5), 0.5) == pytest.approx(0.4)
    assert coverage(values, np.zeros(5), np.ones(5), 0.95) == pytest.approx(0.8)


def test_simulation_silences_one_warning_only():
    with simulation():
        noise_source(1)
        with pytest.raises(UserWarning, match="another"):
            warnings.warn("another", UserWarning, stacklevel=1)
    with pytest.warns(SeededNoiseWarning):
        noise_source(1)


def test_estimate_is_mean_and_standard_error():
    estimate = Estimate.of([1.0, 2.0, 3.0])
    assert estimate == (2.0, pytest.approx(1.0 / math.sqrt(3.0)))
    assert math.isnan(Estimate.of([1.0]).error)


def test_csv_keeps_every_digit(tmp_path):
    write_csv([{"name": "a", "value": 0.1 + 0.2}], tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "name,value\na,0.30000000000000004\n"
