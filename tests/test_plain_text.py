"""One rule for names: refused wherever they come from, before anything is booked."""

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp import PrivateGPRegressor
from dpgp.domain import Box
from dpgp.numeric import check_column_names
from dpgp.paper import dp_gp_inference
from dpgp.plain_text import LONGEST_NAME, is_name, is_plain, made_plain
from dpgp.privacy.books import GaussianBooks
from dpgp.study.columns import checked_column
from dpgp.study.errors import UsageError

BAD = {
    "line break": "a\nb",
    "carriage return": "a\rb",
    "tab": "a\tb",
    "escape": "\x1b[2J",
    "delete": "a\x7f",
    "C1 control": "a\x9bb",
    "line separator": "a\u2028b",
    "right to left": "a\u202eb",
    "isolate": "\u2066a",
    "half a character": "a\ud800",
    "too long": "x" * (LONGEST_NAME + 1),
}
GOOD = [
    "",
    "age",
    "größe [cm]",
    "体重",
    "سن\u200cفرد",
    "[/nothing]",
    "a:b",
    "👩\u200d🔬",
    "x" * LONGEST_NAME,
]
X = np.random.default_rng(0).uniform(0, 1, (60, 2))


@pytest.fixture(params=BAD, ids=list(BAD))
def bad(request):
    return BAD[request.param]


@pytest.fixture
def booked(monkeypatch):
    releases = []
    monkeypatch.setattr(GaussianBooks, "reserve", lambda _, release: releases.append(release))
    return releases


def test_the_rule(bad):
    assert not is_name(bad)
    assert is_plain(made_plain(bad))
    for name in GOOD:
        assert is_name(name)
        assert made_plain(name) == name


def frame_of(bad):
    return pd.DataFrame(X, columns=pd.Index(["a", bad], dtype=object))


def test_data_frames_are_refused_before_anything_is_booked(bad, booked):
    gp = PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1))
    with pytest.raises(ValueError, match="every column name must have") as caught:
        gp.fit(frame_of(bad), X[:, 0])
    assert bad not in str(caught.value)
    with pytest.raises(ValueError, match="every column name must have"):
        dp_gp_inference(
            frame_of(bad), X[:, 0], X[:3], RBF(),
            noise_std=0.1, target_bound=1.0, epsilon=1.0, delta=1e-6,
        )  # fmt: skip
    assert booked == []


def test_names_are_refused_wherever_they_come_from(bad):
    with pytest.raises(ValueError, match="every column name must have"):
        Box.from_bounds((0, 1), 2, ["a", bad])
    with pytest.raises(ValueError, match="every column name must have"):
        check_column_names(["a", bad])
    with pytest.raises(UsageError, match="a column's name must have"):
        checked_column(f"a{bad}b", 0, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"features": {"linear"}},
        {"kernel": type("Own", (RBF,), {})(0.5)},
        {"inducing_points": X.repeat(100, axis=0)},
        {"inducing_points": 1800, "features": "joint"},
        {"stages": [1.0] * 10_001},
        {"max_rows_per_unit": 10**10},
    ],
    ids=lambda options: str(options)[:40],
)
def test_what_could_not_be_saved_is_not_fitted(options, booked):
    gp = PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1), kernel=None).set_params(**options)
    with pytest.raises(ValueError):  # noqa: PT011 - of many kinds
        gp.fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 0])
    assert booked == []


def test_names_that_are_unusual_but_plain_can_be_saved(tmp_path):
    frame = pd.DataFrame(X, columns=[GOOD[2], GOOD[-1]])
    gp = PrivateGPRegressor(
        bounds=(0, 1), target_bounds=(0, 1), stages=1, features="linear", random_state=0
    )
    gp.fit(frame, X[:, 0]).save(tmp_path / "model.json")
