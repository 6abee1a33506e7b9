import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from dpgp.inference.few.gram_estimate import density_estimate
from dpgp.inference.pull_back import (
    SimplexQuadratic,
    minimise,
    positive_part,
    project_to_simplex,
)


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


def pull_back(B_hat, atoms, n, ridge=0.0):
    """The weights of the nearest feasible matrix, with a ridge towards equal weights."""
    G = len(atoms)
    Q = (atoms @ atoms.T) ** 2 + ridge * np.eye(G)
    linear = np.einsum("gi,gi->g", atoms @ B_hat, atoms) + ridge * n / G
    return minimise(SimplexQuadratic(Q, linear, n), 0.5 * np.sum(B_hat**2), np.full(G, n / G))


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
    p = pull_back(B_hat, atoms, n)
    reference = np.sum((nearest_by_nnls(B_hat, atoms, n) - B_hat) ** 2)
    assert np.sum(((atoms.T * p) @ atoms - B_hat) ** 2) <= reference * (1 + 1e-6)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_result_is_feasible(ridge):
    _, B_hat, atoms, n = case()
    p = pull_back(B_hat, atoms, n, ridge)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(n, rel=1e-12)


@pytest.mark.parametrize("ridge", [0.02, 2.0])
def test_optimality_conditions_hold(ridge):
    _, B_hat, atoms, n = case(sigma=30.0)
    p = pull_back(B_hat, atoms, n, ridge)
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
    found = pull_back(B, atoms, n)
    np.testing.assert_allclose((atoms.T * found) @ atoms, B, atol=1e-3 * np.abs(B).max())


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


@pytest.mark.slow
def test_scales_to_400_features():
    B, B_hat, atoms, n = case(D=2, points=20, length=0.12, cells=45, sigma=30.0)
    estimate = density_estimate(B_hat, 30.0, atoms, grid(45, 2), n)
    assert np.linalg.norm(estimate.B - B) < 0.05 * np.linalg.norm(B_hat - B)
