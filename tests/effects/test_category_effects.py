"""Effects of categories: at their public levels, by their public names."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from dpgp import PrivateGPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::dpgp.privacy.noise.SeededNoiseWarning")

LEVELS = ["north", "south", "east"]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    n = 2000
    age, region = rng.uniform(0, 80, n), rng.integers(0, 3, n)
    X = np.empty((n, 2), dtype=object)
    X[:, 0], X[:, 1] = age, np.array(LEVELS)[region]
    y = 100 + 0.5 * age + 12 * (region == 1) + 3 * rng.normal(size=n)
    return PrivateGPRegressor(
        3.0,
        1e-5,
        bounds=[(0, 80), None],
        categories={1: LEVELS},
        target_bounds=(80, 180),
        random_state=0,
    ).fit(X, y)


def test_a_category_is_averaged_at_every_level(fitted):
    found = fitted.partial_dependence(1)
    columns = found.to_dict()
    assert next(iter(columns.values())) == LEVELS
    assert columns["mean"][1] - columns["mean"][0] == pytest.approx(12, abs=2)
    assert "south" in repr(found)


def test_levels_are_set_by_their_names(fitted):
    difference = fitted.average({1: "south"}, {1: "north"})
    assert difference.lower[0] < 12 < difference.upper[0]


def test_what_is_no_level_is_refused_and_not_repeated(fitted):
    with pytest.raises(ValueError, match="public levels \\(north, south, east\\)") as caught:
        fitted.average({1: "Atlantis"})
    assert "Atlantis" not in str(caught.value)


def test_a_category_has_no_slope(fitted):
    with pytest.raises(ValueError, match="is a category and has no slope"):
        fitted.slope(1)


def test_a_category_has_its_share_of_the_variance(fitted):
    shares = {row[0]: row for row in zip(*fitted.importance().to_dict().values(), strict=True)}
    assert len(shares) == 2


def test_the_report_draws_bars_for_levels(fitted, tmp_path):
    fitted.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "north" in page
    axes = np.ravel(fitted.plot())
    assert any("north" in label.get_text() for axis in axes for label in axis.get_xticklabels())
    plt.close("all")
