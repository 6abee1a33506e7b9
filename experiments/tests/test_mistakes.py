"""Forty wrong ways to ask and more: none is silent, and nothing that is said is private."""

import numpy as np
import pytest

from dpgp_experiments.mistake_list import CITIES, MISTAKES, Mistake, people
from dpgp_experiments.mistakes import WhatWasSaid, When, _draw, _table, made

SEED = 0
TABLE = people(SEED)
SECRETS = [
    *CITIES,
    *TABLE["seen"][:50],
    *map(str, TABLE[["age", "weight", "pressure"]][:50].stack()),
]
DECLARED = {"one of three cities forgotten, other cells ignored": CITIES[:2]}

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def test_there_are_more_than_forty_of_them():
    assert len({(mistake.kind, mistake.what) for mistake in MISTAKES}) == len(MISTAKES) > 40


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_no_mistake_is_silent(mistake):
    told = made(mistake, SEED)
    assert told.when is not When.SILENT
    assert told.first
    if told.when is When.REFUSED:
        assert told.epsilon == 0.0
    if told.when is When.ENDED:
        assert 0.0 < told.epsilon < 0.2
    said = " ".join(told.said)
    hidden = set(SECRETS) - set(DECLARED.get(mistake.what, ()))
    assert not [secret for secret in hidden if secret in said]


def test_what_is_right_is_silent():
    right = Mistake("", "nothing", lambda desk: desk.regress(desk.table, "age", "weight"))
    told = made(right, SEED)
    assert (told.when, told.said) == (When.SILENT, ())
    assert told.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("do", "when", "words"),
    [
        (lambda desk: desk.regress(desk.table, epsilon="1"), When.REFUSED, "must be a number"),
        (lambda desk: desk.classify(desk.table, classes=(2, 3)), When.ENDED, "can be used"),
        (lambda desk: desk.command(""), When.REFUSED, "the table is empty"),
        (lambda desk: desk.command(desk.table, "--target", "high:0:1"), When.BEFORE, "yes or no"),
        (lambda desk: desk.regress(desk.table, y=np.full(8000, 120.0)), When.AFTER, "hundredth"),
    ],
    ids=["Python refuses", "ends early", "command refuses", "command warns", "health"],
)
def test_it_is_heard_when_and_what_is_said(do, when, words):
    told = made(Mistake("", "", do), SEED)
    assert told.when is when
    assert words in told.first


def test_the_table_counts_and_the_figure_shows():
    told = WhatWasSaid(Mistake("kind", "a mistake", print), When.REFUSED, ("No. Not so.",), 0.0)
    table = _table([told])
    assert "1 refused" in table.caption
    assert table.rows == [["a mistake", "refused", "0", "No."]]
    assert _draw([told]).axes
