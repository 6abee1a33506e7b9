import numpy as np

from dpgp_experiments import REGISTRY, weights
from dpgp_experiments.outcome import Assignment


def test_weights_describe_the_population():
    X, y, told = weights.sample(1, np.random.default_rng(0))
    assert len(X) == len(y) == len(told) == weights.ROWS
    truth = 2.0 + 2.0 * 0.2
    assert abs(np.average(y, weights=told) - truth) < 0.1 < abs(y.mean() - truth)


def test_one_part_is_one_number_of_inputs():
    found = REGISTRY["weights"].load()(Assignment(2, 0, iter, part="1"))
    assert [(row["weights"], row["inputs"]) for row in found.records] == [("none", 1), ("told", 1)]
    none, told = (row["gap"] for row in found.records)
    assert abs(told) < abs(none) / 3
