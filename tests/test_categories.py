"""Public levels: what they may be, and which elements are which; a row depends on itself alone."""

import unicodedata
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.categories import (
    LONGEST_LEVEL,
    MOST_INDICATORS,
    MOST_LEVELS,
    Category,
    read_categories,
)
from dpgp.coded_rows import coded_matrix

REGIONS = ("north", "south", "São Tomé", 1, 2)


@pytest.mark.parametrize(
    ("levels", "element", "number"),
    [
        (REGIONS, "south", 1),
        (REGIONS, " south\t", 1),
        (REGIONS, unicodedata.normalize("NFD", "São Tomé"), 2),
        (REGIONS, 1, 3),
        (REGIONS, 1.0, 3),
        (REGIONS, "1", 3),
        (REGIONS, True, 3),
        (REGIONS, np.int8(2), 4),
        (REGIONS, np.float32(2), 4),
        (REGIONS, Decimal("2.0"), 4),
        (REGIONS, np.str_("north"), 0),
        (REGIONS, np.bool_(True), 3),
        ((False, True), True, 1),
        ((False, True), 0.0, 0),
        ((False, True), "True", 1),
        ((False, True), np.True_, 1),
        (("False", "True"), True, 1),
        (("no", "1"), True, 1),
        (("none", "nan"), "none", 0),
        ((-5, 5), -5.0, 0),
        (REGIONS, "1.0", 3),
        (REGIONS, "01", 3),
        (REGIONS, " 2.", 4),
        (REGIONS, "+2e0", 4),
        (REGIONS, "0.2E1", 4),
        (("0", "1"), "0.0", 0),
        (("0", "1"), 1.0, 1),
        (("0.0", "1.0"), 1, 1),
        (("0.0", "1.0"), "1", 1),
        (("0.0", "1.0"), False, 0),
        (("01", "02"), 2, 1),
        (("0.5", "1.5"), 1.5, 1),
        (("0.5", "1.5"), "0.50", 0),
        (("0.5", "1.5"), Decimal("0.500"), 0),
        (("0", "1"), "-0.0", 0),
        (("false", "true"), 1, 1),
        (("false", "true"), "1.0", 1),
        (("no", "TRUE"), True, 1),
        ((False, True), "true", 1),
        ((False, True), "0.0", 0),
        (("9007199254740993", "1"), 2**53 + 1, 0),
    ],
)
def test_an_element_is_the_level_of_its_text(levels, element, number):
    assert Category.of(levels, "region").number(element) == number


@pytest.mark.parametrize(
    "element",
    [
        "South", "sout", "", " ", "1.5", "1,0", "true", "False", "0x1", "1e9999",
        "1e99999999999", None, np.nan, pd.NA, pd.NaT, 1.5, 3, -1,
        float("inf"), pytest.param(10**5000, id="huge"), Decimal("NaN"), Decimal("1e500"),
        1 + 0j, b"north", ["north"],
        ("south",), {"north"}, np.datetime64("2020-01-01"), np.array(["north"]), object(),
        Fraction(1), "1_0", "½", "١", "1 0", "one", "nan", "inf", "--1", Decimal("sNaN"),
        "1" * 5000,
    ],
)  # fmt: skip
def test_all_else_is_no_level(element):
    assert np.isnan(Category.of(REGIONS, "region").number(element))


def test_a_decimal_comma_is_of_its_file():
    category = Category.of(["0.5", "1", "a,b"], "grade")
    assert [category.number(text, ",") for text in ("0,50", "1,0", "a,b")] == [0, 1, 2]
    assert np.isnan(category.number("1.0", ","))
    assert np.isnan(category.number("1,0"))


def test_levels_that_an_earlier_version_told_apart_keep_their_spelling():
    category = Category.saved(["1", "1.0", "01"], "levels")
    assert [category.number(text) for text in ("1", "1.0", "01", 1)] == [0, 1, 2, 0]


@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none())))
def test_what_an_element_becomes_depends_on_it_alone(elements):
    category = Category.of(["a", "b", 0, 1], "letters")
    together = category.numbers(elements)
    alone = np.array([category.number(element) for element in elements])
    np.testing.assert_array_equal(together, alone)


ELEMENTS = st.sampled_from([1, 2, 3, None])
COLUMNS = {
    "list": list,
    "object": lambda column: np.array(column, dtype=object),
    "float": lambda column: np.array([np.nan if e is None else e for e in column], dtype=float),
    "masked": lambda column: np.ma.array(
        [e or 0 for e in column], mask=[e is None for e in column], dtype=np.int8
    ),
    "pandas": pd.Series,
    "nullable": lambda column: pd.Series(column, dtype="Int64"),
    "categorical": lambda column: pd.Series(pd.Categorical(column)),
    "text": lambda column: pd.Series([None if e is None else str(e) for e in column], dtype="str"),
    "polars": lambda column: pl.Series(column, dtype=pl.Int16),
    "arrow": lambda column: pa.chunked_array([pa.array(column, pa.int32())]),
    "dictionary": lambda column: pa.chunked_array(
        [pa.array([None if e is None else str(e) for e in column]).dictionary_encode()]
    ),
}


def framed(column, numbers):
    if isinstance(column, pl.Series):
        return pl.DataFrame({"grade": column, "x": numbers})
    if isinstance(column, pa.ChunkedArray):
        return pa.table({"grade": column, "x": numbers})
    if isinstance(column, list):
        return [list(row) for row in zip(column, numbers, strict=True)]
    return pd.DataFrame({"grade": column, "x": numbers})


