"""What is proved about a new row's chance to miss an interval: docs/proofs/coverage.md.

Prints the bound for any private learner, and the one for linear Gaussian sums of fixed features,
beside what simulated sums do. Run: python benchmarks/coverage_bound.py
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from dpgp.privacy.books import mu_of_guarantee

MISS = 0.05
DELTA = 1e-5
TOTAL = np.sqrt(2.0 * np.pi)  # of Hermite's weights
SIMULATED = ((200, 49, 200), (2600, 49, 20))


def any_learner(miss, mu):
    """Φ(Φ⁻¹(α) + μ): attained by a learner that knows the sums without noise."""
    return norm.cdf(norm.ppf(miss) + mu)


def linear_learner(miss, leverages):
    """Power of the best test of that size between y and a fresh y', over all rows at once.

    The shift of a row is |y − y'|/s·√(h/(1 − h)), |y − y'|/s = √2|z|; the test takes the rows whose
    likelihood ratio is above one threshold.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    shifts = np.sqrt(2.0 * leverages / (1.0 - leverages))[:, None] * np.abs(nodes)

    def rate(log_ratio, sign):
        return float(np.mean(norm.cdf(-log_ratio / shifts + sign * shifts / 2) @ weights)) / TOTAL

    threshold = brentq(lambda log_ratio: rate(log_ratio, -1.0) - miss, -50.0, 50.0)
    return rate(threshold, 1.0)


def features(n, d):
    """Fixed features of rows along a line: bumps."""
    x, centres = np.linspace(-1.0, 1.0, n), np.linspace(-1.0, 1.0, d)
    return np.exp(-0.5 * ((x[:, None] - centres) / (2.0 / d)) ** 2)


def leverages_of(phi):
    """Return h_i, the diagonal of Φ(ΦᵀΦ)⁻¹Φᵀ."""
    Q, _ = np.linalg.qr(phi)
    return np.sum(Q**2, axis=1)


def simulate(phi, noise, repeats, seed=0):
    """Return how often training rows and fresh ones miss an interval that 5 % of the first miss."""
    random, found = np.random.default_rng(seed), []
    n, d = phi.shape
    gram = phi.T @ phi + noise**2 * np.eye(d)
    for _ in range(repeats):
        y, fresh = random.normal(size=(2, n))
        mean = phi @ np.linalg.solve(gram, phi.T @ y + noise * random.normal(size=d))
        half_width = np.quantile(np.abs(y - mean), 1.0 - MISS)
        found.append([np.mean(np.abs(z - mean) > half_width) for z in (y, fresh)])
    return np.mean(found, axis=0)


def main():
    print(f"A {MISS:.0%} miss of training rows becomes, for a new row, at most")
    for epsilon in (0.3, 1.0, 3.0):
        bound = any_learner(MISS, mu_of_guarantee(epsilon, DELTA))
        print(f"  any learner, epsilon {epsilon:g}, delta {DELTA:g}: {bound:.1%}")
    for n, d, repeats in SIMULATED:
        phi = features(n, d)
        bound = linear_learner(MISS, leverages_of(phi))
        _, fresh = simulate(phi, 0.0, repeats)
        print(f"  sums of {d} fixed features, {n} rows: {bound:.1%}; simulated {fresh:.1%}")


if __name__ == "__main__":
    main()
