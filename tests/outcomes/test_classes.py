import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from dpgp.outcomes.labels import class_box, class_numbers, named_classes

YES_NO = named_classes(("no", "yes"))


@pytest.mark.parametrize(
    ("classes", "error", "message"),
    [
        (None, ValueError, "must name all labels"),
        ("no", TypeError, "must be a list of labels, got str"),
        (("no",), ValueError, "must hold 2 to 64 levels, got 1"),
        (tuple(range(65)), ValueError, "must hold 2 to 64 levels, got 65"),
        (("yes", " yes "), ValueError, "two of them match the same cells"),
        ((1, "1"), ValueError, "two of them match the same cells"),
        ((1, True), ValueError, "two of them match the same cells"),
        ((0.5, 1), TypeError, "must hold texts, whole numbers"),
        (("", "yes"), ValueError, "texts of 1 to"),
    ],
)
def test_what_are_not_named_classes_is_refused(classes, error, message):
    with pytest.raises(error, match=message) as caught:
        named_classes(classes)
    assert str(caught.value).startswith("`classes`")


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "perhaps", None],
        np.array(["no", "yes", "perhaps", ""]),
        pd.Series(["no", "yes", None, "x"]),
        pl.Series(["no", " yes", None, "x"]),
    ],
)
def test_labels_count_as_0_and_1_and_others_as_unknown(labels):
    assert np.array_equal(class_numbers(labels, 4, YES_NO), [0, 1, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize("labels", [["no"], [["no", "yes"]] * 4, "no", 3.0, [["no"], ["yes", "x"]]])
def test_labels_of_another_shape_are_refused_in_fixed_words(labels):
    with pytest.raises(ValueError, match="one label for each of the rows") as caught:
        class_numbers(labels, 4, YES_NO)
    assert caught.value.__context__ is None


def test_one_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert class_numbers(np.array([[0], [1]]), 2, named_classes((0, 1))).tolist() == [0.0, 1.0]


def test_a_target_of_named_classes_lies_between_0_and_1():
    box = class_box(YES_NO, ["smoker"])
    assert (box.low.tolist(), box.high.tolist(), box.names) == ([0.0], [1.0], ("smoker",))
