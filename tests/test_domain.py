import numpy as np
import pytest

from dpgp.categories import read_categories
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
        ({"years": (0, 1)}, ValueError, "none of the columns, and names 'years'; write"),
        (dict.fromkeys("abcdefg", (0, 1)), ValueError, "names 'a', 'b', 'c', 'd', 'e', …; write"),
        (
            {"age": (0, 1), "wieght": (0, 1)},
            ValueError,
            r"lacks the columns \['weight'\], and has 'wieght' that is not there; "
            r"did you mean 'weight'\?",
        ),
        ({"age": (0, 1), "bmi": (0, 1)}, ValueError, "has 'bmi' that is not there; write it as"),
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


SEX = read_categories({1: ["F", "M"]}, None, 3)


@pytest.mark.parametrize(
    "bounds",
    [[(0, 1), (2, 3)], ((0, 1), (2, 3)), [(0, 1), None, (2, 3)], np.array([[0, 1], [2, 3]])],
)
def test_categories_are_left_out_of_bounds(bounds):
    box = Box.from_bounds(bounds, 3, categories=SEX)
    np.testing.assert_array_equal(box.low, [0, 0, 2])
    np.testing.assert_array_equal(box.high, [1, 1, 3])


def test_a_pair_is_for_all_columns_of_numbers_and_names_are_for_them_alone():
    box = Box.from_bounds((2, 5), 3, categories=SEX)
    np.testing.assert_array_equal(box.high, [5, 1, 5])
    named = Box.from_bounds({"a": (0, 1), "c": (2, 3)}, 3, ["a", "b", "c"], categories=SEX)
    np.testing.assert_array_equal(named.high, [1, 1, 3])
    assert named.named_bounds("input")[1] == {"name": "b", "levels": ["F", "M"]}
    assert named.extent_in_words(1) == ("levels F, M", "")


def test_categories_alone_need_no_bounds():
    categories = read_categories({0: ["F", "M"]}, None, 1)
    for bounds in (None, [], {}, [None]):
        names = ["a"] if bounds == {} else None
        assert Box.from_bounds(bounds, 1, names, categories=categories).high == 1.0
    for bounds in ((0, 1), [(0, 1)]):
        with pytest.raises(ValueError, match="bounds"):
            Box.from_bounds(bounds, 1, categories=categories)


@pytest.mark.parametrize(
    ("bounds", "names", "words"),
    [
        ({"a": (0, 1), "b": (0, 1), "c": (2, 3)}, ["a", "b", "c"], "column 'b' is a category and"),
        ([(0, 1), (0, 1), (2, 3)], None, "column 1 is a category and has `bounds` too"),
        ([(0, 1)], None, "2 columns, which are no categories"),
        ({"a": (0, 1), "c": (2, 3), "d": (0, 1)}, ["a", "b", "c"], "'d' that is not there"),
        (None, None, "must be given"),
    ],
)
def test_bounds_that_contradict_categories_are_refused(bounds, names, words):
    with pytest.raises(ValueError, match=words):
        Box.from_bounds(bounds, 3, names, categories=SEX)
