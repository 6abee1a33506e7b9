"""Rows are taken as they stand, and labels that say otherwise are refused before a fit spends."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpgp import PrivateGPClassifier, PrivateGPRegressor
from dpgp.study.errors import RefusedError

ROWS = 60
TABLE = pd.DataFrame({"x": np.linspace(0, 1, ROWS), "y": np.linspace(0, 1, ROWS)})
NAMED = TABLE.set_axis([f"Anna {k}" for k in range(ROWS)])
SMALL = {"bounds": (0, 1), "features": "linear", "stages": 1, "random_state": 0}


def regressor(**changes):
    return PrivateGPRegressor(1.0, 1e-5, target_bounds=(0, 2), **SMALL | changes)


def shuffled(column):
    return column.sample(frac=1.0, random_state=1)


@pytest.mark.parametrize("table", [TABLE, NAMED], ids=["numbers", "names"])
@pytest.mark.parametrize("argument", ["y", "units", "sample_weight"])
def test_rows_in_another_order_are_refused_and_nothing_is_spent(table, argument):
    gp = regressor(weight_bound=1.0 if argument == "sample_weight" else None)
    columns = {"y": table["y"], argument: shuffled(table["y"])}
    with pytest.raises(
        RefusedError, match=f"`{argument}` holds the rows of `X` in another"
    ) as told:
        gp.fit(table[["x"]], **columns)
    assert "Anna" not in str(told.value)
    assert not hasattr(gp, "spent_")
    assert not hasattr(gp, "model_")


def test_other_rows_are_refused_where_both_are_labelled():
    with pytest.raises(RefusedError, match="other rows than `X`"):
        regressor().fit(TABLE[["x"]].set_axis(range(5, ROWS + 5)), NAMED["y"])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (NAMED[["x"]], NAMED["y"]),
        (TABLE[["x"]], NAMED["y"]),  # as arrays that were made a frame
        (NAMED[["x"]].iloc[::-1], TABLE["y"]),
        (shuffled(TABLE)[["x"]], shuffled(TABLE)["y"]),
        (shuffled(TABLE)[["x"]], shuffled(TABLE)["y"].to_numpy()),
        (TABLE[["x"]].to_numpy(), shuffled(TABLE)["y"]),
        (TABLE[["x"]], list(TABLE["y"])),
        (pl.from_pandas(TABLE[["x"]]), pl.from_pandas(TABLE["y"])),
        (TABLE[["x"]].set_axis([0] * ROWS), TABLE["y"].set_axis([0] * ROWS)),
    ],
)
def test_rows_with_the_same_labels_or_none_are_taken_as_they_stand(X, y):
    assert regressor().fit(X, y).n_features_in_ == 1


def test_comparisons_with_observations_are_refused_alike():
    X, y = TABLE[["x"]], shuffled(TABLE["y"])
    gp = regressor().fit(X, TABLE["y"])
    sorts = PrivateGPClassifier(1.0, 1e-5, classes=(0, 1), **SMALL).fit(X, (TABLE["x"] > 0.5) * 1)
    for compared in (gp.score, gp.z_score, gp.log_predictive_density, gp.model_.score):
        with pytest.raises(RefusedError, match="in another order"):
            compared(X, y)
    with pytest.raises(RefusedError, match="in another order"):
        sorts.score(X, (y > 0.5) * 1)
