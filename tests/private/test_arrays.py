"""Whose a row is: one identifier never decides about other people's rows."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.choices import RowsOfUnit
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.sensitivity import gram_sensitivity
from dpgp.private.identifiers import key_of, unit_codes
from dpgp.private.rows import FARTHEST_TARGET, scaled_rows
from dpgp.private.units import Quota, rows_of_units
from dpgp.private.wall import exact_gram

LONG = 123_456_789_012_345_678


def groups(units):
    return unit_codes(units, len(units)).tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 4))
def test_a_unit_keeps_its_first_rows(units, most):
    kept = rows_of_units(np.array(units), len(units), Quota(most))
    seen = {}
    for unit, keep in zip(units, kept, strict=True):
        assert keep == (seen.get(unit, 0) < most)
        seen[unit] = seen.get(unit, 0) + 1


IDENTIFIERS = st.one_of(
    st.integers(),
    st.integers(2**53 - 2, 2**53 + 2),
    st.integers(2**63 - 2, 2**64 + 2),
    st.integers(-3, 3).map(float),
    st.integers(-3, 3).map(str),
    st.integers(-3, 3).map(np.int8),
    st.integers(-3, 3).map(Decimal),
    st.sampled_from(["a", "a\0", " a", "b"]),
    st.binary(max_size=2),
).filter(lambda identifier: key_of(identifier) is not None)


@given(
    st.lists(IDENTIFIERS, min_size=2, max_size=20),
    st.lists(IDENTIFIERS, min_size=20, max_size=20),
    st.integers(1, 3),
)
def test_what_a_unit_keeps_does_not_depend_on_other_units(units, others, most):
    """The rows of one unit go to anybody else, of any type: all other units keep what they kept."""
    changed = [key_of(unit) == key_of(units[0]) for unit in units]
    neighbour = [
        other if change else unit
        for unit, other, change in zip(units, others, changed, strict=False)
    ]
    receivers = {key_of(n) for n, change in zip(neighbour, changed, strict=True) if change}
    same = [key_of(unit) not in receivers and not c for unit, c in zip(units, changed, strict=True)]
    for quota in (Quota(most), Quota(most, b"key")):
        before = rows_of_units(units, len(units), quota)
        after = rows_of_units(neighbour, len(units), quota)
        assert np.array_equal(before[same], after[same])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(-2, 2)), min_size=2, max_size=12),
    st.sampled_from([int, str, float, Decimal, np.uint64]),
    st.integers(1, 3),
    st.sampled_from(RowsOfUnit),
)
def test_the_integers_move_by_no_more_than_one_unit_may(people, kind, most, rule):
    """Person 0 is removed; the others' identifiers were read beside one of another type."""
    units = [kind(0) if person == 0 else 2**63 + person for person, _ in people]
    values = np.array([value for _, value in people])
    kept = [k for k, (person, _) in enumerate(people) if person != 0]
    box = Box(np.array([-1.0]), np.array([1.0]))
    features = BoxFeatures(UnitInputs(box), LinearFeatures(1, 0.5))

    def totals(rows):
        if not rows:
            return 0
        x, ids = values[rows], [units[k] for k in rows]
        asked = Options(
            1.0, 1e-6, box, box, per_person=True, max_rows_per_unit=most, rows_of_unit=rule
        )
        table = scaled_rows(x[:, None], x[None], asked, ids, seed=0)
        return exact_gram(table, features, n_jobs=1, block_rows=16)

    change = (totals(list(range(len(people)))) - totals(kept)) / UNIT**2
    bound = gram_sensitivity(np.sqrt(2.0), Neighbours.ADD_REMOVE, most)
    assert np.sqrt(np.sum(change.astype(float) ** 2)) <= bound


