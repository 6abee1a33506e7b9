import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.sources.arrays import column_names, first_rows_of_units, numeric_matrix


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 4))
def test_a_unit_keeps_its_first_rows(units, most):
    kept = first_rows_of_units(np.array(units), len(units), most)
    seen = {}
    for unit, keep in zip(units, kept, strict=True):
        assert keep == (seen.get(unit, 0) < most)
        seen[unit] = seen.get(unit, 0) + 1


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=20))
def test_what_a_unit_keeps_does_not_depend_on_other_units(units):
    kept = first_rows_of_units(np.array(units), len(units), 2)
    others = np.array([unit if unit == "a" else "x" for unit in units])
    mine = np.array(units) == "a"
    assert np.array_equal(kept[mine], first_rows_of_units(others, len(units), 2)[mine])


def test_units_must_match_the_rows():
    with pytest.raises(ValueError, match="one identifier for each of the rows"):
        first_rows_of_units([1, 2, 3], 2, 1)


def test_identifiers_of_any_kind():
    assert first_rows_of_units(np.array(["u", 1, "u"], dtype=object), 3, 1).tolist() == [1, 1, 0]


def test_frames_and_arrays_are_read_alike():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False]})
    assert numeric_matrix(frame.astype(float)).tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert column_names(frame) == ("a", "b")
    assert column_names(np.zeros((2, 2))) is None