@pytest.mark.parametrize("kind", COLUMNS)
@given(elements=st.lists(ELEMENTS, min_size=2, max_size=6))
def test_no_container_lets_one_row_change_another(kind, elements):
    numbers = np.arange(float(len(elements)))
    categories = (Category.of([1, 2], "grade"), None)
    found = coded_matrix(framed(COLUMNS[kind](elements), numbers), categories)
    expected = [{1: 0.0, 2: 1.0}.get(element, np.nan) for element in elements]
    np.testing.assert_array_equal(found, np.column_stack([expected, numbers]))


def test_a_table_is_never_made_one_array():
    rows = [["north", 1, True], ["south", None, 2.5]]
    categories = (Category.of(["north", "south"], 0), None, None)
    expected = [[0.0, 1.0, 1.0], [1.0, np.nan, 2.5]]
    np.testing.assert_array_equal(coded_matrix(rows, categories), expected)
    np.testing.assert_array_equal(coded_matrix(np.array(rows, dtype=object), categories), expected)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([["a", 1.0], ["b"]], "equally long"),
        ([["a"], ["b"]], "2 columns, got 1"),
        ([], "equally long"),
        (None, "equally long"),
        (np.array(["a", "b"]), "equally long"),
        ([["a", "secret"], ["b", "secret"]], "must hold numbers"),
        ([["a", [1.0, 2.0]], ["b", [1.0, 2.0]]], "equally long"),
    ],
)
def test_what_is_no_table_is_refused(X, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        coded_matrix(X, (Category.of(["a", "b"], 0), None))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("levels", "error", "words"),
    [
        ([], ValueError, f"2 to {MOST_LEVELS} levels, got 0"),
        (["north"], ValueError, "got 1"),
        (list(range(1000)), ValueError, "got 1000; put rare ones together"),
        (["a", "b", "a"], ValueError, "different levels"),
        (["a", "a "], ValueError, "different levels"),
        (["é", "e\u0301"], ValueError, "different levels"),
        ([1, "1"], ValueError, "different levels"),
        ([1, 1.0], ValueError, "different levels"),
        ([1, True], ValueError, "different levels"),
        (["True", True], ValueError, "different levels"),
        (["0", "0.0"], ValueError, '"1.0" and True are one level'),
        (["01", 1], ValueError, "different levels"),
        (["0.5", "0.50"], ValueError, "different levels"),
        (["true", "1.0"], ValueError, "different levels"),
        (["true", "TRUE"], ValueError, "different levels"),
        (["a", ""], ValueError, "1 to 200 characters"),
        (["a", "x" * (LONGEST_LEVEL + 1)], ValueError, "1 to 200 characters"),
        (["a", "b\nc"], ValueError, "line breaks"),
        (["a", "\u202eb"], ValueError, "writing direction"),
        (["a", None], TypeError, "NoneType"),
        (["a", np.nan], TypeError, "missing cells"),
        (["a", 0.5], TypeError, "whole numbers"),
        (["a", ["b"]], TypeError, "type list"),
        (["a", b"b"], TypeError, "type bytes"),
        (["a", 2**70], TypeError, "whole numbers"),
        ("ab", TypeError, "must be a list of levels, got str"),
        ({"a", "b"}, TypeError, "got set"),
        (None, TypeError, "got NoneType"),
    ],
)
def test_levels_that_cannot_be_meant_are_refused(levels, error, words):
    with pytest.raises(error, match=words) as caught:
        Category.of(levels, "region")
    assert "`categories` of column 'region'" in str(caught.value)


@pytest.mark.parametrize(
    "kind", [tuple, list, np.array, pd.Index, pd.Series, pd.Categorical, pl.Series]
)
def test_levels_come_in_any_list(kind):
    assert Category.of(kind(["a", "b"]), "letter").levels == ("a", "b")


def test_levels_keep_their_types_and_one_spelling():
    category = Category.of([" a", 2.0, np.int64(3), np.False_, Decimal(7)], "mixed")
    assert [(type(level), level) for level in category.levels] == [
        (str, "a"), (int, 2), (int, 3), (bool, False), (int, 7),
    ]  # fmt: skip


def test_categories_are_named_or_counted():
    sex = {"sex": ["F", "M"]}
    by_name = read_categories(sex, ["age", "sex"], 2)
    assert by_name == read_categories({1: ["F", "M"]}, None, 2)
    assert by_name[0] is None
    assert by_name[1].levels == ("F", "M")
    assert read_categories(None, None, 2) == read_categories({}, None, 2) == ()


@pytest.mark.parametrize(
    ("categories", "names", "error", "words"),
    [
        (["sex"], None, TypeError, "must be a mapping"),
        ("sex", ["sex"], TypeError, "must be a mapping"),
        ({"sex": ["F", "M"]}, None, ValueError, "positions from 0 to 1"),
        ({"sex": ["F", "M"]}, ["age", "Sex"], ValueError, "'sex' that is not there"),
        ({2: ["F", "M"]}, None, ValueError, "positions from 0 to 1"),
        ({-1: ["F", "M"]}, None, ValueError, "positions from 0 to 1"),
        ({True: ["F", "M"]}, None, ValueError, "positions from 0 to 1"),
        ({"sex": ["F", "M"], 1: ["F", "M"]}, ["age", "sex"], ValueError, "twice"),
    ],
)
def test_categories_of_other_columns_are_refused(categories, names, error, words):
    with pytest.raises(error, match=words):
        read_categories(categories, names, 2)


def test_all_categories_together_are_limited():
    many = {k: list(range(MOST_LEVELS)) for k in range(2)}
    with pytest.raises(ValueError, match=f"at most {MOST_INDICATORS} levels in all.* got 128"):
        read_categories(many, None, 2)
