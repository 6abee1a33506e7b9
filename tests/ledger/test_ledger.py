import copy
import json
import math
import pickle
import re
import sqlite3
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_fits import X, Y, regressor
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from typer.testing import CliRunner

import dpgp
from dpgp import BudgetError, Ledger, LedgerError
from dpgp.cli import app
from dpgp.inference.few.target import TargetFit
from dpgp.ledger.account import Account, Cap, Cost, epsilon_that_fits
from dpgp.ledger.ledger import LedgerWarning
from dpgp.ledger.records import Closed, Opened, Other, Reserved, record_from_json, record_to_json
from dpgp.privacy.books import GaussianRelease, Spent, mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SecureNoise

UNITS = [str(k // 2) for k in range(len(X))]


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-5)


def mus(ledger):
    """What the fits of a ledger have released, fit by fit."""
    ends = [record for record in ledger.records() if isinstance(record, Closed)]
    return [Spent.by(end.releases).mu for end in ends]


def test_fits_compose_exactly_and_are_converted_once(ledger):
    gp = regressor(ledger, epsilon=1.0, delta=1e-5)
    certificates = [gp.fit(X, Y).certificate_ for _ in range(3)]
    mu = math.hypot(*(certificate.mu for certificate in certificates))
    assert ledger.account().worst().mu == pytest.approx(mu, rel=1e-12)
    assert ledger.spent_epsilon == pytest.approx(Spent(mu, 0.0, 0.0, 0.0).epsilon_at(1e-5))
    assert ledger.spent_epsilon < 3.0  # what simple addition would say
    ledger.check()


def test_a_fit_that_takes_all_fits_and_nothing_after_it(ledger):
    regressor(ledger, epsilon=3.0, delta=1e-5).fit(X, Y)
    assert ledger.spent_epsilon == pytest.approx(3.0)
    assert ledger.spent_epsilon <= 3.0
    with pytest.raises(BudgetError, match="nothing is left to spend on these people"):
        regressor(ledger, epsilon=1e-3, delta=1e-5).fit(X, Y)


def test_what_is_refused_names_what_would_fit_and_that_fits(ledger, monkeypatch):
    regressor(ledger, epsilon=2.5, delta=1e-5).fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(SecureNoise, "draw", lambda *_: pytest.fail("noise was drawn"))
        with pytest.raises(BudgetError, match=r"ε = 2\.5\d* of 3 is spent at δ = 1e-05") as caught:
            regressor(ledger, epsilon=2.0, delta=1e-6).fit(X, Y)
    fits = ledger.epsilon_left(1e-6)
    assert f"a fit of ε = {fits:g} at δ = 1e-06 would fit" in str(caught.value)
    assert not hasattr(caught.value, "__notes__")  # nothing was spent
    with pytest.raises(BudgetError):
        regressor(ledger, epsilon=fits * 1.02, delta=1e-6).fit(X, Y)
    regressor(ledger, epsilon=fits, delta=1e-6).fit(X, Y)
    ledger.check()


def test_five_folds_cost_five_fits(ledger):
    gp = regressor(ledger, epsilon=0.2)
    cross_val_score(gp, X, Y, cv=5)
    assert len(mus(ledger)) == 5
    assert ledger.account().worst().mu == pytest.approx(math.sqrt(5.0) * mus(ledger)[0])


def test_searches_and_workers_spend_from_the_same_file(ledger):
    search = GridSearchCV(regressor(str(ledger.path)), {"epsilon": [0.1, 0.2]}, cv=2, n_jobs=2)
    search.fit(X, Y)
    assert len(mus(ledger)) == 5  # two folds of two, and the refit


def test_copies_are_the_same_ledger(ledger):
    for copied in (copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger)), Ledger(ledger.path)):
        assert copied == ledger
        assert hash(copied) == hash(ledger)
    fitted = regressor(ledger).fit(X, Y)
    for gp in (clone(fitted), pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        gp.fit(X, Y)
    assert len(mus(ledger)) == 4


def failing(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(TargetFit, "add", fail)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()], ids=repr)
def test_an_orderly_failure_gives_back_what_was_not_drawn(ledger, monkeypatch, error):
    failing(error, monkeypatch)
    gp = regressor(ledger, epsilon=1.0, stages=[1.0, 9.0])
    with pytest.raises(type(error)):
        gp.fit(X, Y)
    (end,) = [record for record in ledger.records() if isinstance(record, Closed)]
    assert (end.outcome, [release.label for release in end.releases]) == ("failed", ["stage 1"])
    assert 0.0 < ledger.spent_epsilon < 0.5
    assert ledger.spent_epsilon == pytest.approx(gp.spent_[0].epsilon, rel=1.0)
    ledger.check()


