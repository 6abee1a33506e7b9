"""The price and the layout of the function of the scale, from public numbers."""

import numpy as np
import pytest

from dpgp.planning.scale_design import (
    LARGEST_SHARE,
    SMALLEST_SHARE,
    SUM_ERROR,
    forecast_error,
    scale_layout,
    scale_share,
)

LAYOUTS = [((0,), True), ((0, 0), True), ((0, 0, 0), True), ((5,), False), ((0, 5, 1, 0), False)]


def rows_of(layout, count=500):
    """Numbers anywhere in their box, and levels at random."""
    rng, columns = np.random.default_rng(0), []
    for indicators in layout.indicators:
        level = rng.integers(max(indicators, 2), size=count)
        hot = 2.0 * (level[:, None] == np.arange(indicators)) - 1.0
        columns.append(hot if indicators else rng.uniform(-1, 1, (count, 1)))
    return np.hstack(columns)


@pytest.mark.parametrize(("indicators", "on_grid"), LAYOUTS)
def test_sweeps_share_a_norm_of_one_among_parts(indicators, on_grid):
    layout = scale_layout(indicators, on_grid)
    U, first = rows_of(layout), 1 - np.eye(len(layout.parts) - 1)[0] * 0.9
    for variances in (None, first):
        asked = layout.asked(variances)
        squares = np.sum((asked.P.T @ layout.features.evaluate(U)) ** 2, axis=0)
        # what is asked has this norm by itself, so that hardly a row is shrunk
        assert (squares > 0.3).all()
        assert (squares < 1.01).all()
        assert (np.sum(asked.evaluate(U) ** 2, axis=0) <= 1).all()


@pytest.mark.parametrize(("indicators", "on_grid"), LAYOUTS)
def test_functions_of_a_part_depend_on_its_input_alone(indicators, on_grid):
    layout = scale_layout(indicators, on_grid)
    U = rows_of(layout)
    moved = U.copy()
    first = max(indicators[0], 1)
    moved[:, :first] = np.roll(U[:, :first], 1, axis=0)
    values, others = (
        [part.T @ layout.features.evaluate(V) for part in layout.parts] for V in (U, moved)
    )
    changes = [np.abs(a - b).max() for a, b in zip(values, others, strict=True)]
    depends = [False, True, *[layout.on_grid] * (len(changes) - 2)]
    if layout.columns == 2 and on_grid:
        depends[2] = False
    assert [change > 0.1 for change in changes] == depends


def test_a_level_has_a_function_of_its_own():
    layout = scale_layout((0, 5), False)
    U = rows_of(layout)
    found = layout.parts[2].T @ layout.features.evaluate(U)
    np.testing.assert_allclose(found, (U[:, 1:].T + 1) / 2, atol=0.02)


@pytest.mark.parametrize("indicators", [(0,), (0, 0), (0, 0, 0, 5, 1)])
def test_the_forecast_falls_with_rows_and_with_less_noise(indicators):
    layout = scale_layout(indicators, True)
    errors = [
        forecast_error(layout, n, noise) for n, noise in [(500, 50.0), (5000, 50.0), (5000, 10.0)]
    ]
    assert 1.0 > errors[0] > errors[1] > errors[2] > 0.0


def test_a_grid_is_for_two_numbers_and_two_sweeps_for_several_inputs():
    assert scale_layout((0, 0), True).on_grid
    assert not scale_layout((0, 0, 0), True).on_grid
    assert scale_layout((0,) * 4, True).features.dimension == 17
    assert [scale_layout(kinds, False).sweeps for kinds in [(0,), (5,), (0, 1)]] == [1, 1, 2]


def test_the_share_pays_for_a_noise_of_so_many_rows_within_limits():
    share = scale_share(2600, 6.5)
    assert 6.5 / np.sqrt(share) == pytest.approx(SUM_ERROR * 2600)
    assert 6.5 / np.sqrt(scale_share(3900, 6.5, sweeps=2) / 2) == pytest.approx(SUM_ERROR * 3900)
    assert scale_share(100, 100.0) == LARGEST_SHARE
    assert scale_share(10**6, 1.0) == SMALLEST_SHARE
