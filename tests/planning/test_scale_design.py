"""The price and the layout of the function of the scale, from public numbers."""

import numpy as np
import pytest

from dpgp.planning.scale_design import (
    LARGEST_SHARE,
    SMALLEST_SHARE,
    SUM_ERROR,
    scale_layout,
    scale_share,
)


@pytest.mark.parametrize(("columns", "on_grid"), [(1, True), (2, True), (3, True), (6, False)])
def test_features_have_norm_at_most_one(columns, on_grid):
    features = scale_layout(columns, on_grid).features
    U = np.random.default_rng(0).uniform(-1, 1, (500, columns))
    assert (np.sum(features.evaluate(U) ** 2, axis=0) <= 1 + 1e-9).all()


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_the_forecast_falls_with_rows_and_with_less_noise(columns):
    layout = scale_layout(columns, True)
    errors = [layout.error(n, noise) for n, noise in [(500, 50.0), (5000, 50.0), (5000, 10.0)]]
    assert 1.0 > errors[0] > errors[1] > errors[2] > 0.0


def test_more_than_two_inputs_have_no_grid():
    assert scale_layout(2, True).on_grid
    assert not scale_layout(3, True).on_grid
    assert scale_layout(3, True).features.dimension == 17


def test_the_share_pays_for_a_noise_of_so_many_rows_within_limits():
    share = scale_share(2600, 6.5)
    assert 6.5 / np.sqrt(share) == pytest.approx(SUM_ERROR * 2600)
    assert scale_share(100, 100.0) == LARGEST_SHARE
    assert scale_share(10**6, 1.0) == SMALLEST_SHARE
