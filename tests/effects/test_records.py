"""Answers read well, and repeat names as text."""

import pickle

import numpy as np
import pytest
from effect_models import fitted
from sklearn.exceptions import NotFittedError

import dpgp
from dpgp import PrivateGPRegressor
from dpgp.effects.records import MOST_ROWS, Effect, Importance, Interactions, Range, Share, percent

AWKWARD = "<b>a & b</b>"


def effect(rows):
    values = np.arange(float(rows))
    return Effect("Average of y", 0.9, {AWKWARD: values}, values, values, values, values)


def test_a_table_to_read():
    lines = repr(effect(2)).splitlines()
    assert lines[0] == "Average of y"
    assert lines[1].split() == ["<b>a", "&", "b</b>", "mean", "std", "lower", "upper"]
    assert lines[2].split() == ["0"] * 5
    assert lines[-1].startswith("Intervals of 90 % each")


def test_long_tables_are_cut():
    text = repr(effect(MOST_ROWS + 5))
    assert "… and 5 more rows" in text
    assert len(effect(MOST_ROWS + 5).to_dict()["mean"]) == MOST_ROWS + 5


def test_names_are_escaped_in_notebooks():
    html = effect(2)._repr_html_()
    assert AWKWARD not in html
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in html


def test_shares_are_told_in_per_cent():
    assert [percent(x) for x in (0.0, 0.004, 0.0996, 0.5, 1.0)] == [
        "0.0 %",
        "0.4 %",
        "10 %",
        "50 %",
        "100 %",
    ]
    share = Share(0.25, 0.04, 0.3)
    importance = Importance("y", Range(2.0, 1.5, 2.5), ["a"], [share], [Share(0.2, 0.0, 0.3)])
    assert "a   25 %  4.0 to 30 %   20 %  0.0 to 30 %" in repr(importance)
    assert "standard deviation of 2 (1.5 to 2.5)" in repr(importance)
    assert importance.to_dict()["first_high"] == [0.3]


def test_pairs_that_do_nothing_together_are_not_listed():
    shares = [Share(0.2, 0.1, 0.3), Share(0.0, 0.0, 0.001)]
    interactions = Interactions("y", [("a", "b"), ("a", "c")], shares)
    assert "10 to 30 %" in repr(interactions)
    assert " c " not in repr(interactions)
    assert interactions.to_dict()["with"] == ["b", "c"]
    assert "No two" in repr(Interactions("y", [("a", "c")], shares[1:]))


def test_an_estimator_and_a_file_answer_as_the_model(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    gp = PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 2), stages=1, random_state=0)
    with pytest.raises(NotFittedError):
        gp.importance()
    gp.fit(X, X[:, 0])
    gp.save(tmp_path / "model.json")
    loaded = dpgp.load(tmp_path / "model.json")
    assert repr(gp.importance()) == repr(loaded.importance())
    assert repr(gp.interactions()) == repr(loaded.interactions())
    assert repr(gp.average({0: 0.3})) == repr(loaded.average({0: 0.3}))


def test_answers_can_be_kept():
    importance = fitted("one").importance()
    assert pickle.loads(pickle.dumps(importance)) == importance
