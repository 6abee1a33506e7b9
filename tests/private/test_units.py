"""Which rows of a unit count, wherever in a table they lie."""

import warnings
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgp import PrivateGPRegressor
from dpgp.privacy.noise import key_of_choices
from dpgp.private import units
from dpgp.private.cells import Cells
from dpgp.private.tables import TableError
from dpgp.private.units import Quota, UnitRows, rows_of_units, rows_that_count, unpacked

IDENTIFIERS = st.sampled_from(["a", " a", "A", "7", "07", " 7 ", "8"])


def kept(identifiers, sizes, quota):
    ends = np.cumsum([0, *sizes])
    cells = [
        Cells(pa.table({"id": pa.array(identifiers[a:b], pa.string())})) for a, b in pairwise(ends)
    ]
    bits = rows_that_count(lambda: iter(cells), sizes, "id", quota)
    return np.concatenate([unpacked(b, n) for b, n in zip(bits, sizes, strict=True)]).tolist()


@given(st.lists(IDENTIFIERS, min_size=1, max_size=40), st.integers(1, 4), st.data())
@settings(deadline=None)
def test_the_same_rows_count_however_the_table_is_cut(identifiers, most, data):
    cut = data.draw(st.integers(0, len(identifiers)))
    key = data.draw(st.none() | st.binary(min_size=1, max_size=16))
    held = rows_of_units(identifiers, len(identifiers), Quota(most, key)).tolist()
    for sizes in ([len(identifiers)], [cut, len(identifiers) - cut], [1] * len(identifiers)):
        assert kept(identifiers, sizes, Quota(most, key)) == held


@pytest.mark.parametrize("key", [None, b"key"])
@pytest.mark.parametrize("most_units", [1, 3, 1000])
def test_memory_for_few_units_changes_nothing(monkeypatch, most_units, key):
    identifiers = [str(k) for k in np.random.default_rng(0).integers(0, 20, 60)]
    expected = rows_of_units(identifiers, 60, Quota(2, key)).tolist()
    monkeypatch.setattr(units, "MOST_UNITS", most_units)
    assert kept(identifiers, [25, 35], Quota(2, key)) == expected


def test_of_a_unit_with_more_rows_than_memory_holds_losers_are_forgotten(monkeypatch):
    monkeypatch.setattr(units, "MOST_UNITS", 100)
    seen, quota = UnitRows(Quota(3, b"key")), Quota(3, b"key")
    for _ in range(50):
        seen.take(np.zeros(40, dtype=np.intp), ["a"])
        assert sum(part.shape[1] for part in seen._rivals) <= 140
    (bits,) = seen.kept([2000])
    assert np.array_equal(unpacked(bits, 2000), rows_of_units(["a"] * 2000, 2000, quota))


@given(
    st.lists(IDENTIFIERS, min_size=1, max_size=40),
    st.integers(1, 4),
    st.binary(min_size=1, max_size=64),
)
def test_a_unit_has_as_many_rows_as_may_count_or_all(identifiers, most, key):
    flags = rows_of_units(identifiers, len(identifiers), Quota(most, key))
    units = np.array([identifier.strip() for identifier in identifiers])
    for unit in set(units):
        assert flags[units == unit].sum() == min(most, (units == unit).sum())


def test_every_pair_of_rows_is_as_likely_as_every_other():
    """Over people and over keys: 15 pairs of six rows, a chi-squared of 14 degrees of freedom."""
    people = [f"{k}" for k in range(3000) for _ in range(6)]
    flags = rows_of_units(people, len(people), Quota(2, b"key")).reshape(3000, 6)
    assert is_uniform(flags)
    keys = [k.to_bytes(16, "big") for k in range(3000)]
    assert is_uniform(np.array([rows_of_units(["a"] * 6, 6, Quota(2, key)) for key in keys]))


def is_uniform(flags):
    counts = np.unique(flags, axis=0, return_counts=True)[1]
    assert len(counts) == 15
    expected = len(flags) / 15
    return np.sum((counts - expected) ** 2 / expected) < 36.1  # once in a thousand


