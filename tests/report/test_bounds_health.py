"""Bounds that are wrong show in the histograms that were released."""

import json

import numpy as np
import pytest

from dpgp import PrivateGPClassifier, PrivateGPRegressor, load
from dpgp.checked_values import ModelFileError
from dpgp.report.bounds_health import (
    ReleasedShares,
    far_end,
    one_place,
    pile,
    target_at_bound,
    wrong_bounds,
)

RNG = np.random.default_rng(0)
ROWS = 4000
AGE = RNG.uniform(18, 90, ROWS)
KG = RNG.normal(75, 12, ROWS)
CODED = np.where(RNG.uniform(size=ROWS) < 0.15, -99.0, AGE)


def fitted(age, kg, others=0, **changes):
    X = np.column_stack([age, kg, *(RNG.uniform(0, 1, ROWS) for _ in range(others))])
    y = 100 + 0.5 * AGE + 5 * np.random.default_rng(1).standard_normal(ROWS)
    bounds = [(0, 110), (20, 250), *[(0, 1)] * others]
    asked = {"bounds": bounds, "target_bounds": (60, 220), "random_state": 0} | changes
    if others:  # the line comes before it, and what is told is known before both
        asked["stages"] = 1
    return PrivateGPRegressor(3.0, 1e-5, **asked).fit(X, y).model_


@pytest.mark.parametrize("others", [0, 2])
def test_right_bounds_raise_no_alarm(others):
    assert fitted(AGE, KG, others).health == ()


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize(
    ("age", "kg", "words"),
    [
        (AGE, 1000 * KG, ("input 2", "upper bound 250", "same unit")),
        (AGE / 100, KG, ("input 1", "lower bound 0", "same unit")),
        (AGE, 4 * KG, ("input 2", "upper bound 250", "same unit", "widen")),
        (CODED, KG, ("input 1", "lower bound 0", "−99", "`missing_codes`", "--missing-code")),
    ],
    ids=["grams", "centuries", "pounds", "codes"],
)
def test_wrong_units_and_codes_are_told_by_column(age, kg, words, others):
    (sentence,) = wrong_bounds(fitted(age, kg, others))
    assert all(word in sentence for word in words)


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize("wider", [100, 1000])
def test_bounds_of_a_target_that_are_far_too_wide(others, wider):
    found = fitted(AGE, KG, others, target_bounds=(0, 220 * wider)).health
    words = "within a hundredth of its bounds" if others else "next to one of its bounds"
    assert sum(words in sentence and "same unit" in sentence for sentence in found) == 1
    assert not any("two values" in sentence for sentence in found)


def test_a_classifier_is_told_of_its_inputs_too():
    X = np.column_stack([AGE, 1000 * KG])
    gp = PrivateGPClassifier(
        3.0, 1e-5, bounds=[(0, 110), (20, 250)], classes=(0, 1), random_state=0
    )
    assert any("input 2" in sentence for sentence in gp.fit(X, (AGE > 50).astype(int)).health_)


def test_a_file_keeps_what_was_found_and_earlier_files_are_not_judged(tmp_path):
    model = fitted(AGE, 1000 * KG)
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert load(tmp_path / "model.json").health == model.health
    found = document["findings"].pop("input histograms")
    (tmp_path / "earlier.json").write_text(json.dumps(document))
    assert list(wrong_bounds(load(tmp_path / "earlier.json"))) == []
    for wrong in ({}, {"noise": 0.1}, found | {"shares": [[0.5]]}, found | {"shares": [["a"] * 9]}):
        document["findings"]["input histograms"] = wrong
        (tmp_path / "hostile.json").write_text(json.dumps(document))
        with pytest.raises(ModelFileError):
            load(tmp_path / "hostile.json")


def told(shares, noise=0.001, low="0"):
    column = ReleasedShares("x", low, "10", np.array(shares), noise)
    return one_place(column), far_end(column), pile(column)


