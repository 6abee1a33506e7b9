"""Intervals of rare classes: how often 95 % of them hold true probabilities, as they were and are.

    python benchmarks/rare_intervals.py [seeds]

Simulated classes of one and two inputs, ε = 1, δ = 1e-6, one of them with a share of a few per
cent. ``shifted``: the ends of N(m, s²) given [0, 1], with the shift that makes averages right, as
they were. ``now``: at least as far as the ends of N(m, s²) itself.
"""

import sys
import warnings

import numpy as np
from scipy.special import softmax

import dpgp
from dpgp.outcomes.chances import chance_interval, shifted

COVERAGE, NEW, RARE = 0.95, 400, 0.05
CASES = {
    "flat": (1, 3000, lambda X: [3.0, 0.8 * X[0] + 2, 0.0]),
    "steep": (1, 3000, lambda X: [2.5, 1.5 * X[0] + 2, 3.0 * X[0] - 1.5]),
    "five": (1, 6000, lambda X: [2, X[0] + 2, -X[0] + 2, 0.5 * X[0] + 1, 1.5 * X[0] - 1.2]),
    "wave": (2, 4000, lambda X: [3.0, X[1] + 2.0, 1.5 * np.sin(3 * X[0]) - 0.5]),
}


def chances(case, X):
    """Return the true probabilities of all classes, a row each."""
    _, _, odds = CASES[case]
    return softmax(np.array([np.broadcast_to(each, len(X)) for each in odds(X.T)]).T, axis=1)


def compared(case, seed):
    """Yield of every class its share, and how much each rule holds, and how wide it is."""
    inputs, rows, _ = CASES[case]
    rng = np.random.default_rng([seed, inputs, rows])
    X, new = (rng.uniform(-1, 1, (count, inputs)) for count in (rows, NEW))
    P, truth = chances(case, X), chances(case, new)
    y = (rng.random((rows, 1)) > P.cumsum(axis=1)).sum(axis=1)
    classes, bounds = tuple(range(P.shape[1])), [(-1, 1)] * inputs
    clf = dpgp.PrivateGPClassifier(1.0, 1e-6, bounds=bounds, classes=classes, random_state=seed)
    model, p = clf.fit(X, y).model_, clf.predict_proba(new)
    ends = clf.predict_proba_interval(new, COVERAGE)
    for k in classes:
        mean, std = model.belief(k, model.unit_inputs(new), latent=True)
        before = [shifted(end, model.odds(k).shift) for end in chance_interval(mean, std, COVERAGE)]
        before = np.minimum(before[0], p[:, k]), np.maximum(before[1], p[:, k])
        rules = (before, (ends[0][:, k], ends[1][:, k]))
        held = [np.mean((low <= truth[:, k]) & (truth[:, k] <= high)) for low, high in rules]
        yield truth[:, k].mean(), *held, *(np.mean(high - low) for low, high in rules)


def main(seeds):
    warnings.simplefilter("ignore")
    found = np.array(
        [each for case in CASES for seed in range(seeds) for each in compared(case, seed)]
    )
    print("classes   fits  rule     held           fits below 0.9   width")
    for name, own in (("rare", found[:, 0] < RARE), ("others", found[:, 0] >= RARE)):
        for number, rule in enumerate(("shifted", "now"), start=1):
            held, width = found[own, number], found[own, number + 2]
            error = held.std(ddof=1) / np.sqrt(len(held))
            few = int((held < 0.9).sum())
            print(
                f"{name:8} {len(held):5d}  {rule:8} {held.mean():.3f} ± {error:.3f}"
                f" {few:12d}     {width.mean():8.4f}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