def test_one_missing_identifier_does_not_merge_other_people():
    people = [LONG + k for k in range(2000)]
    for units in (people, np.array(people), pd.Series(people), pl.Series(people), pa.array(people)):
        assert rows_of_units(units, 2000, Quota(1)).all()
    for bad in (np.nan, None, pd.NA, pd.NaT, 0.5, "", " ", "NaN", True, float(LONG), np.inf):
        with pytest.raises(ValueError, match="`units` must say for every row whose it is"):
            groups([*people[1:], bad])


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([7, 7.0, "7", " 7 ", Decimal("7.0"), np.uint8(7), "07"], [0, 0, 0, 0, 0, 0, 1]),
        (["a", "a\0", "A", b"a"], [0, 1, 2, 3]),
        (["\u00e9", "e\u0301"], [0, 0]),
        ([2**63 + 1, 2**63 + 2, 1], [0, 1, 2]),
        ([2**53, 2**53 + 1, 2.0**53 - 1], [0, 1, 2]),
        ([0.0, -0.0, 0], [0, 0, 0]),
        ([10**998, 10**999, 10**999 + 1, "a"], [0, 1, 2, 3]),
        ([10**999, 10**999 + 1], [0, 1]),
        (("u", 1, "u"), [0, 1, 0]),
        (range(3), [0, 1, 2]),
        (np.array(["u", 1, 1.0, "u"], dtype=object), [0, 1, 1, 0]),
        (np.array([3.0, 2.0, 3.0]), [1, 0, 1]),
        (np.array(["b", "a", "b"]), [0, 1, 0]),
        (pd.Series([LONG, LONG + 1], dtype="Int64"), [0, 1]),
        (pd.Series(["x", "y", "x"]), [0, 1, 0]),
        (pd.Series(["x", "y", "x"], dtype="category"), [0, 1, 0]),
        (pd.Index([5, 5]), [0, 0]),
        (pl.Series(["x", "y", "x"], dtype=pl.Categorical), [0, 1, 0]),
        (pl.Series([LONG, LONG + 1]), [0, 1]),
        (pa.array(["x", "y", "x"]).dictionary_encode(), [0, 1, 0]),
        (pa.chunked_array([[LONG], [LONG + 1]]), [0, 1]),
        (np.ma.array([1, 2]), [0, 1]),
    ],
)
def test_identifiers_of_any_kind(units, expected):
    assert groups(units) == expected


@pytest.mark.parametrize(
    "units",
    [
        pd.Series([LONG, None]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["x", None]),
        pd.Series(["x", None], dtype="category"),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])),
        pd.Series([1, 2], dtype="Float32"),
        pd.Series(np.array([1, 2], dtype=np.float32)).astype("category"),
        pl.Series([1, None]),
        pl.Series([1.0, 2.0], dtype=pl.Float32),
        pl.Series([datetime.date(2020, 1, 1)]),
        pa.array([1, None]),
        pa.array([1.0, 2.0], type=pa.float32()),
        np.array([1, 2], dtype=np.float32),
        np.array([LONG, 1], dtype=np.float64),
        np.array([2.0**53, 1]),
        np.array([-(2.0**53), 1]),
        np.array([1, 2], dtype="m8[ns]"),
        [np.timedelta64(7, "D"), 7],
        np.array([1.5, 2.0]),
        np.array(["2020-01-01"], dtype="datetime64[ns]"),
        np.ma.array([1, 2], mask=[False, True]),
        [np.float32(16_777_217), 3],
        [True, 1],
        [Decimal("sNaN")],
        [Decimal("1e999999999")],
        [(1, 2), (1, 3)],
        [10**1001, 1],
        [10**1001, "a"],
        [1j],
        [datetime.date(2020, 1, 1)],
    ],
)
def test_what_may_have_merged_people_is_refused(units):
    with pytest.raises(ValueError, match="`units` must say for every row whose it is"):
        groups(units)


@pytest.mark.parametrize(
    "units", [[1, 2, 3], "ab", {1: 2, 3: 4}, {1, 2}, iter([1, 2]), np.zeros((2, 2)), np.array(1), 5]
)
def test_units_must_match_the_rows(units):
    with pytest.raises(ValueError, match="one identifier for each of the rows"):
        rows_of_units(units, 2, Quota(1))


def test_a_target_beyond_all_floats_is_cut_without_a_warning():
    box = Box(np.array([-1e-3]), np.array([1e-3]))
    asked = Options(1.0, 1e-6, box, box)
    rows = scaled_rows(np.zeros((3, 1)), np.array([[1e308, -1e308, 0.0]]), asked, None)
    assert rows.targets.tolist() == [[FARTHEST_TARGET, -FARTHEST_TARGET, 0.0]]
