"""AIM: bounded influence of a row, no more than the budget, rows that can be learned from."""

from itertools import product
from math import exp, log

import numpy as np
import pytest

from dpgp.privacy.calibration import mu_of_epsilon_delta, rho_of_mu
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines import aim
from dpgp_experiments.baselines.interface import Problem

DELTA = 1e-5


def problem(epsilon, n=2000, **options):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 4.0, (n, 1))
    y = 10.0 + np.sign(X[:, 0] - 2.0) + 0.1 * rng.standard_normal(n)
    return Problem(X, y, ((0.0, 4.0),), (8.0, 12.0), epsilon, DELTA, **options)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_rho_is_private_and_close_to_what_a_gaussian_would_have(epsilon):
    rho = aim.total_rho(epsilon, DELTA)
    assert aim.log_delta_of_rho(rho, epsilon) <= log(DELTA)
    gaussian = rho_of_mu(mu_of_epsilon_delta(epsilon, DELTA))
    assert 0.75 * gaussian < rho < gaussian  # a Gaussian mechanism has less δ than its ρ says


def test_a_row_moves_counts_and_errors_by_no_more_than_their_sensitivity():
    model = np.full(aim.BINS, 2.0)
    for before, after in product(range(3), repeat=2):
        one, other = (np.bincount([k], minlength=aim.BINS) for k in (before, after))
        assert np.linalg.norm(one - other) <= aim.COUNT_SENSITIVITY + 1e-15
        errors = np.abs(one - model).sum(), np.abs(other - model).sum()
        assert abs(errors[0] - errors[1]) <= aim.ERROR_SENSITIVITY
    assert np.linalg.norm(np.eye(2)[0] - np.eye(2)[1]) == pytest.approx(aim.COUNT_SENSITIVITY)
    peaked = np.eye(2)[0]
    assert np.abs(peaked - np.eye(2)[1]).sum() == aim.ERROR_SENSITIVITY


def test_noise_of_counts_costs_what_is_booked():
    sigma = aim.measurement_noise(0.3)
    assert aim.COUNT_SENSITIVITY**2 / (2.0 * sigma**2) == pytest.approx(0.3)


def test_bins_hold_what_was_put_in():
    rng = np.random.default_rng(0)
    U = rng.uniform(-1.0, 1.0, (500, 2))
    sizes = (aim.BINS, 3)
    off = np.abs(aim.from_bins(aim.to_bins(U, sizes), sizes, rng) - U)
    assert np.all(off <= 2.0 / np.array(sizes))
    assert aim.to_bins(np.array([[-1.0], [1.0]]), (aim.BINS,)).ravel().tolist() == [0, aim.BINS - 1]


@pytest.mark.parametrize("size", range(2, aim.BINS + 1))
def test_whole_numbers_have_a_bin_each_and_come_back_around_it(size):
    U = 2.0 * np.arange(size)[:, None] / (size - 1) - 1.0
    bins = aim.to_bins(U, (size,))
    assert bins.ravel().tolist() == list(range(size))
    low, high = 2.0 * bins / size - 1.0, 2.0 * (bins + 1) / size - 1.0
    assert np.all((low <= U) & (high >= U))


def test_the_workload_is_about_the_target():
    weights = aim.workload(4)
    assert set(weights) >= {(0,), (3,), (0, 1), (0, 3), (0, 1, 3)}
    assert (0, 1, 2) not in weights
    assert weights[(0, 3)] > weights[(0, 1)]
    assert set(aim.workload(2)) == {(0,), (1,), (0, 1)}


def test_other_neighbours_are_refused():
    data = problem(1.0, 10, neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(ValueError, match="replace"):
        aim.fit_predict(data, data.X, np.random.default_rng(0))


@pytest.mark.baselines
def test_it_learns_a_step_and_is_repeatable():
    pytest.importorskip("mbi")
    data = problem(3.0)
    first, again = (aim.fit_predict(data, data.X, np.random.default_rng(1)).mean for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert np.std(first - data.y) < 0.6 * np.std(data.y)


@pytest.mark.baselines
@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_choices_and_measurements_add_up_to_rho(monkeypatch, epsilon):
    pytest.importorskip("mbi")
    spent = []
    for name in ("_choose", "_measure"):
        original = getattr(aim.Aim, name)

        def counted(self, first, second, original=original, name=name):
            spent.append(first if name == "_choose" else second)
            return original(self, first, second)

        monkeypatch.setattr(aim.Aim, name, counted)
    monkeypatch.setattr(aim, "ITERATIONS", 50)
    rho = aim.total_rho(epsilon, DELTA)
    data = problem(epsilon, 300)
    sizes = (aim.BINS, aim.BINS)
    table = aim.to_bins(np.column_stack([data.unit_inputs(data.X), data.unit_targets]), sizes)
    aim.Aim(table, sizes, rho, np.random.default_rng(0))
    assert sum(spent) == pytest.approx(rho, rel=1e-9)
    assert exp(aim.log_delta_of_rho(sum(spent), epsilon)) <= DELTA * (1 + 1e-6)


@pytest.mark.baselines
def test_classes_are_learned_and_one_that_nobody_has_is_hardly_possible():
    pytest.importorskip("mbi")
    rng = np.random.default_rng(0)
    U = rng.uniform(-1.0, 1.0, (2000, 1))
    y = np.where(U[:, 0] > 0.0, 2, 0)
    P = aim.fit_classes(aim.ClassProblem(U, y, 4, (aim.BINS,), 3.0, DELTA), U, rng)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert P[np.arange(len(y)), y].mean() > 0.8
    assert P[:, [1, 3]].mean() < 0.1