def in_bins(places, bins=32):
    return np.bincount(places, minlength=bins) / len(places)


@pytest.mark.parametrize(
    "shares",
    [
        in_bins([0, 31]),  # two values
        in_bins([0, 8, 16, 24, 31]),  # five of them
        in_bins([0] * 9 + [25]),  # zeros, and one more
        np.full(32, 1 / 32),
        np.exp(-np.arange(32.0)) / np.exp(-np.arange(32.0)).sum(),  # a long tail
        in_bins([0] * 4 + list(range(1, 32))),  # some zeros
    ],
    ids=["two", "five", "zeros", "even", "tail", "some zeros"],
)
def test_usual_columns_raise_no_alarm(shares):
    assert told(shares) == (None, None, None)
    noisy = shares + 0.005 * np.random.default_rng(2).standard_normal(32)
    assert told(noisy, noise=0.005) == (None, None, None)


AGES = RNG.integers(18, 91, 100_000)
BMI = np.exp(RNG.normal(3.3, 0.2, 100_000))
NOISES = [(16, 0.02), (32, 0.01), (32, 0.003), (64, 0.001)]


def released(values, low, high, bins, noise):
    places = (np.clip(values, low, high) - low) / (high - low) * bins
    shares = in_bins(np.minimum(places.astype(int), bins - 1), bins)
    noisy = shares + noise * np.random.default_rng(3).standard_normal(bins)
    return ReleasedShares("x", f"{low:g}", f"{high:g}", noisy, noise)


@pytest.mark.parametrize(("bins", "noise"), NOISES[1:])
def test_bounds_thirty_times_too_wide_are_told_wherever_bins_are_cut(bins, noise):
    """Ages of which one bin of 32 holds nine in ten, and two hold all."""
    for low, high in ((0, 2700), (-1350, 1350), (-2000, 700), (-2610, 90)):
        assert "same unit" in one_place(released(AGES, low, high, bins, noise))


@pytest.mark.parametrize(("bins", "noise"), NOISES[1:])
def test_codes_cut_to_a_bound_are_told_though_noise_hides_the_gap_before_it(bins, noise):
    coded = np.where(RNG.uniform(size=len(BMI)) < 0.15, 999, BMI)
    assert "−99" in pile(released(coded, 10, 70, bins, noise))
    assert "−99" in pile(released(-coded, -70, -10, bins, noise))
    assert pile(released(BMI, 10, 70, bins, noise)) is None


@pytest.mark.parametrize(("bins", "noise"), NOISES)
@pytest.mark.parametrize("share", [0.0, 0.005, 0.03, 0.5])
def test_a_rare_yes_is_no_unit(share, bins, noise):
    yes = RNG.uniform(size=len(BMI)) < share
    assert one_place(released(yes, 0, 1, bins, noise)) is None
    assert "same unit" in one_place(released(100.0 + BMI, 0, 1, bins, noise))  # per cent


@pytest.mark.parametrize(("bins", "noise"), NOISES)
@pytest.mark.parametrize("levels", [2, 3, 5, 7, 11])
def test_levels_with_most_at_the_top_are_no_codes(levels, bins, noise):
    shares = np.array([0.4, *[0.6 / (levels - 1)] * (levels - 1)])
    column = released(RNG.choice(levels, 100_000, p=shares), 0, levels - 1, bins, noise)
    assert (one_place(column), far_end(column), pile(column)) == (None, None, None)


def test_ends_at_either_side():
    code = in_bins([0] * 5 + list(range(10, 30)))
    for shares, end in ((code, "lower bound 0"), (code[::-1], "upper bound 10")):
        assert end in told(shares)[1]
    cut = in_bins([0] * 12 + list(range(1, 32)))
    assert "upper bound 10" in told(cut[::-1])[2]
    assert "lower bound 1" in told(cut, low="1")[2]
    assert told(cut)[2] is None  # zeros are as they are
    inside = in_bins([7] * 99 + [9])
    assert "tighten" in told(inside)[0]
    assert told(in_bins([3] * 99 + [5], bins=8))[0] is None  # an eighth is no corner