def test_what_is_refused_before_the_first_release_costs_nothing(ledger):
    for options in ({"n_jobs": 0}, {"bounds": None}, {"epsilon": 1e-6}, {"epsilon": math.inf}):
        with pytest.raises(ValueError):  # noqa: PT011 - of many kinds
            regressor(ledger, **options).fit(X, Y)
    assert len(ledger.entries()) == 1


def test_a_fit_that_cannot_be_closed_keeps_its_model_and_all_that_it_reserved(ledger, monkeypatch):
    def fail(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(Ledger, "close", fail)
    with pytest.warns(LedgerWarning, match="all that it had reserved stays spent"):
        gp = regressor(ledger, epsilon=1.0, delta=1e-5).fit(X, Y)
    assert gp.predict(X).shape == (len(X),)
    assert ledger.spent_epsilon == pytest.approx(1.0)


def test_another_relation_or_unit_is_refused(ledger, tmp_path):
    with pytest.raises(LedgerError, match="neighbours replace, the fit about add-remove"):
        regressor(ledger, neighbours="add-remove").fit(X, Y)
    with pytest.raises(LedgerError, match="protects one row, the fit one person; name no units"):
        regressor(ledger).fit(X, Y, units=UNITS)
    people = Ledger(
        tmp_path / "people.ledger", 1.0, 1e-6, protects="person", neighbours="add-remove"
    )
    with pytest.raises(LedgerError, match="protects one person, the fit one row; name the units"):
        regressor(people, neighbours="add-remove").fit(X, Y)
    gp = regressor(people, neighbours="add-remove", max_rows_per_unit=2)
    gp.fit(X, Y, units=UNITS)
    assert len(mus(people)) == 1


def test_simulations_are_entered_marked_and_not_counted(ledger):
    regressor(ledger, random_state=0).fit(X, Y)
    regressor(ledger, random_state=0, epsilon=math.inf).fit(X, Y)
    assert [r.simulation for r in ledger.records() if isinstance(r, Reserved)] == [True, True]
    assert ledger.spent_epsilon == 0.0
    for command in ("show", "history"):
        said = CliRunner().invoke(app, ["ledger", command, str(ledger.path)]).output
        assert "NOT PRIVATE" in " ".join(said.split())
    ledger.check()


def test_disjoint_groups_are_composed_in_parallel(tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 1.0, 1e-6, disjoint=["north", "south"])
    north, south = ledger.partition("north"), ledger.partition("south")
    regressor(ledger, epsilon=0.5).fit(X, Y)
    half = ledger.spent_epsilon
    regressor(north, epsilon=0.5).fit(X, Y)
    regressor(south, epsilon=0.2).fit(X, Y)
    assert half == ledger.account().cap.spent(ledger.account().totals[None])
    assert half < south.spent_epsilon < north.spent_epsilon == ledger.spent_epsilon < 1.0
    assert south.epsilon_left() > north.epsilon_left() == ledger.epsilon_left()
    with pytest.raises(BudgetError):
        regressor(ledger, epsilon=0.9).fit(X, Y)
    with pytest.raises(BudgetError):
        regressor(north, epsilon=0.9).fit(X, Y)
    regressor(south, epsilon=0.75).fit(X, Y)
    assert pickle.loads(pickle.dumps(south)).group == "south"
    assert clone(regressor(south)).ledger == south
    ledger.check()


def test_groups_must_be_declared(ledger, tmp_path):
    with pytest.raises(LedgerError, match="declares disjoint"):
        ledger.partition("north")
    for names in (["a"], ["a", "a"], ["a", ""], "a", ["a\n", "b"]):
        with pytest.raises(ValueError, match=r"disjoint|column name"):
            Ledger(tmp_path / "other.ledger", 1.0, 1e-6, disjoint=names)
    assert not (tmp_path / "other.ledger").exists()


def test_a_ledger_is_opened_or_created_and_its_cap_stays(ledger, tmp_path):
    assert Ledger(ledger.path, 3.0, 1e-5) == ledger
    for cap in ({"epsilon": 4.0}, {"delta": 1e-6}, {"neighbours": "add-remove"}):
        with pytest.raises(LedgerError, match="another cap"):
            Ledger(ledger.path, **({"epsilon": 3.0, "delta": 1e-5} | cap))
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger(tmp_path / "none.ledger")
    with pytest.raises(LedgerError, match="there is no ledger"):
        regressor(str(tmp_path / "none.ledger")).fit(X, Y)
    for cap in [(0.0, 1e-5), (1.0, 0.0), (math.inf, 1e-5), (1e4, 1e-5), (1.0, None)]:
        with pytest.raises(ValueError, match=r"epsilon|delta|cap"):
            Ledger(tmp_path / "none.ledger", *cap)
    with pytest.raises(TypeError, match="`ledger` must be a path"):
        regressor(3).fit(X, Y)
    assert list(tmp_path.iterdir()) == [ledger.path]


def edited(path, statement, *values):
    with sqlite3.connect(path) as connection:
        for name in ("never_changed", "never_deleted"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, values)
        from dpgp.ledger.storage import SCHEMA

        for trigger in SCHEMA[1:]:
            connection.execute(trigger)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET text = replace(text, '0.1', '0.01') WHERE number = 1",
        "UPDATE entries SET text = replace(text, '3.0', '9.0') WHERE number = 0",
        "DELETE FROM entries WHERE number = 1",
        "UPDATE entries SET link = link || 'a' WHERE number = 3",
        "UPDATE entries SET number = 7 WHERE number = 4",
    ],
)
def test_an_edit_is_noticed(ledger, statement):
    gp = regressor(ledger)
    gp.fit(X, Y).fit(X, Y)
    edited(ledger.path, statement)
    for call in (ledger.check, ledger.account, lambda: gp.fit(X, Y)):
        with pytest.raises(LedgerError, match="does not continue the chain"):
            call()


