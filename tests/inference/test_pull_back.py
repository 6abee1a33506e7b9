import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from dpgp.inference.pull_back import positive_part, project_to_simplex, pull_back


def features(U, Z, length):
    """Whitened exponentiated-quadratic features, naive."""

    def kernel(A, B):
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(-1) / length**2)

    eigenvalues, Q = np.linalg.eigh(kernel(Z, Z) + 1e-4 * np.eye(len(Z)))
    return kernel(U, Z) @ (Q * eigenvalues**-0.5) @ Q.T


def grid(points, D):
    axis = np.linspace(-1, 1, points)
    return np.stack(np.meshgrid(*[axis] * D, indexing="ij"), -1).reshape(-1, D)


def symmetric_noise(d, sigma, rng):
    E = rng.normal(0, sigma / np.sqrt(2), (d, d))
    E = np.triu(E, 1)
    return E + E.T + np.diag(rng.normal(0, sigma, d))


def case(D=1, points=15, length=0.15, cells=161, n=2600, sigma=10.0, seed=0):
    rng = np.random.default_rng(seed)
    Z = grid(points, D)
    Phi = features(np.clip(rng.normal(-0.3, 0.3, (n, D)), -1, 1), Z, length)
    B = Phi.T @ Phi
    return B, B + symmetric_noise(len(B), sigma, rng), features(grid(cells, D), Z, length), n


def nearest_by_nnls(B_hat, atoms, n, heavy=1e4):
    """The same problem as a dense non-negative least squares, the sum as one very heavy row."""
    i, j = np.triu_indices(len(B_hat))
    weight = np.where(i == j, 1.0, np.sqrt(2))
    M = (atoms[:, i] * atoms[:, j] * weight).T
    row = heavy * np.ones(len(atoms))
    p, _ = nnls(np.vstack([M, row]), np.append(B_hat[i, j] * weight, heavy * n), maxiter=10**5)
    p *= n / p.sum()
    return (atoms.T * p) @ atoms


@pytest.mark.parametrize("sigma", [1.0, 10.0, 60.0])
@pytest.mark.parametrize(("D", "points", "length", "cells"), [(1, 15, 0.15, 161), (2, 4, 0.5, 15)])
def test_nearest_matrix_matches_dense_nnls(D, points, length, cells, sigma):
    _, B_hat, atoms, n = case(D, points, length, cells, sigma=sigma)
    ours = pull_back(B_hat, atoms, n, sigma, strength=0.0)
    reference = np.sum((nearest_by_nnls(B_hat, atoms, n) - B_hat) ** 2)
    assert np.sum((ours.B - B_hat) ** 2) <= reference * (1 + 1e-6)


@pytest.mark.parametrize("strength", [0.0, 3.0, None])
def test_result_is_feasible(strength):
    _, B_hat, atoms, n = case()
    result = pull_back(B_hat, atoms, n, 10.0, strength)
    assert (result.weights >= 0).all()
    assert result.weights.sum() == pytest.approx(n, rel=1e-12)
    np.testing.assert_allclose(result.B, (atoms.T * result.weights) @ atoms)
    assert np.linalg.eigvalsh(result.B).min() > -1e-9 * n


@pytest.mark.parametrize("strength", [1.0, 100.0])
def test_optimality_conditions_hold(strength):
    _, B_hat, atoms, n = case(sigma=30.0)
    p = pull_back(B_hat, atoms, n, 30.0, strength).weights
    ridge = strength * 30.0**2 * len(p) / n**2
    B = (atoms.T * p) @ atoms
    g = np.array([phi @ (B - B_hat) @ phi for phi in atoms]) + ridge * (p - n / len(p))
    scale = np.abs(g).max()
    assert np.ptp(g[p > 1e-6 * n]) < 1e-3 * scale
    assert (g[p == 0] > g[p > 1e-6 * n].min() - 1e-3 * scale).all()


def test_a_feasible_matrix_without_noise_is_returned():
    _, _, atoms, n = case(D=2, points=3, length=0.7, cells=9)
    p = np.zeros(len(atoms))
    p[[3, 20, 50]] = n / 3
    B = (atoms.T * p) @ atoms
    result = pull_back(B, atoms, n, 0.0)
    np.testing.assert_allclose(result.B, B, atol=1e-3 * np.abs(B).max())
    assert result.sigma_b < 1e-3 * np.abs(B).max()


def test_atoms_that_are_too_coarse_are_owned_up_to():
    B, B_hat, atoms, n = case(cells=13, sigma=0.1)
    result = pull_back(B_hat, atoms, n, 0.1)
    error = np.linalg.norm(result.B - B) / np.sqrt(len(B) * (len(B) + 1) / 2)
    assert error > 10 * 0.1
    assert result.sigma_b == pytest.approx(error, rel=0.2)


def test_evidence_beats_or_meets_the_nearest_matrix_and_knows_its_error():
    ratios, predicted = [], []
    for seed in range(10):
        B, B_hat, atoms, n = case(sigma=30.0, seed=seed)
        ours, nearest = pull_back(B_hat, atoms, n, 30.0), pull_back(B_hat, atoms, n, 30.0, 0.0)
        error = np.linalg.norm(ours.B - B)
        ratios.append(error / np.linalg.norm(nearest.B - B))
        predicted.append(error / (ours.sigma_b * np.sqrt(len(B) * (len(B) + 1) / 2)))
        assert error < 0.5 * np.linalg.norm(B_hat - B)
    assert np.mean(ratios) < 1.0
    assert 0.7 < np.mean(predicted) < 1.2


def test_is_deterministic():
    _, B_hat, atoms, n = case()
    first, second = (pull_back(B_hat, atoms, n, 10.0) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.floats(0.1, 1e4))
def test_simplex_projection(v, total):
    v = np.array(v)
    p = project_to_simplex(v, total)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(total, rel=1e-9, abs=1e-9)
    shift = (v - p)[p > 0]
    assert np.ptp(shift) < 1e-8 * (1 + np.abs(v).max() + total)
    assert (v[p == 0] <= shift.min() + 1e-8 * (1 + np.abs(v).max() + total)).all()


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**31))
def test_positive_part_is_the_nearest_positive_matrix(d, seed):
    B = symmetric_noise(d, 1.0, np.random.default_rng(seed))
    P = positive_part(B)
    assert np.linalg.eigvalsh(P).min() > -1e-12
    # B - P is negative and orthogonal to P: the optimality conditions
    assert np.linalg.eigvalsh(B - P).max() < 1e-12
    assert abs(np.sum((B - P) * P)) < 1e-10


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"B_hat": np.zeros((2, 3))}, "square"),
        ({"atoms": np.zeros((4, 3))}, "atoms"),
        ({"n": 0.0}, "n"),
        ({"sigma_b": -1.0}, "sigma_b"),
        ({"strength": -1.0}, "strength"),
    ],
)
def test_bad_input(change, word):
    good = {"B_hat": np.eye(2), "atoms": np.eye(2), "n": 2.0, "sigma_b": 1.0, "strength": 1.0}
    with pytest.raises(ValueError, match=word):
        pull_back(**(good | change))


@pytest.mark.slow
def test_scales_to_400_features():
    B, B_hat, atoms, n = case(D=2, points=20, length=0.12, cells=45, sigma=30.0)
    result = pull_back(B_hat, atoms, n, 30.0)
    assert np.linalg.norm(result.B - B) < 0.05 * np.linalg.norm(B_hat - B)
