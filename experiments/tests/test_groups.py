"""Coverage by group: what a table has, who is in which group, and what is summarised."""

import numpy as np
import pytest

from dpgp_experiments.groups import (
    FREQUENCIES,
    ROWS,
    TEST_ROWS,
    GroupScores,
    groups_of,
    simulated,
    summary,
)


@pytest.mark.parametrize(("spread", "ratio"), [("even", 1.0), ("by input", 4.0), ("by level", 1.0)])
def test_a_spread_by_input_grows_fourfold(spread, ratio):
    table = simulated(4, spread, skewed=False, rng=np.random.default_rng(0))
    assert table.X.shape == (ROWS + TEST_ROWS, 4)
    residuals, x = np.abs(table.y - table.f), table.X[:, 0]
    found = np.median(residuals[x > 0.9]) / np.median(residuals[x < -0.9])
    assert found == pytest.approx(ratio**0.95, rel=0.2)


def test_groups_are_levels_and_octiles():
    table = simulated(4, "by level", skewed=True, rng=np.random.default_rng(0))
    X = table.X[ROWS:]
    groups = groups_of(table, X)
    assert len(groups) == 2 * 8 + len(FREQUENCIES[0]) + len(FREQUENCIES[1])
    assert np.sum(groups[:8], axis=0).tolist() == [1] * TEST_ROWS
    assert np.mean(groups[16]) == pytest.approx(FREQUENCIES[0][0], abs=0.03)
    assert not any(group.sum() < 100 for group in groups_of(table, X[:900]))


def test_a_summary_is_of_means_over_repeats():
    groups = np.array([[0.9, 0.95, 0.99], [0.5, 0.5, 0.6]])
    found = [GroupScores(groups + shift, np.zeros(2), 1.0, 1.0) for shift in (-0.01, 0.01)]
    worst = summary(found, 0)
    assert (worst.low, worst.high) == pytest.approx((0.9, 0.99))
    assert worst.error == pytest.approx(0.01)
    assert worst.share == pytest.approx(1 / 3)
    assert summary(found, 1).share == pytest.approx(2 / 3)