def of_targets(values, share, code, noise, seed):
    """Return what is asked about a target of 5,000 rows within (1, 100), some of them codes."""
    random = np.random.default_rng(seed)
    y = values(random)
    y = np.where(random.uniform(size=len(y)) < share, code, y)
    shares = in_bins(np.minimum(((np.clip(y, 1, 100) - 1) / 99 * 64).astype(int), 63), 64)
    noisy = shares + noise * random.standard_normal(64)
    return pile(ReleasedShares("y", "1", "100", noisy, noise, is_target=True))


def zeros_and_costs(random):
    return np.where(random.uniform(size=5000) < 0.4, 1.0, random.lognormal(2, 1, 5000))


TARGETS = {
    "bell": lambda random: random.normal(55, 13, 5000),
    "heaped": lambda random: 5 * np.round(random.normal(50, 12, 5000) / 5),
    "costs": zeros_and_costs,
    "counts": lambda random: 5.0 * random.poisson(2, 5000),
    "skewed": lambda random: random.lognormal(3, 0.6, 5000),
}
CEILINGS = {
    f"{share:.0%}, heaps of {heap}": lambda random, at=at, heap=heap: (
        heap * np.round(random.normal(at, 14, 5000) / heap)
    )
    for share, at in ((0.1, 82), (0.3, 92.7), (0.5, 100))
    for heap in (1, 5, 10)
}


@pytest.mark.parametrize(("share", "noise"), [(0.02, 0.00045), (0.05, 0.002), (0.15, 0.0025)])
@pytest.mark.parametrize("values", TARGETS.values(), ids=list(TARGETS))
def test_codes_among_cells_of_a_target_are_asked_about(values, share, noise):
    told = [of_targets(values, share, 999.0, noise, seed) or "" for seed in range(20)]
    assert sum("upper bound 100" in each for each in told) >= 15
    assert all("can it take that value? If not, look for codes" in each for each in told if each)


@pytest.mark.parametrize("noise", [0.00045, 0.0027, 0.0071, 0.018])
@pytest.mark.parametrize("values", (TARGETS | CEILINGS).values(), ids=[*TARGETS, *CEILINGS])
def test_clean_targets_are_asked_nothing(values, noise):
    assert {of_targets(values, 0.0, 0.0, noise, seed) for seed in range(200)} == {None}


@pytest.fixture(scope="module")
def coded_target():
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (ROWS, 3))
    y = 40 + 20 * X[:, 0] + 10 * random.standard_normal(ROWS)
    y[random.uniform(size=ROWS) < 0.05] = 999
    asked = {"bounds": [(0, 1)] * 3, "target_bounds": (0, 100), "random_state": 0, "stages": 1}
    return PrivateGPRegressor(10.0, 1e-5, **asked).fit(X, y).model_


def test_a_fit_asks_about_codes_of_its_target(coded_target):
    (sentence,) = (told for told in coded_target.health if "can it take that value" in told)
    assert "target at its upper bound 100" in sentence
    assert not any("two values" in told or "very far" in told for told in coded_target.health)


def test_a_file_keeps_shares_of_targets_and_may_lack_them(coded_target, tmp_path):
    path = tmp_path / "model.json"
    coded_target.save(path)
    document = json.loads(path.read_text())
    assert load(path).health == coded_target.health
    law = document["findings"]["target histograms"][0]
    given = dict(law)
    for name in ("shares", "noise"):
        del law[name]
    path.write_text(json.dumps(document))
    assert target_at_bound(load(path), 0) is None
    for wrong in ({"shares": [0.5]}, {"shares": ["a"] * 9}, {"shares": 3}, {"noise": None}):
        document["findings"]["target histograms"] = [given | wrong]
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFileError):
            load(path)
    document["findings"]["target histograms"] = [law | {"noise": 0.1}]
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="neither"):
        load(path)
