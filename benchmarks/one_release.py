"""Yes and no and classes released at once or in six stages: excess log loss, and its forecast.

    python benchmarks/one_release.py [inputs] [fits]

The same simulated rows and seeds both ways, δ = 1e-6. Excess log loss is the average divergence of
predicted probabilities from the true ones at new inputs.
"""

import sys
import warnings

import numpy as np

import dpgp
from dpgp.privacy.noise import SeededNoiseWarning

DELTA, NEW = 1e-6, 2000
SIX = (2.0, 2.0, 4.0, 6.0, 8.0, 12.0)  # shares of six stages of numbers
CASES = (
    (2, 1000, 1.0),
    (2, 3000, 1.0),
    (2, 10000, 1.0),
    (2, 10000, 10.0),
    (4, 1000, 1.0),
    (4, 3000, 1.0),
)
"""Classes, rows and ε."""


def probabilities(X, classes):
    x, z = X[:, 0], X[:, -1]
    a = 2.0 * np.sin(4.0 * x) + 1.5 * z
    if classes == 2:
        odds = [0.0 * a, a - 1.5]
    else:
        odds = [a * np.cos(k) + (1 - k) * 0.4 + np.sin(2.0 * z + k) for k in range(classes)]
    P = np.exp(np.column_stack(odds))
    return P / P.sum(axis=1, keepdims=True)


def excess(classes, n, epsilon, inputs, seed):
    """Return excess log loss and coverage of 95 % intervals, in six stages and at once."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, inputs))
    y = (rng.random((n, 1)) > probabilities(X, classes).cumsum(axis=1)).sum(axis=1)
    new = np.random.default_rng(99).uniform(-1.0, 1.0, (NEW, inputs))
    truth = probabilities(new, classes)
    asked = {"bounds": [(-1, 1)] * inputs, "classes": list(range(classes)), "n_jobs": 1}
    for stages in (SIX, None):
        gp = dpgp.PrivateGPClassifier(epsilon, DELTA, stages=stages, random_state=seed, **asked)
        found = gp.fit(X, y).predict_proba(new)
        low, high = gp.predict_proba_interval(new)
        inside = (
            (low <= truth[:, 1]) & (truth[:, 1] <= high)
            if classes == 2
            else ((low <= truth) & (truth <= high))
        )
        yield np.mean(np.sum(truth * np.log(truth / found), axis=1)), inside.mean()


def forecast(classes, n, epsilon, inputs):
    """Return the mean squared error at once over that in six stages."""
    asked = {"bounds": [(-1, 1)] * inputs, "classes": list(range(classes))}
    six, one = (
        dpgp.plan(n=n, epsilon=epsilon, delta=DELTA, stages=stages, **asked).forecast.rmse
        for stages in (SIX, None)
    )
    return (one / six) ** 2


def main(inputs, fits):
    warnings.simplefilter("ignore", SeededNoiseWarning)
    print("classes   rows    ε  in six  at once / in six       forecast  95 % intervals: six, once")
    for classes, n, epsilon in CASES:
        found = np.array([list(excess(classes, n, epsilon, inputs, k)) for k in range(fits)])
        six, one = found[:, :, 0].T
        ratio = one.mean() / six.mean()
        error = (one - ratio * six).std(ddof=1) / np.sqrt(fits) / six.mean()
        covered = 100.0 * found[:, :, 1].mean(axis=0)
        print(
            f"{classes:7d} {n:6d} {epsilon:4g} {six.mean():7.4f}  {ratio:7.2f} ± {error:.2f} "
            f"{forecast(classes, n, epsilon, inputs):14.2f} {covered[0]:17.0f}, {covered[1]:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3])) if len(sys.argv) > 2 else main(1, 10)
