"""Fits whose steps ask parts of the rows: sources, neighbours, certificates, files and ledgers."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpgp
from dpgp.audit.replay import Recorder, Replay, distance
from dpgp.audit.tables import MadeUpTable
from dpgp.choices import Passes
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.inference.many import plan
from dpgp.inference.many.plan import Deal
from dpgp.json_document import digest
from dpgp.ledger.account import Cost
from dpgp.model.file import ModelFileError
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.noise import SimulatedNoise
from dpgp.privacy.parts import Dealing, DealtPart, RowPart
from dpgp.private.files import open_files
from dpgp.private.fit import fit_rows
from dpgp.private.row_reader import RowReader
from dpgp.private.rows import Rows
from dpgp.private.source import PartOfRows
from dpgp.private.sums import exact_gram
from dpgp.private.table_rows import TableRows, part_sum
from dpgp.private.wall import Wall
from dpgp.sites.masks import JointNoise
from dpgp.steps import Purse, planned_steps
from dpgp.steps.base import CountQuery, HistogramQuery
from dpgp.verify import shares, verify

LEAST, LAST = 100.0, 2
"""From nμ = 100 on, and all but two stages, so that a fit of few rows deals."""

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (900, 3))
Y = np.sin(3 * X[:, 0]) * X[:, 1] / 2 + 0.1 * RNG.normal(size=900)
OPTIONS = Options.parse(
    box=Box.from_bounds((-1, 1), 3),
    target_box=Box.from_bounds((-1, 1), 1),
    epsilon=3.0,
    delta=1e-6,
)
DEALING = Dealing.drawn(SimulatedNoise(3))
FEATURES = BoxFeatures(UnitInputs(OPTIONS.box), LinearFeatures(3))


@pytest.fixture
def dealt(monkeypatch):
    monkeypatch.setattr(plan, "DEALT_FROM", LEAST)
    monkeypatch.setattr(plan, "DEAL", Deal(LAST, 0.3))
    monkeypatch.setattr(shares, "DEALT_FROM", LEAST)
    monkeypatch.setattr(shares, "LAST_STAGES", LAST)


ASKED = {
    "bounds": [(-1, 1)] * 3,
    "target_bounds": (-1, 1),
    "epsilon": 3.0,
    "delta": 1e-6,
}


def regressor(**asked):
    return dpgp.PrivateGPRegressor(**(ASKED | asked))


# --- sources --------------------------------------------------------------------------------------


def rows_of(X=X, Y=Y):
    return Rows(X, Y[None], np.ones(len(X), dtype=bool))


def part_grams(rows, of=4):
    parts = (DealtPart(RowPart(number, of), DEALING) for number in range(1, of + 1))
    return [exact_gram(PartOfRows(rows, part), FEATURES) for part in parts]


def test_parts_add_up_to_all_rows():
    grams = part_grams(rows_of())
    assert np.array_equal(sum(grams), exact_gram(rows_of(), FEATURES))
    assert all(gram.any() for gram in grams)


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame(np.column_stack([X, Y]), columns=["a", "b", "c", "y"])
    frame[:250].to_csv(tmp_path / "1.csv", index=False)
    frame[250:600].to_csv(tmp_path / "2.csv", index=False)
    frame[600:].to_parquet(tmp_path / "3.parquet", row_group_size=77)
    reader = RowReader(("a", "b", "c"), ("y",), None, OPTIONS)
    return TableRows.opened(open_files(tmp_path), reader)


@pytest.mark.parametrize("of", [1, 4, 200])
def test_files_have_the_parts_of_arrays(table, of):
    for found, expected in zip(part_grams(table, of), part_grams(rows_of(), of), strict=True):
        assert np.array_equal(found, expected)


def test_workers_that_read_a_file_each_have_the_parts_of_arrays(table):
    part = DealtPart(RowPart(2, 3), DEALING)

    class Question:
        def partial(self, batches):
            return [row for batch in batches for row in batch.targets[0].tolist()]

    found = [part_sum(Question(), part, file) for file in table.files]
    expected = Y[DEALING.holds(part.part, 0, len(Y))]
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_how_many_rows_a_part_has_is_not_told():
    with pytest.raises(TypeError, match="secret"):
        len(PartOfRows(rows_of(), DealtPart(RowPart(1, 2), DEALING)))


def test_the_wall_deals_no_rows_of_people():
    people = replace(OPTIONS, per_person=True)
    books = Books(3.0, 1e-6, people.neighbours)
    for asked, dealing in ((people, DEALING), (OPTIONS, None)):
        wall = Wall(rows_of(), asked, books, SimulatedNoise(0), dealing=dealing)
        with pytest.raises(ValueError, match="ask all rows"):
            wall.release(CountQuery(), 0.1, "count", RowPart(1, 2))
    assert not books.releases


def test_a_site_deals_by_its_own_key():
    own = SimulatedNoise(5)
    joint = JointNoise(SimulatedNoise(5), 2, 2, lambda totals, scales: totals)
    assert Dealing.drawn(joint) == Dealing.drawn(own)


# --- neighbours -----------------------------------------------------------------------------------


def moved_by(place, x, y):
    """Yield every release of a fit, and how far replacing one row moves it, in its noise."""
    recorder = Recorder(SimulatedNoise(1))
    booked = fit_rows(table_of(X, Y), OPTIONS, recorder).certificate.releases
    other_X, other_Y = X.copy(), Y.copy()
    other_X[place], other_Y[place] = x, y
    replay = Replay(recorder.answers, recorder.uniforms)
    assert fit_rows(table_of(other_X, other_Y), OPTIONS, replay).certificate.releases == booked
    for release, totals, answer in zip(booked, replay.totals, recorder.answers, strict=True):
        yield release, distance(totals, answer.totals, answer.scales)


def table_of(X, Y):
    return MadeUpTable(X, Y[:, None]).rows(OPTIONS)


@pytest.mark.parametrize("place", [0, 17, 400])
def test_a_row_moves_what_all_rows_and_its_own_part_are_asked_and_nothing_else(dealt, place):
    found = list(moved_by(place, np.full(3, 0.99), -1.0 if Y[place] > 0 else 1.0))
    parts = {release.part for release, moved in found if release.part and moved > 0.0}
    assert len(parts) <= 1
    assert len({release.part for release, _ in found if release.part}) > 4
    assert all(moved <= release.mu for release, moved in found)
    mu = Books(3.0, 1e-6, OPTIONS.neighbours).mu
    assert math.hypot(*(moved for _, moved in found)) <= mu
    assert any(moved > 0.0 for release, moved in found if release.part is None)


def test_every_row_is_asked_by_one_step_of_parts(dealt):
    whole = regressor(random_state=0).fit(X, Y).certificate_.releases
    of = {release.part.of for release in whole if release.part}
    assert len(of) == 1
    numbers = [release.part.number for release in whole if release.part]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def halves():
    return HistogramQuery(lambda inputs, targets: inputs[:, :1].T, 1, np.zeros(1), np.zeros(3))


def test_a_row_of_the_dearest_part_pays_the_whole_budget():
    part = next(part for part in (RowPart(1, 2), RowPart(2, 2)) if DEALING.holds(part, 0, 1)[0])
    recorder, other = Recorder(SimulatedNoise(0)), X.copy()
    other[0, 0] = -X[0, 0]  # to the other bin

    def ask(rows, source):
        books = Books(3.0, 1e-6, OPTIONS.neighbours)
        wall = Wall(rows, OPTIONS, books, source, dealing=DEALING)
        for number in (1, 2):
            wall.release(halves(), 0.3, f"part {number}", RowPart(number, 2))
        wall.release(halves(), 0.7, "all")
        return books

    books = ask(rows_of(), recorder)
    replay = Replay(recorder.answers)
    ask(rows_of(other), replay)
    moved = [
        distance(totals, answer.totals, answer.scales)
        for totals, answer in zip(replay.totals, recorder.answers, strict=True)
    ]
    assert moved[2 - part.number] == 0.0  # of the part that the row is not in
    assert math.hypot(*moved) == pytest.approx(books.mu, rel=1e-9)
    assert math.hypot(*moved) <= books.mu


# --- calibration alone ----------------------------------------------------------------------------


@pytest.fixture
def calibrates_in_part(monkeypatch):
    monkeypatch.setattr(plan, "CALIBRATION_SIGNAL", LEAST)
    monkeypatch.setattr(shares, "CALIBRATION_SIGNAL", LEAST)


def test_calibration_asks_a_part_where_stages_ask_all_rows(calibrates_in_part, tmp_path):
    path = tmp_path / "model.json"
    model = regressor().fit(X, Y)
    *others, last = model.certificate_.releases
    of = int(900 * model.certificate_.mu / LEAST)
    assert (last.label, last.part) == ("residual histograms", RowPart(1, of))
    assert all(release.part is None for release in others)
    assert f"one of {of} parts of the rows" in " ".join(dpgp.plan(n=900, **ASKED).why)
    model.save(path)
    assert [finding for finding in verify(path) if not finding.holds] == []


def test_a_stranger_finds_a_calibration_by_other_rows(calibrates_in_part, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    regressor().fit(X, Y).save(path)
    monkeypatch.setattr(shares, "CALIBRATION_SIGNAL", 1e9)
    wrong = {finding.question for finding in verify(path) if not finding.holds}
    assert "every release is its step's query" in wrong


@pytest.mark.parametrize(("changes", "rows"), [({"passes": Passes.ALL}, 900), ({}, None), ({}, 90)])
def test_all_rows_calibrate_where_they_are_few_or_secret(calibrates_in_part, changes, rows):
    asked = replace(OPTIONS, **changes)
    assert not any(step.part for step in planned_steps(Purse(asked, 1.0, rows)))
    assert any(step.part for step in planned_steps(Purse(OPTIONS, 1.0, 900)))


# --- what is said of it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "rows", "mu"),
    [
        ({"passes": Passes.ALL}, 900, 1.0),
        ({"stages": (1.0, 2.0)}, 900, 1.0),
        ({"box": Box.from_bounds((-1, 1), 2)}, 900, 1.0),
        ({}, None, 1.0),  # their number is private
        ({}, 900, math.inf),
        ({}, 90, 1.0),
    ],
)
def test_parts_are_asked_where_rows_are_many_and_their_number_is_public(dealt, changes, rows, mu):
    def asks(asked, rows, mu):
        return any(step.part for step in planned_steps(Purse(asked, mu, rows)))

    assert asks(OPTIONS, 900, 1.0)
    assert not asks(replace(OPTIONS, **changes), rows, mu)


@pytest.mark.parametrize(
    "asked", [{"neighbours": "add-remove"}, {"missing": "ignore"}, {"per_person": True}]
)
def test_no_number_of_rows_is_public_where_one_row_may_change_it(asked):
    given = {"box": OPTIONS.box, "target_box": OPTIONS.target_box, **asked}
    assert not Options.parse(**given).row_count_is_public


def test_nobody_deals_few_rows():
    planned = dpgp.plan(n=10_000, bounds=[(0, 1)] * 4, target_bounds=(0, 1), epsilon=1.0)
    assert not any("parts of the rows" in line for line in planned.why)


def test_plans_and_certificates_say_which_rows_are_asked(dealt):
    planned = dpgp.plan(n=900, **ASKED)
    assert any("parts of the rows each, for which a row pays once" in line for line in planned.why)
    assert planned.forecast.rmse > 0.0
    model = regressor(random_state=0).fit(X, Y)
    assert "stage 1, part 1 of " in str(model.certificate_)
    assert any("residual histograms, part " in row[0] for row in model.certificate_.rows())


def rewritten(path, document):
    document.pop("digest")
    document["digest"] = digest(document)
    path.write_text(json.dumps(document))
    return {finding.question for finding in verify(path) if not finding.holds}


def test_a_stranger_recomputes_what_the_dearest_part_pays(dealt, tmp_path):
    path = tmp_path / "model.json"
    model = regressor().fit(X, Y)
    model.save(path)
    assert [finding for finding in verify(path) if not finding.holds] == []
    assert dpgp.load(path).certificate.releases == model.certificate_.releases
    document = json.loads(path.read_text())
    dealt = [each for each in document["guarantee"]["releases"] if "part" in each]
    dealt[0]["part"] = dealt[1]["part"]  # two stages about the same rows
    wrong = rewritten(path, document)
    assert "every release is its step's query" in wrong
    assert "μ is the root of the sum of squares" in wrong
    with pytest.raises(ModelFileError, match="cost more"):
        dpgp.load(path)


def test_a_stranger_finds_parts_that_nobody_should_have_dealt(dealt, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    regressor().fit(X, Y).save(path)
    monkeypatch.setattr(shares, "DEALT_FROM", 1e9)
    wrong = {finding.question for finding in verify(path) if not finding.holds}
    assert "every step has its share of the budget" in wrong


def test_a_ledger_counts_what_the_dearest_part_pays(dealt, tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger = dpgp.Ledger(path, epsilon=3.0, delta=1e-6)
    model = regressor(ledger=ledger).fit(X, Y)
    assert Cost.of_fit(model.certificate_.releases).mu == model.certificate_.mu
    ledger.check()
    assert ledger.spent_epsilon == pytest.approx(3.0, rel=1e-6)
    (closed,) = [each for each in ledger.records() if hasattr(each, "outcome")]
    assert [each.part for each in closed.releases] == [
        each.part for each in model.certificate_.releases
    ]
