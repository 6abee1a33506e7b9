"""How far a fit is: its steps, a share that never falls, and the time that is left."""

import io
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import rich.console
from rich.console import Console

import dpgp
from dpgp import progress
from dpgp.domain import Box
from dpgp.options import Options
from dpgp.privacy.parts import RowPart
from dpgp.progress import Journey, duration, every, told_of, watching
from dpgp.steps import KINDS, Purse, Stage, planned_steps

X = np.random.default_rng(0).uniform(0, 1, (40, 1))


def small(**changes):
    asked = {"bounds": (0, 1), "target_bounds": (0, 1), "stages": 2, "features": "linear"}
    return dpgp.PrivateGPRegressor(**asked | {"random_state": 1} | changes)


def test_the_steps_of_a_fit_are_named():
    shown = []
    with watching(Journey(shown.append)):
        small().fit(X, X[:, 0])
    small().fit(X, X[:, 0])  # nobody listens any more
    *stages, guard, last = shown
    assert stages == ["stage 1 of 2", "looking how residuals are spread", "stage 2 of 2"]
    assert "guard" in guard
    assert last == "calibrating intervals"


def test_every_step_has_an_effort():
    others = [kind for kind in KINDS if kind is not Stage]
    assert all(kind.effort > 0 for kind in others)
    assert Stage(0.1, 1, 2).effort > Stage(0.1, 1, 2, is_early=True).effort > 0


def test_stages_with_few_inducing_points_are_early_where_a_metric_is_learned():
    early = [[s.is_early for s in stages_of(columns) if isinstance(s, Stage)] for columns in (2, 5)]
    assert early == [[False] * 6, [True] * 4 + [False] * 7]


def stages_of(columns):
    box, target = (Box.from_bounds((-1, 1), size) for size in (columns, 1))
    options = Options.parse(box=box, target_box=target, epsilon=1.0, delta=1e-6)
    return planned_steps(Purse(options, 0.25, 100_000))


class Shares(Journey):
    """Notes the share at every batch."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def advance(self, rows):
        super().advance(rows)
        self.seen.append(self.share)


def test_the_share_of_a_fit_grows_to_one():
    journey = Shares()
    rows = np.random.default_rng(1).uniform(0, 1, (150_000, 1))
    with watching(journey):
        small(n_jobs=2).fit(rows, rows[:, 0])
    assert len(journey.seen) > 10
    assert journey.seen == sorted(journey.seen)
    assert 0 < journey.seen[0] < 0.2
    assert journey.seen[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(("rows", "times"), [(None, 1.0), (30_000, 1.0), (3_000_000, 40.6)])
def test_a_step_takes_as_long_as_it_has_rows_and_as_it_thinks(rows, times):
    planned = []
    journey = Journey()
    journey.plan = planned.extend
    stages = [replace(Stage(0.1, 1, 2), part=RowPart(1, 100)), Stage(0.9, 2, 2)]
    with watching(journey):
        assert list(told_of(stages, rows)) == stages
    assert planned == pytest.approx([0.6 + (times - 0.6) / 100, times])


def test_what_is_left_follows_from_the_efforts(monkeypatch):
    clock = iter([0.0, 0.0, 30.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    journey = Journey()
    journey.plan([1.0, 2.0, 1.0])
    journey.step("first")
    journey.step("second")
    journey.begin(2, 100)
    journey.advance(25)
    assert journey.share == pytest.approx(1.5 / 4)
    assert journey.seconds_left == pytest.approx(30.0 * 2.5 / 1.5)


def test_nothing_is_promised_before_it_is_known():
    journey = Journey()
    assert journey.share is None
    journey.begin(3, 40)  # a reading, not a fit
    journey.advance(10)
    assert journey.share is None
    assert journey.batches == 1
    journey.plan([1.0] * 100)
    journey.step("first")
    assert journey.seconds_left is None
    assert journey.words == "first, 0% done"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59, "59 s"), (61, "1 min"), (3599, "60 min"), (5400, "1.5 h")],
)
def test_times_as_people_say_them(seconds, words):
    assert duration(seconds) == words


def test_without_a_terminal_a_line_comes_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PAUSE", 0.01)
    with progress.working("Fitting"):
        small().fit(X, X[:, 0])
        time.sleep(0.05)
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("calibrating intervals, ") for line in lines)
    capsys.readouterr()
    with progress.working("Reading"):  # nothing to say
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_terminal_has_one_bar_over_the_whole_fit(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(
        rich.console, "Console", lambda **_: Console(file=screen, force_terminal=True, width=120)
    )
    monkeypatch.setattr(progress, "REFRESH", 0.001)
    with progress.working("Fitting"):
        small().fit(np.repeat(X, 2000, axis=0), np.repeat(X[:, 0], 2000))
        time.sleep(0.3)
    assert "Fitting: calibrating intervals" in screen.getvalue()
    assert "100%" in screen.getvalue()


def test_a_thread_that_ticks_ends_with_its_block():
    ticks = []
    with suppress(KeyError), every(0.001, lambda: ticks.append(1)):
        time.sleep(0.05)
        raise KeyError
    count = len(ticks)
    time.sleep(0.02)
    assert 0 < count == len(ticks)