def test_entries_cannot_be_changed_by_accident(ledger):
    with sqlite3.connect(ledger.path) as connection:
        for statement in ("DELETE FROM entries", "UPDATE entries SET text = ''"):
            with pytest.raises(sqlite3.DatabaseError, match="only added to"):
                connection.execute(statement)
    connection.close()


def test_a_head_that_was_kept_shows_what_was_cut_off(ledger):
    gp = regressor(ledger).fit(X, Y)
    head = ledger.head
    ledger.check(head)
    gp.fit(X, Y)
    ledger.check(head)
    edited(ledger.path, "DELETE FROM entries WHERE number > 1")
    ledger.check()
    with pytest.raises(LedgerError, match="does not hold this head"):
        ledger.check(head)


@pytest.mark.parametrize("content", [b"", b"not a ledger" * 99, b"SQLite format 3\0" + b"\0" * 999])
def test_other_files_are_no_ledgers(tmp_path, content):
    path = tmp_path / "s.ledger"
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        Ledger(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("word", [b" ON entries", b" KEY, text", b" BEGIN SELECT"])
def test_a_schema_that_is_no_text_is_refused(ledger, word):
    """SQLite quotes it in its message, and Python cannot decode that; a fuzzer found it."""
    damaged = ledger.path.read_bytes().replace(word, b"\xff" + word[1:])
    ledger.path.write_bytes(damaged)
    with pytest.raises(LedgerError):
        Ledger(ledger.path)


def test_other_databases_are_no_ledgers(tmp_path, ledger):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (number, text, link)")
    connection.close()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger(path)
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("CREATE VIEW more AS SELECT 1")
    connection.close()
    with pytest.raises(LedgerError, match="not a ledger"):
        ledger.check()


def release(mu, label="one"):
    return GaussianRelease(label, 1.0, 1.0 / mu, 10, 2.0**40)


RECORDS = [
    Opened(1.0, 1e-6, Neighbours.REPLACE, "row", ("a", "b")),
    Reserved("x", "a", math.inf, 1e-6, math.inf, 1e-15, ("one",), True),
    Closed("x", "failed", (release(0.1), release(0.2))),
    Other("mean", None, 0.5, 0.0),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: type(r).__name__)
def test_records_come_back(record):
    assert record_from_json(json.loads(json.dumps(record_to_json(record)))) == record


OPENED = Opened(1.0, 1e-6, Neighbours.REPLACE, "row", ())


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([RECORDS[3]], "begin with its cap"),
        ([OPENED, OPENED], "one cap"),
        ([OPENED, RECORDS[1]], "declares disjoint"),
        ([OPENED, Closed("x", "complete", ())], "not reserved"),
        ([RECORDS[0], *RECORDS[1:3], RECORDS[2]], "closed twice"),
        ([RECORDS[0], RECORDS[1], RECORDS[1]], "reserved twice"),
        (
            [
                OPENED,
                Reserved("x", None, 1.0, 1e-6, 0.1, 1e-15, (), False),
                Closed("x", "complete", (release(0.2),)),
            ],
            "more than it had reserved",
        ),
    ],
)
def test_records_that_contradict_each_other_are_refused(records, words):
    with pytest.raises(LedgerError, match=words):
        Account.of(records)