@pytest.mark.parametrize("kind", [int, float, str, np.int8, Decimal])
def test_identifiers_of_any_type_keep_the_same_rows(kind):
    people, quota = np.random.default_rng(0).integers(0, 20, 100), Quota(2, b"key")
    expected = kept([str(k) for k in people], [100], quota)
    listed = [kind(int(k)) for k in people]
    assert rows_of_units(listed, 100, quota).tolist() == expected
    assert rows_of_units(np.array(listed), 100, quota).tolist() == expected
    assert rows_of_units(pd.Series(listed), 100, quota).tolist() == expected


def test_a_key_is_fresh_unless_a_seed_simulates():
    assert len(key_of_choices(None)) == 16
    assert key_of_choices(None) != key_of_choices(None)
    assert key_of_choices(1) == key_of_choices(np.random.default_rng(1)) != key_of_choices(2)
    for bits in (np.random.MT19937, np.random.Philox, np.random.SFC64):
        generator, untouched = np.random.Generator(bits(1)), np.random.Generator(bits(1))
        first = key_of_choices(generator)
        assert first == key_of_choices(untouched)
        assert generator.random() == untouched.random(), "nothing was drawn of the noise"
        assert first != key_of_choices(generator)


def panel(seed, people=1500, years=10):
    """People in the order of time, of whom everybody gains half a unit a year."""
    random = np.random.default_rng(seed)
    who, year = np.repeat(np.arange(people), years), np.tile(np.arange(years), people)
    x = random.uniform(0, 1, len(who))
    y = 10 + 2 * x + 0.5 * (year - 4.5) + random.normal(0, 1, people)[who]
    return x[:, None], y + random.normal(0, 0.5, len(who)), who


@pytest.mark.parametrize(("rule", "low", "high"), [("first", -2.4, -1.6), ("random", -0.3, 0.3)])
def test_in_a_panel_the_first_rows_are_the_first_years(rule, low, high):
    grid = np.linspace(0, 1, 21)[:, None]
    bias = []
    for seed in range(3):
        X, y, who = panel(seed)
        gp = PrivateGPRegressor(
            3.0, 1e-6, bounds=(0, 1), target_bounds=(0, 22), max_rows_per_unit=2,
            rows_of_unit=rule, random_state=seed,
        )  # fmt: skip
        bias.append(np.mean(gp.fit(X, y, units=who).predict(grid) - (10 + 2 * grid[:, 0])))
    assert low < np.mean(bias) < high


def test_a_seeded_fit_is_repeated_and_another_draws_other_rows():
    X, y, who = panel(0, people=200)

    def predicted(seed, **asked):
        gp = PrivateGPRegressor(np.inf, bounds=(0, 1), target_bounds=(0, 22), stages=1, **asked)
        return gp.set_params(random_state=seed).fit(X, y, units=who).predict([[0.5]])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert predicted(1) == predicted(1) == predicted(np.random.default_rng(1))
        assert abs(predicted(1) - predicted(2)) > 1e-3, "without noise: other rows"
        assert predicted(1, rows_of_unit="first") == predicted(2, rows_of_unit="first")


def test_too_many_rows_are_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(units, "MOST_UNITS", 1)
    monkeypatch.setattr(units, "MOST_GROUPS", 3)
    with pytest.raises(TableError, match="'id' has more rows than memory") as caught:
        kept(list("abcd"), [4], Quota(1))
    assert "4" not in str(caught.value)


def test_numbers_and_texts_of_different_files_are_one_person():
    cells = [Cells(pa.table({"id": column})) for column in ([7, 8], ["7", "07"], [7.0, 9.0])]
    bits = rows_that_count(lambda: iter(cells), [2, 2, 2], "id", Quota(1))
    flags = [unpacked(b, 2).tolist() for b in bits]
    assert flags == [[True, True], [False, True], [False, True]]
