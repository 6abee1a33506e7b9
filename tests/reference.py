"""The formulas of Honkela & Melkas (2021) as naive loops, independent of the package."""

import math

import numpy as np


def moments(k_rows, y):
    """A = Σ k_i y_i and B = Σ k_i k_iᵀ (eq. 3)."""
    d = len(k_rows[0])
    A, B = np.zeros(d), np.zeros((d, d))
    for k, target in zip(k_rows, y, strict=True):
        for a in range(d):
            A[a] += k[a] * target
            for b in range(d):
                B[a, b] += k[a] * k[b]
    return A, B


def regularisation(d, sigma_b, sigma, rho):
    """λ (eq. 13)."""
    return sigma_b * sigma**-2 * math.sqrt(d * math.log(2 * d**2 / rho)) * (d + 1) / (2 * d)


def sigma_tilde(K, B, sigma, lam):
    """Σ̃ (eq. 12)."""
    return np.linalg.inv(K + B / sigma**2 + lam * np.eye(len(K)))


def noise_of_A(K, S, sigma_a, sigma):
    """S₂,₁ (eq. 14)."""
    return sigma_a**2 * sigma**-4 * K @ S @ S @ K


def noise_of_B(K, S, A, sigma_b, sigma):
    """S₂,₂, the double sum as printed (eq. 17)."""
    d = len(K)
    outer = S @ np.outer(A, A) @ S
    total = np.zeros((d, d))
    for i in range(d):
        for j in range(i, d):
            E_ij, E_ji = np.zeros((d, d)), np.zeros((d, d))
            E_ij[i, j] = E_ji[j, i] = 1.0
            if i == j:
                total += sigma**-8 * sigma_b**2 * K @ S @ E_ij @ outer @ E_ij @ S @ K
            else:
                scale = sigma**-8 * sigma_b**2 / 2
                total += scale * K @ S @ E_ij @ outer @ E_ji @ S @ K
                total += scale * K @ S @ E_ji @ outer @ E_ij @ S @ K
    return total


def predictive(K_vv, K_vz, K_zz, m, S):
    """Mean and covariance at new points (eq. 20)."""
    inverse = np.linalg.inv(K_zz)
    return K_vz @ inverse @ m, K_vv - K_vz @ inverse @ (K_zz - S) @ inverse @ K_vz.T
