import math

import pytest

from dpgp.inference.many.plan import (
    POINTS_STEP,
    bins_of_target,
    buys_input_model,
    clip_kappa,
    early_stages,
    inducing_points,
    linear_share,
    target_share,
)


@pytest.mark.parametrize(
    ("signal", "points"), [(50, 208), (1600, 400), (10_000, 608), (14_400, 720), (math.inf, 800)]
)
def test_inducing_points_come_in_sixteens_and_grow_with_what_can_be_learned(signal, points):
    assert inducing_points(signal, 5) == points
    assert points % POINTS_STEP == 0


@pytest.mark.parametrize(("stages", "early"), [(2, 0), (4, 0), (5, 2), (8, 2), (11, 4)])
def test_a_third_of_the_stages_has_fewer_points_and_ends_with_a_new_metric(stages, early):
    assert early_stages(stages) == early
    assert early % 2 == 0


@pytest.mark.parametrize(("coordinates", "points"), [(1, 64), (2, 256), (3, 608)])
def test_few_inputs_need_few_inducing_points(coordinates, points):
    assert inducing_points(10_000.0, coordinates) == points
    assert inducing_points(50.0, coordinates) == min(points, 208)


def test_the_look_at_the_target_takes_three_to_six_hundredths():
    assert [target_share(s) for s in (50.0, 1e4)] == [0.06, 0.03]
    assert 0.03 < target_share(250.0) < 0.06


def test_targets_have_more_bins_the_less_noise_there_is():
    assert [bins_of_target(s) for s in (33.0, 536.0, 2e3, math.inf)] == [16, 32, 64, 64]


def test_without_an_input_model_the_line_has_more():
    assert not buys_input_model(90.0, 10)
    assert linear_share(90.0, 10) > linear_share(1e4, 10)


def test_stages_clip_at_one_sd_and_nothing_without_noise():
    assert clip_kappa(90.0) == clip_kappa(1e4) == 1.0
    assert math.isinf(clip_kappa(math.inf))
