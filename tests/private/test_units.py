"""Which rows of a unit count, wherever in a table they lie."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgp.private import units
from dpgp.private.cells import Cells
from dpgp.private.rows import first_rows_of_units
from dpgp.private.tables import TableError
from dpgp.private.units import first_rows, unpacked

IDENTIFIERS = st.sampled_from(["a", " a", "A", "7", "07", " 7 ", "8"])


def kept(identifiers, sizes, most):
    ends = np.cumsum([0, *sizes])
    cells = [
        Cells(pa.table({"id": pa.array(identifiers[a:b], pa.string())})) for a, b in pairwise(ends)
    ]
    bits = first_rows(lambda: iter(cells), sizes, "id", most)
    return np.concatenate([unpacked(b, n) for b, n in zip(bits, sizes, strict=True)]).tolist()


@given(st.lists(IDENTIFIERS, min_size=1, max_size=40), st.integers(1, 4), st.data())
@settings(deadline=None)
def test_the_first_rows_count_however_the_table_is_cut(identifiers, most, data):
    cut = data.draw(st.integers(0, len(identifiers)))
    held = first_rows_of_units(identifiers, len(identifiers), most).tolist()
    for sizes in ([len(identifiers)], [cut, len(identifiers) - cut], [1] * len(identifiers)):
        assert kept(identifiers, sizes, most) == held


@pytest.mark.parametrize("most_units", [1, 3, 1000])
def test_memory_for_few_units_changes_nothing(monkeypatch, most_units):
    identifiers = [str(k) for k in np.random.default_rng(0).integers(0, 20, 60)]
    expected = first_rows_of_units(identifiers, 60, 2).tolist()
    monkeypatch.setattr(units, "MOST_UNITS", most_units)
    assert kept(identifiers, [25, 35], 2) == expected


def test_too_many_rows_are_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(units, "MOST_UNITS", 1)
    monkeypatch.setattr(units, "MOST_GROUPS", 3)
    with pytest.raises(TableError, match="'id' has more rows than memory") as caught:
        kept(list("abcd"), [4], 1)
    assert "4" not in str(caught.value)


def test_numbers_and_texts_of_different_files_are_one_person():
    cells = [Cells(pa.table({"id": column})) for column in ([7, 8], ["7", "07"], [7.0, 9.0])]
    bits = first_rows(lambda: iter(cells), [2, 2, 2], "id", 1)
    flags = [unpacked(b, 2).tolist() for b in bits]
    assert flags == [[True, True], [False, True], [False, True]]
