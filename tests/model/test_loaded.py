"""A loaded model is what was saved: it answers as the estimator does, to columns by their names."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import dpgp
from dpgp.model.fitted import FittedClassifier, FittedModel

sys.path.insert(0, str(Path(__file__).parents[1] / "verify"))

from model_kinds import counts, levels, regression, yes_no

SEEDED = {"random_state": 3, "n_jobs": 1}
KINDS = {
    "one input": lambda: regression(300, 1, **SEEDED),
    "two inputs": lambda: regression(300, 2, stages=2, **SEEDED),
    "five inputs": lambda: regression(300, 5, stages=2, **SEEDED),
    "two targets": lambda: regression(400, 2, 2, stages=1, **SEEDED),
    "people come and go": lambda: regression(
        400, 1, units=2, neighbours="add-remove", max_rows_per_unit=2, missing="ignore", **SEEDED
    ),
    "categories": lambda: levels(**SEEDED),
    "a count": lambda: counts(**SEEDED),
    "yes and no": lambda: yes_no(1, **SEEDED),
    "yes and no of five inputs": lambda: yes_no(5, stages=2, **SEEDED),
}
CLASSES = [name for name in KINDS if name.startswith("yes")]
NUMBERS = [name for name in KINDS if name not in CLASSES]


@cache
def estimator(name):
    return KINDS[name]()


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    @cache
    def load(name):
        path = tmp_path_factory.mktemp("saved") / "model.json"
        estimator(name).save(path)
        return dpgp.load(path)

    return load


def points(name):
    """Rows inside and outside the bounds, as the estimator takes them."""
    gp, rng = estimator(name), np.random.default_rng(0)
    if name == "categories":
        return pd.DataFrame({"region": ["west", "north"], "member": ["no", "yes"], "age": [0.2, 2]})
    return rng.uniform(-0.2, 1.2, (9, gp.n_features_in_))


def same(ours, theirs):
    """Compare whatever methods return, to the last bit."""
    if isinstance(ours, tuple):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs, strict=True):
            same(*pair)
    elif hasattr(ours, "to_dict"):
        assert ours.to_dict() == theirs.to_dict()
    elif isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype
        assert_array_equal(ours, theirs)
    else:
        assert ours == theirs


OF_NUMBERS = {
    "mean": lambda gp, X: gp.predict(X, return_std=True),
    "function": lambda gp, X: gp.predict(X, return_std=True, latent=True),
    "covariance": lambda gp, X: gp.predict(X, return_cov=True),
    "interval": lambda gp, X: gp.predict_interval(X, 0.8),
    "interval of f": lambda gp, X: gp.predict_interval(X, latent=True),
    "quantiles": lambda gp, X: gp.predict_quantile(X),
    "z-scores": lambda gp, X: gp.z_score(X, 0.9 * gp.predict(X)),
    "functions": lambda gp, X: gp.sample_y(X, 3, random_state=5),
    "draws": lambda gp, X: gp.sample_y(X, 3, random_state=5, latent=False),
    "density": lambda gp, X: gp.log_predictive_density(X, gp.predict(X)),
    "score": lambda gp, X: gp.score(X, 0.9 * gp.predict(X) + 0.1),
}
OF_CLASSES = {
    "classes": lambda gp, X: gp.classes_,
    "labels": lambda gp, X: gp.predict(X),
    "probabilities": lambda gp, X: gp.predict_proba(X),
    "intervals": lambda gp, X: gp.predict_proba_interval(X, 0.8),
    "log odds": lambda gp, X: gp.decision_function(X),
    "score": lambda gp, X: gp.score(X, ["ill"] * len(X)),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_loaded_model_answers_as_the_estimator_did(name, loaded):
    gp, model, X = estimator(name), loaded(name), points(name)
    for ask in (OF_NUMBERS if name in NUMBERS else OF_CLASSES).values():
        same(ask(model, X), ask(gp, X))
    column = len(model.input_names) - 1  # never a category
    same(model.slope(column, X[:2], target=0), gp.slope(column, X[:2], target=0))
    same(model.contrast(X[:1], X[1:2], target=0), gp.contrast(X[:1], X[1:2], target=0))
    for ask in ("average", "importance", "interactions", "explained"):
        same(getattr(model, ask)(target=0), getattr(gp, ask)(target=0))


@pytest.mark.parametrize("name", KINDS)
def test_what_the_estimator_can_do_a_loaded_model_can(name, loaded):
    ours = {each for each in dir(type(loaded(name))) if not each.startswith("_")}
    theirs = {each for each in dir(type(estimator(name))) if not each.startswith("_")}
    theirs = {each for each in theirs if not each.endswith("_request")}
    of_fits = {"fit", "get_params", "set_params", "get_metadata_routing"}
    without_underscore = {"certificate_", "health_", "input_density_", "posterior_", "release_"}
    assert theirs - ours == of_fits | without_underscore


def test_only_models_of_classes_have_probabilities(loaded):
    for name in KINDS:
        model = loaded(name)
        assert isinstance(model, FittedModel)
        assert isinstance(model, FittedClassifier) == (name in CLASSES)
        for method in ("predict_proba", "predict_proba_interval", "classes_", "decision_function"):
            assert hasattr(model, method) == (name in CLASSES)


def test_labels_are_those_that_were_named(loaded):
    model = loaded("yes and no")
    assert model.classes_.tolist() == ["well", "ill"]
    assert model.predict([[0.05], [0.95]]).tolist() == ["well", "ill"]
    assert model.predict_proba([[0.95]]).sum() == 1.0


TABLE = {
    "age": [0.2, 0.9],
    "region": ["west", "north"],
    "note": ["a", "b"],
    "member": ["no", "yes"],
}
TABLES = {
    "pandas": pd.DataFrame,
    "Arrow": pa.table,
    "a batch of Arrow": pa.RecordBatch.from_pydict,
    "dict": dict,
}


@pytest.mark.parametrize("kind", [*TABLES, "polars"])
def test_columns_are_taken_by_name_in_any_order_and_others_ignored(kind, loaded):
    make = pytest.importorskip("polars").DataFrame if kind == "polars" else TABLES[kind]
    model, table = loaded("categories"), make(TABLE)
    ordered = pd.DataFrame(TABLE)[["region", "member", "age"]]
    expected = estimator("categories").predict(ordered)
    assert_array_equal(model.predict(table), expected)
    assert_array_equal(model.predict(ordered.to_numpy(dtype=object)), expected)
    same(model.contrast(table, table), estimator("categories").contrast(ordered, ordered))


def test_the_estimator_keeps_to_the_custom_of_scikit_learn():
    gp, table = estimator("categories"), pd.DataFrame(TABLE)
    for ask in (gp.predict, gp.predict_interval, gp.predict_quantile, lambda X: gp.contrast(X, X)):
        with pytest.raises(ValueError, match="feature names should match those that were passed"):
            ask(table[["age", "region", "member"]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": "Age"}, "no column 'age'; did you mean 'Age'\\? Its columns are 'Age', 'region'"),
        ({"member": "groups"}, "no column 'member'; its columns are 'age', 'region', 'note'"),
        (
            {"age": "AGE", "region": "area", "member": "in"},
            "no column 'region'; it must have the columns 'region', 'member', 'age'",
        ),
        ({"age": "17.5"}, "no column 'age'; it must have the columns 'region', 'member', 'age'"),
        ({"note": "age"}, "several columns 'age'; rename all but one"),
    ],
    ids=["nearest", "others", "none", "a row", "twice"],
)
def test_a_missing_column_is_named_with_the_nearest(change, words, loaded):
    table = pd.DataFrame(TABLE).rename(columns=change)
    with pytest.raises(ValueError, match=words):
        loaded("categories").predict(table)


def test_the_nearest_is_named_though_no_other_column_is_there(loaded):
    table = pd.DataFrame({"Region": ["west"], "group": ["yes"], "years": [0.5]})
    with pytest.raises(ValueError, match=r"no column 'region'; did you mean 'Region'\?$"):
        loaded("categories").predict(table)


def test_a_model_without_names_takes_columns_as_they_come(loaded):
    model, X = loaded("two inputs"), points("two inputs")
    assert_array_equal(model.predict(pd.DataFrame(X, columns=["b", "a"])), model.predict(X))
    with pytest.raises(ValueError, match="does not know the names of its inputs"):
        model.predict({"a": X[:, 0], "b": X[:, 1]})
    with pytest.raises(ValueError, match="rows are equally long"):
        loaded("categories").predict({**TABLE, "age": 0.5})
