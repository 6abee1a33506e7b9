"""Weights that go with the outcome: whether averages and shares are unbiased and intervals hold.

    python benchmarks/weighted_coverage.py [fits] [case ...]

Rows of weight u^a, u uniform, so that the largest weight is 1 + a times the average one. An outcome
rises with u, so that a sample without its weights is off. Shares are of an outcome that is yes with
the probability u/2 + 1/4, and rates are deaths over person-years. One input, ε = 1, 4,000 rows, or
as many as weigh 400 whole ones together.
"""

import sys
import warnings

import numpy as np

import dpgp
from dpgp.privacy.noise import SeededNoiseWarning

EPSILON, DELTA = 1.0, 1e-6
ROWS, WHOLE = 4000, 400
RATIOS = (2, 10, 50)
"""Largest over average weight."""

LEAST_YEARS = 0.25
CASES = (*(f"average {ratio}" for ratio in RATIOS), *(f"share {ratio}" for ratio in RATIOS), "rate")


def drawn(case, rng):
    """Return inputs, outcomes, weights, the largest of these and the truth of the population."""
    if case == "rate":
        return deaths(rng.uniform(-1.0, 1.0, ROWS), rng)
    kind, ratio = case.split()
    n = max(ROWS, WHOLE * int(ratio))
    x, u, a = rng.uniform(-1.0, 1.0, n), rng.uniform(size=n), int(ratio) - 1
    of_population = (1 + a) / (2 + a)  # E[u^a u]/E[u^a]
    if kind == "share":
        return x, (rng.uniform(size=n) < u / 2 + 0.25).astype(int), u**a, of_population / 2 + 0.25
    y = 2.0 + x + 2.0 * u + 0.5 * rng.standard_normal(n)
    return x, y, u**a, 2.0 + 2.0 * of_population


def deaths(x, rng):
    """Return deaths per person-year of at most a year, and the rate of all years."""
    rate = np.exp(-2.0 + x)
    until, stays = rng.exponential(1 / rate), rng.uniform(LEAST_YEARS, 1.0, ROWS)
    died, years = until < stays, np.maximum(np.minimum(until, stays), LEAST_YEARS)
    many = np.random.default_rng(1)  # the truth of such people, by a large sample
    X = many.uniform(-1.0, 1.0, 2_000_000)
    ends = many.exponential(np.exp(2.0 - X))
    until_then = many.uniform(LEAST_YEARS, 1.0, len(X))
    lived = np.maximum(np.minimum(ends, until_then), LEAST_YEARS)
    return x, died / years, years, float((ends < until_then).sum() / lived.sum())


def fitted(case, x, y, weights, seed):
    options = {"bounds": (-1, 1), "weight_bound": 1.0, "random_state": seed, "n_jobs": 1}
    if case.startswith("share"):
        gp = dpgp.PrivateGPClassifier(EPSILON, DELTA, classes=(0, 1), **options)
    else:
        bounds = (0, 4) if case == "rate" else (0, 8)
        gp = dpgp.PrivateGPRegressor(EPSILON, DELTA, target_bounds=bounds, **options)
    return gp.fit(x[:, None], y, sample_weight=weights)


def main(fits, cases):
    warnings.simplefilter("ignore", SeededNoiseWarning)
    print("case          truth  off by        ±  stated sd  spread  in 95 %  effective rows")
    for case in cases:
        found = []
        for seed in range(fits):
            x, y, weights, truth = drawn(case, np.random.default_rng(1000 + seed))
            gp = fitted(case, x, y, weights, seed)
            told = gp.average()
            low, mean, high = (float(v[0]) for v in (told.lower, told.mean, told.upper))
            rows = gp.model_.weights.effective_rows
            found.append((mean - truth, float(told.std[0]), low <= truth <= high, rows))
        off, stated, inside, rows = np.array(found).T
        error = off.std(ddof=1) / np.sqrt(fits)
        print(
            f"{case:12s} {truth:6.3f} {off.mean():+7.4f} {error:8.4f} "
            f"{stated.mean():10.4f} {off.std(ddof=1):7.4f} {inside.mean():8.2f} "
            f"{rows.mean():15,.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, sys.argv[2:] or CASES)