@given(st.floats(0.05, 20.0), st.floats(1e-9, 1e-3), st.lists(st.floats(1e-3, 1.0), max_size=6))
@settings(max_examples=60)
def test_what_is_within_the_cap_never_costs_more(epsilon, delta, shares):
    cap = Cap(epsilon, delta)
    total = math.fsum(shares) or 1.0
    costs = [Cost.gaussian(cap.mu * math.sqrt(s / total) * (1 - 1e-12), 1e-18) for s in shares]
    cost = sum(costs, Cost())
    assert cap.holds(cost)
    assert cap.spent(cost) <= epsilon
    assert not cap.holds(Cost.gaussian(math.nextafter(cap.mu, math.inf), 0.0))
    left = cap.mu_left(cost)
    assert cap.holds(cost + Cost.gaussian(left, 0.0))
    assert not cap.holds(cost + Cost.gaussian(left * (1 + 1e-12) + 1e-12, 0.0))
    fits = epsilon_that_fits(left, delta)
    assert fits == 0.0 or mu_of_guarantee(fits, delta) <= left


def test_refunds_are_exact():
    """What is given back leaves no trace of rounding."""
    opened = Account.of([OPENED])
    account = opened
    for k in range(50):
        account = account.after(Reserved(f"{k}", None, 1.0, 1e-6, 0.01 * (k + 1), 1e-15, (), False))
    for k in range(50):
        account = account.after(Closed(f"{k}", "failed", ()))
    assert account.totals == opened.totals
    assert account.costs()[0].squares == Fraction(0)


def test_other_mechanisms_are_composed_by_privacy_loss_distributions(ledger):
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    gp = regressor(ledger, epsilon=1.0, delta=1e-5).fit(X, Y)
    ledger.spend("mean income", epsilon=0.4, delta=1e-7)
    ledger.spend("count", epsilon=0.2)
    expected = pld.from_gaussian_mechanism(1.0 / gp.certificate_.mu)
    for pair in ((0.4, 1e-7), (0.2, 0.0)):
        expected = expected.compose(
            pld.from_privacy_parameters(common.DifferentialPrivacyParameters(*pair))
        )
    epsilon = expected.get_epsilon_for_delta(1e-5)
    assert ledger.spent_epsilon == pytest.approx(epsilon, rel=1e-6)
    assert epsilon < 1.6  # less than what addition says
    with pytest.raises(BudgetError, match=r"'too much' does not fit ") as caught:
        ledger.spend("too much", epsilon=2.9)
    fits = float(re.search(r"a fit of ε = (\S+) at", str(caught.value)).group(1))
    assert fits > 2.0
    regressor(ledger, epsilon=fits, delta=1e-5).fit(X, Y)
    ledger.check()


def test_an_odd_share_of_the_budget_is_not_lost_to_rounding(tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 1.0, 1e-6)
    assert ledger.epsilon_left() == 1.0
    mu = mu_of_guarantee(1.0, 1e-6)
    account = ledger.account()
    for k in range(3):
        account = account.after(
            Reserved(f"{k}", None, 1.0, 1e-6, mu / math.sqrt(3) * (1 - 1e-15), 0.0, (), False)
        )
    assert account.holds()
    assert account.mu_left() < 1e-6


def test_a_year_of_fits_is_read_in_a_moment(tmp_path):
    """Reading is linear in the number of entries."""
    records = [OPENED]
    for k in range(1000):
        records += [
            Reserved(f"{k}", None, 1.0, 1e-6, 1e-3, 1e-16, ("one",), False),
            Closed(f"{k}", "complete", (release(1e-3 * (1 - 1e-9)),)),
        ]
    account = Account.of(records)
    assert account.worst().mu == pytest.approx(math.sqrt(1000) * 1e-3)


def test_certificates_do_not_change_by_a_ledger(ledger):
    alone, booked = regressor(None, random_state=0), regressor(ledger, random_state=0)
    assert str(alone.fit(X, Y).certificate_) == str(booked.fit(X, Y).certificate_)
    assert np.array_equal(alone.predict(X), booked.predict(X))
    assert isinstance(dpgp.Ledger(ledger.path), Ledger)


@pytest.mark.parametrize("mu", [1e12, 1e150, 1.7e308])
def test_absurd_budgets_are_beyond_the_cap(mu):
    """Converting them to ε fails to converge, or overflows; a fuzzer found it."""
    account = Account.of([OPENED, Reserved("x", None, 1.0, 1e-6, mu, 0.0, (), False)])
    assert not account.holds()
    assert account.cap.spent(account.worst()) == math.inf
    assert account.mu_left() == 0.0
    mixed = account.after(Other("mean", None, 0.5, 0.0))
    assert mixed.cap.spent(mixed.worst()) == math.inf


def test_absurd_prices_take_no_memory(ledger):
    """Distributions of the privacy loss have a place for every 10⁻⁴ of ε."""
    cost = Cost(others=((1e9, 0.0), (0.5, 1e-9)))
    assert cost.epsilon_at(1e-5) == pytest.approx(1e9)
    assert (Cost.gaussian(1e6, 0.0) + Cost(others=((0.5, 0.0),))).epsilon_at(1e-5) > 1e9
    with pytest.raises(BudgetError):
        ledger.spend("everything", epsilon=1e9)
