"""Places of records are moved to where the histograms of all releases together say rows are."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp import PrivateGPRegressor, pool
from dpgp.pooling.places import moved_together

pytestmark = pytest.mark.filterwarnings("ignore")


def release(seed, middle=0.0, epsilon=1.0, n=800):
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(middle, 1.0, (n, 3)), -6, 6)
    y = np.clip(X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.5 * rng.standard_normal(n), -8, 8)
    gp = PrivateGPRegressor(
        epsilon, 1e-5, bounds=[(-6, 6)] * 3, target_bounds=(-8, 8), random_state=seed, stages=2
    )
    return gp.fit(X, y).model_


@pytest.fixture(scope="module")
def weak():
    return [release(seed) for seed in range(4)]


def spreads(models):
    return np.array([m.inputs.invert(m.recorded.places).std(axis=0) for m in models])


def test_places_that_noise_spread_are_drawn_together(weak):
    before, after = (np.abs(np.log(spreads(m))).mean() for m in (weak, moved_together(weak)))
    assert before > 0.15  # inputs have an sd of one
    assert after < 0.9 * before  # 0.74


def test_a_release_of_other_people_keeps_its_own_places(weak):
    # at so large an ε that noise in its histograms is small beside what is different
    other = release(9, middle=3.0, epsilon=8.0)
    *_, moved = moved_together([*weak, other])
    middles = [m.inputs.invert(m.recorded.places).mean(axis=0) for m in (other, moved)]
    np.testing.assert_allclose(middles[1], middles[0], atol=0.15)
    np.testing.assert_allclose(middles[1], 3.0, atol=0.2)


def test_all_that_is_known_at_places_moves_with_them(weak):
    (moved, *_) = moved_together(weak)
    places = {tuple(place): k for k, place in enumerate(weak[0].recorded.places.tolist())}
    chosen = [places[tuple(place)] for place in moved.recorded.places.tolist()]
    assert len(set(chosen)) < len(chosen)
    for stage, own in zip(moved.recorded.stages, weak[0].recorded.stages, strict=True):
        for told, before in zip(stage.targets, own.targets, strict=True):
            np.testing.assert_array_equal(told.centre, before.centre[chosen])
    (guard,), (before,) = moved.recorded.guards, weak[0].recorded.guards
    np.testing.assert_array_equal(guard.centre, before.centre[chosen])


def test_models_without_histograms_stay_where_they_are(weak):
    bare = replace(weak[0], findings={})
    first, second, _ = moved_together([bare, *weak[1:3]])
    assert first is bare
    assert second is not weak[1]
    assert moved_together([bare, weak[1]]) == [bare, weak[1]]
    assert pool([bare, weak[1]], different_curves=True).members[0] is bare
