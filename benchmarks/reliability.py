"""AUC and reliability as a fit tells them, beside rows it never saw, and what the counts cost.

    python benchmarks/reliability.py [seeds] [few]

Simulated tables of yes and no, δ = 1e-6: logistic curves of one to ten inputs, one outcome rare.
Every table is fitted with the counts of labels and, by the same seed, without. ``few`` takes tables
of few rows at larger ε, whose own labels a fit has learned most of.
"""

import sys
import warnings
from unittest.mock import patch

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

import dpgp
import dpgp.steps as steps
from dpgp.privacy.noise import SeededNoiseWarning

CASES = (
    (1, 3000, 0.0, 1.0),
    (1, 10000, 0.0, 1.0),
    (2, 3000, 0.0, 1.0),
    (2, 10000, -2.5, 1.0),
    (5, 3000, 0.0, 1.0),
    (5, 10000, 0.0, 1.0),
)
FEW = ((2, 1000, 0.0, 3.0), (10, 1000, 0.0, 10.0), (5, 1000, 0.0, 3.0), (10, 3000, 0.0, 3.0))
"""Inputs, rows, log odds at the middle, and ε."""

NEW = 20_000  # rows that tell what is true
HEAD = (
    "inputs   rows  share of yes  AUC told − new        ±  in 95 %  width  bins in 95 %  log loss"
)


def table(inputs, rows, level, rng):
    X = rng.uniform(-1.0, 1.0, (rows, inputs))
    odds = level + 3.0 * X[:, 0] + np.sin(3.0 * X[:, -1])
    return X, (rng.random(rows) < 1.0 / (1.0 + np.exp(-odds))).astype(int)


def fitted(epsilon, inputs, X, y, seed):
    gp = dpgp.PrivateGPClassifier(
        epsilon, 1e-6, bounds=[(-1, 1)] * inputs, classes=(0, 1), random_state=seed
    )
    return gp.fit(X, y)


def compared(inputs, rows, level, epsilon, seed):
    """Return AUC told − new, whether inside, width, bins inside, and both log losses."""
    rng = np.random.default_rng(1000 + seed)
    X, y = table(inputs, rows, level, rng)
    new, labels = table(inputs, NEW, level, rng)
    gp = fitted(epsilon, inputs, X, y, seed)
    p, told = gp.predict_proba(new)[:, 1], gp.reliability()
    kinds = tuple(kind for kind in steps.KINDS if kind is not steps.LabelsByPrediction)
    with patch.object(steps, "KINDS", kinds):
        without = fitted(epsilon, inputs, X, y, seed).predict_proba(new)[:, 1]
    auc, cuts = roc_auc_score(labels, p), (told.probability[1:] + told.probability[:-1]) / 2
    places = np.searchsorted(cuts, p)
    bins = [
        low <= labels[places == k].mean() <= high
        for k, (low, high) in enumerate(zip(told.lower, told.upper, strict=True))
        if np.any(places == k)
    ]
    inside = told.auc.low <= auc <= told.auc.high
    width = told.auc.high - told.auc.low
    losses = log_loss(labels, p), log_loss(labels, without)
    return labels.mean(), told.auc.value - auc, inside, width, np.mean(bins), *losses


def main(seeds, cases):
    warnings.simplefilter("ignore", SeededNoiseWarning)
    print(HEAD)
    for case in cases:
        found = np.array([compared(*case, seed) for seed in range(seeds)])
        yes, off, inside, width, bins, loss, _ = found.mean(axis=0)
        error = found[:, 1].std(ddof=1) / np.sqrt(seeds)
        ratio = found[:, 5] / found[:, 6] - 1.0
        cost = f"{ratio.mean():+.2%} ± {ratio.std(ddof=1) / np.sqrt(seeds):.2%}"
        print(
            f"{case[0]:6d} {case[1]:6d} {yes:13.3f} {off:+15.4f} {error:8.4f} {inside:8.2f} "
            f"{width:6.3f} {bins:13.2f}  {loss:.4f} ({cost})",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, FEW if "few" in sys.argv else CASES)
