import numpy as np
import pytest

from dpgp.blas import symmetric_root


def covariance():
    A = np.random.default_rng(0).standard_normal((5, 3))
    return A @ A.T  # of rank 3


def test_it_is_a_root_of_a_singular_covariance():
    root = symmetric_root(covariance())
    assert root @ root == pytest.approx(covariance(), abs=1e-12)
    assert root == pytest.approx(root.T)


def test_signs_of_eigenvectors_do_not_matter(monkeypatch):
    eigh, expected = np.linalg.eigh, symmetric_root(covariance())

    def flipped(S):
        eigenvalues, Q = eigh(S)
        return eigenvalues, Q * np.array([1, -1, 1, -1, -1])

    monkeypatch.setattr(np.linalg, "eigh", flipped)
    assert symmetric_root(covariance()) == pytest.approx(expected, abs=1e-12)
