"""Rows that could not be used, and rows and events that are too few, are told after a fit."""

import json

import numpy as np
import pandas as pd
import pytest

from dpgp import PrivateGPClassifier, PrivateGPRegressor, load
from dpgp.checked_values import ModelFileError
from dpgp.planning.setting import FewRowsWarning
from dpgp.report.rows_health import cut_weights, few_events, few_rows, unusable_rows

N = 3000
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"age": RNG.uniform(20.0, 80.0, N), "sex": RNG.choice(["Male", "Female"], N)})
PRESSURE = 100.0 + 0.5 * TABLE["age"] + RNG.normal(0.0, 10.0, N)
HIGH = (PRESSURE > 130.0).astype(int).rename("high")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def regressed(levels=None, table=TABLE, y=PRESSURE, **options):
    columns = ["age", "sex"] if levels else ["age"]
    gp = PrivateGPRegressor(
        1.0, 1e-6, bounds={"age": (20, 80)}, target_bounds=(60, 220),
        categories={"sex": levels} if levels else None, random_state=0, **options,
    )  # fmt: skip
    return gp.fit(table[columns], y).model_


def classified(classes, y=HIGH, **options):
    gp = PrivateGPClassifier(
        1.0, 1e-6, bounds={"age": (20, 80)}, classes=classes, random_state=0, **options
    )
    return gp.fit(TABLE[["age"]], y).model_


@pytest.fixture(scope="module")
def half_spelt():
    return regressed(["Male", "female"], missing="ignore")


def test_half_of_the_levels_misspelt_are_told_by_column(half_spelt):
    first, *_ = half_spelt.health
    assert first.startswith(("About 50% of the 3,000 rows", "About 49%", "About 51%"))
    assert "cells of column 'sex' are one of its declared levels (Male, female)" in first
    assert "Female" not in first.replace("(Male, female)", "")


def test_a_class_misspelt_is_told_too():
    found = unusable_rows(classified((0, "yes")))
    assert "the others have none of the classes of 'high' (0, yes)" in found


def test_incomplete_rows_are_no_matter_of_spelling():
    age = TABLE["age"].where(np.arange(N) % 2 == 0)
    found = unusable_rows(regressed(table=TABLE.assign(age=age), missing="ignore"))
    assert "leave out columns that are mostly empty" in found
    assert "spelling" not in found


@pytest.mark.parametrize(
    "model",
    [
        lambda: regressed(["Male", "Female"], missing="ignore"),
        lambda: regressed(["Male", "Female"]),
        lambda: classified((0, 1)),
        lambda: regressed(y=PRESSURE.where(np.arange(N) % 10 > 0), missing="ignore"),
    ],
    ids=["levels", "complete", "classes", "a tenth is missing"],
)
def test_a_usual_table_is_told_nothing(model):
    fitted = model()
    assert (unusable_rows(fitted), few_rows(fitted), few_events(fitted)) == (None, None, None)


def test_rare_events_are_told_by_their_average_probability():
    found = few_events(classified((0, 1), y=(np.arange(N) % 300 == 0).astype(int)))
    assert found.startswith("Events are too few: about ")
    assert found.endswith("less rare.")


@pytest.mark.parametrize(("epsilon", "rows"), [(0.01, N), (1.0, 20), (0.1, 200)])
def test_few_rows_are_no_fault_of_units_and_bounds(epsilon, rows):
    gp = PrivateGPRegressor(
        epsilon, 1e-6, bounds={"age": (20, 80)}, target_bounds=(60, 220),
        categories={"sex": ["Male", "Female"]}, random_state=0,
    )  # fmt: skip
    with pytest.warns(FewRowsWarning):
        found = gp.fit(TABLE[:rows], PRESSURE[:rows]).health_
    assert not any("unit" in sentence for sentence in found)


@pytest.mark.parametrize(
    ("weights", "bound", "cut"),
    [
        (np.ones(N), 1.0, True),  # nobody is cut, and rows count alike
        (1000.0 * RNG.lognormal(size=N), 5.0, True),  # of mean 1,000 and a bound for those of one
        (np.where(np.arange(N) % 20, 8.0, 0.0), 5.0, True),
        (RNG.lognormal(size=N), 5.0, False),
        (RNG.uniform(0.6, 1.0, N), 1.0, False),
        (np.ones(N), 2.0, False),  # half of the rows' weight is lost, but none is cut
    ],
)
def test_weights_that_are_cut_to_their_bound_are_told(weights, bound, cut):
    gp = PrivateGPRegressor(
        1.0, 1e-6, bounds={"age": (20, 80)}, target_bounds=(60, 220), weight_bound=bound,
        features="linear", stages=1, random_state=0,
    )  # fmt: skip
    model = gp.fit(TABLE[["age"]], PRESSURE, sample_weight=weights).model_
    assert (cut_weights(model) is not None) == cut
    assert not cut or f"about {bound:g}, the bound of weights" in cut_weights(model)


def test_few_rows_are_told_where_their_number_is_private():
    model = regressed(table=TABLE[:40], y=PRESSURE[:40], neighbours="add-remove")
    assert "no choice beats predicting the mean" in few_rows(model)


def test_a_file_keeps_the_counts_and_refuses_others(half_spelt, tmp_path):
    path = tmp_path / "model.json"
    half_spelt.save(path)
    assert load(path).health == half_spelt.health
    document = json.loads(path.read_text())
    found = document["findings"]["number of rows"]
    for wrong in (5, {}, found | {"told": 0}, found | {"cells": 3}, found | {"usable": "x"}):
        document["findings"]["number of rows"] = wrong
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match="number of rows"):
            load(path)
