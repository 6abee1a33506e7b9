import numpy as np
import pytest

from dpgp.domain import Box


def test_one_pair_serves_all_columns():
    box = Box.from_bounds((0, 2), 3)
    assert box.low.tolist() == [0, 0, 0]
    assert box.high.tolist() == [2, 2, 2]


def test_a_list_and_an_array_hold_a_pair_a_column():
    pairs = [(0, 2), (5, 9)]
    for bounds in (pairs, np.array(pairs)):
        box = Box.from_bounds(bounds, 2)
        assert box.centre.tolist() == [1, 7]
        assert box.half_width.tolist() == [1, 2]


def test_a_mapping_is_read_by_name_in_column_order():
    box = Box.from_bounds({"weight": (5, 120), "age": (2, 18)}, 2, ("age", "weight"))
    assert box.low.tolist() == [2, 5]
    assert box.names == ("age", "weight")


def test_values_are_clipped():
    assert Box.from_bounds((0, 1), 2).clip(np.array([[-3.0, 0.5]])).tolist() == [[0.0, 0.5]]


def test_containment():
    box = Box.from_bounds((0, 1), 1)
    assert box.contains(np.array([[0.0], [1.0]]))
    assert not box.contains(np.array([[1.1]]))


@pytest.mark.parametrize(
    ("bounds", "error", "text"),
    [
        (None, ValueError, "cannot be read from the data"),
        ((2, 1), ValueError, "low < high"),
        ((1, 1), ValueError, "low < high"),
        ((0, np.inf), ValueError, "finite"),
        ((np.nan, 1), ValueError, "finite"),
        ([(0, 1)] * 3, ValueError, "for each of the 2 columns"),
        ({"age": (0, 1)}, ValueError, "lacks the columns"),
        ({"years": (0, 1)}, ValueError, "knows none of the columns; write"),
        ([("a", "b"), (0, 1)], TypeError, "pairs of numbers"),
        ([(0, 1), (0, 1, 2)], TypeError, "pairs of numbers"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(bounds, error, text):
    with pytest.raises(error, match=text):
        Box.from_bounds(bounds, 2, ("age", "weight"))


def test_a_mapping_needs_column_names():
    with pytest.raises(ValueError, match="no column names"):
        Box.from_bounds({"age": (0, 1)}, 1)


def test_columns_without_names_are_numbered():
    unnamed = Box.from_bounds((0, 1), 2)
    assert unnamed.column_names("input") == ["input 1", "input 2"]
    assert Box.from_bounds((0, 1), 1).column_names("target") == ["target"]
    assert Box.from_bounds((0, 1), 1).named_bounds("target")[0]["name"] == "target"
    assert unnamed.named_bounds("input")[1] == {"name": "input 2", "low": 0.0, "high": 1.0}
    named = Box.from_bounds((0, 1), 1, ("age",))
    assert named.named_bounds("input") == [{"name": "age", "low": 0.0, "high": 1.0}]
