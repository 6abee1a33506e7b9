"""What no file could hold is refused before a fit, and nothing else is."""

import json

import numpy as np
import pytest

import dpgp
from dpgp import Ledger, PrivateGPRegressor
from dpgp.checked_values import MOST_NUMBERS, ModelFileError
from dpgp.domain import Box
from dpgp.inference.many.plan import FEWEST_POINTS, MOST_POINTS
from dpgp.options import Options
from dpgp.planning import file_room
from dpgp.planning.file_room import check_savable, has_room_for_scale, most_points, numbers
from dpgp.planning.scale_design import scale_layout
from dpgp.privacy.books import Books

pytestmark = pytest.mark.filterwarnings("ignore::dpgp.privacy.noise.SeededNoiseWarning")

MOST_INPUTS = 1135


def asked(inputs, targets=1, **wishes):
    return Options.parse(
        box=Box.from_bounds((0, 1), inputs),
        target_box=Box.from_bounds([(0, 1)] * targets, targets, argument="target_bounds"),
        **wishes,
    )


@pytest.mark.parametrize(
    ("inputs", "targets"), [(4, 1), (217, 1), (300, 1), (MOST_INPUTS, 1), (300, 20), (5, 250)]
)
def test_many_inputs_and_targets_have_room(inputs, targets):
    check_savable(asked(inputs, targets))


@pytest.mark.parametrize(
    ("inputs", "targets"), [(MOST_INPUTS + 1, 1), (4096, 1), (300, 40), (4, 300), (4, 1000)]
)
def test_too_many_of_them_are_refused_with_the_remedy(inputs, targets):
    words = f"{inputs} inputs and {targets} targets .* leave inputs out of `bounds` .* targets at a"
    with pytest.raises(ModelFileError, match=words):
        check_savable(asked(inputs, targets))


def test_more_than_any_file_holds_is_refused():
    with pytest.raises(ModelFileError, match="at most 4096 inputs"):
        check_savable(asked(4097))


def test_features_of_the_users_own_are_counted_as_they_are():
    check_savable(asked(217, features="linear"))
    with pytest.raises(ModelFileError, match="fewer `inducing_points` or `stages`"):
        check_savable(asked(900, features="additive"))


def test_a_refused_fit_spends_nothing(tmp_path, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(Books, "reserve", never)
    ledger = Ledger(tmp_path / "s.ledger", epsilon=3.0, delta=1e-5)
    X = np.zeros((MOST_INPUTS + 10, MOST_INPUTS + 1))
    gp = PrivateGPRegressor(1, 1e-6, bounds=(0, 1), target_bounds=(0, 1), ledger=ledger)
    with pytest.raises(ValueError, match="too large for a file"):
        gp.fit(X, X[:, 0])
    assert ledger.spent_epsilon == 0.0


def test_room_is_shared_by_points_scale_and_targets():
    assert most_points(5, 1) == MOST_POINTS
    assert FEWEST_POINTS <= most_points(5, 100) < MOST_POINTS
    assert has_room_for_scale(595, 1)
    assert not has_room_for_scale(600, 1)
    for inputs, targets in ((5, 1), (5, 100), (100, 20), (595, 1), (MOST_INPUTS, 1)):
        points, scale = most_points(inputs, targets), has_room_for_scale(inputs, targets)
        assert points >= FEWEST_POINTS
        assert numbers(inputs, targets, points, with_scale=scale) <= 0.75 * MOST_NUMBERS
    assert scale_layout((0, 5, 1), False).features.dimension == file_room._scale_points(7)


def values(part):
    """How many values a part of a document has."""
    if isinstance(part, dict | list):
        return sum(map(values, part.values() if isinstance(part, dict) else part))
    return 1


@pytest.mark.parametrize(("rows", "targets"), [(300, 2), (4000, 1)], ids=["no scale", "a scale"])
def test_matrices_in_a_file_are_as_large_as_they_are_counted(rows, targets, tmp_path):
    X = np.random.default_rng(0).uniform(0, 1, (rows, 5))
    gp = PrivateGPRegressor(
        3, 1e-5, bounds=(0, 1), target_bounds=[(0, 1)] * targets, random_state=0
    ).fit(X, X[:, :targets])
    gp.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    points, scale = len(document["features"]["anchors"]), document["scale_features"] is not None
    assert scale == (rows == 4000)
    counted = numbers(5, targets, points, with_scale=scale)
    parts = (document[name] for name in ("features", "scale_features", "models", "input_density"))
    others = 1500 * targets + 1500  # laws of residuals, weights, hyperparameters, numbers of rows
    assert counted <= sum(map(values, parts)) <= counted + others


def test_a_fit_takes_no_more_points_than_there_is_room_for(tmp_path, monkeypatch):
    monkeypatch.setattr(file_room, "MOST_NUMBERS", 45_000)
    room = most_points(5, 1)
    assert FEWEST_POINTS <= room < 320
    X = np.random.default_rng(0).uniform(0, 1, (4000, 5))
    gp = PrivateGPRegressor(3, 1e-5, bounds=(0, 1), target_bounds=(0, 1), random_state=0)
    assert len(gp.fit(X, X[:, 0]).posterior_.features.anchors) == room


@pytest.mark.slow
def test_a_model_of_217_inputs_is_fitted_saved_and_loaded(tmp_path):
    X = np.random.default_rng(0).uniform(0, 1, (600, 217))
    gp = PrivateGPRegressor(3, 1e-5, bounds=(0, 1), target_bounds=(0, 1), random_state=0)
    gp.fit(X, X[:, 0]).save(tmp_path / "model.json")
    same = dpgp.load(tmp_path / "model.json")
    np.testing.assert_array_equal(same.predict(X[:5]), gp.predict(X[:5]))
