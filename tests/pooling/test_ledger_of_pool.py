"""A ledger is asked about the releases of a pooled model: entries, groups, and what adds up."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import dpgp
from dpgp import Ledger, PrivateGPRegressor, pool
from dpgp.cli import app
from dpgp.ledger.told_of import EVERYBODY
from dpgp.privacy.books import Spent

pytestmark = pytest.mark.filterwarnings("ignore")


def release(ledger=None, epsilon=1.0, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (400, 1))
    y = np.clip(X[:, 0] + 0.1 * rng.standard_normal(400), -1, 2)
    gp = PrivateGPRegressor(
        epsilon, 1e-6, bounds=(0, 1), target_bounds=(-1, 2), ledger=ledger, **options
    )
    return gp.fit(X, y).model_


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Return a ledger about everybody, two releases in it, and one that is not."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "people.ledger", epsilon=3.0, delta=1e-5)
    ledger.spend("a survey's mean", epsilon=0.2)
    return ledger, [release(ledger), release(ledger, 0.5, seed=1)], release(seed=2)


def test_what_somebody_in_both_has_spent_is_what_the_ledger_adds_up(shared):
    ledger, models, _ = shared
    told = ledger.told_of(pool(models).certificate)
    assert [each.number for each in told.releases] == [2, 4]
    assert told.spent == {EVERYBODY: ledger.spent_epsilon}
    # more than both releases, as a mean was spent as well
    mu = math.hypot(*(model.certificate.mu for model in models))
    assert told.spent[EVERYBODY] > Spent(mu, 0.0, 0.0, 0.0).epsilon_at(1e-5)
    assert "Release 2 is its entry 4." in told.words
    assert f"somebody has spent at most ε = {ledger.spent_epsilon:.2f}"[:-1] in told.words


def test_a_release_that_is_not_in_the_ledger_is_named(shared):
    ledger, models, other = shared
    told = ledger.told_of(pool([models[0], other]).certificate)
    assert [each.number for each in told.releases] == [2, None]
    assert "Release 2 is not in it" in told.words
    alone = ledger.told_of(other.certificate)
    assert alone.spent == {}
    assert "The release is not in it" in alone.words


def test_a_release_that_names_another_entry_is_not_taken_for_it(shared):
    ledger, models, _ = shared
    stolen = replace(models[1].certificate, provenance=models[0].certificate.provenance)
    assert ledger.told_of(stolen).releases[0].number is None


def test_disjoint_groups_do_not_add_up_and_simulations_do_not_count(tmp_path):
    ledger = Ledger(tmp_path / "sites.ledger", epsilon=2.0, delta=1e-6, disjoint=["north", "south"])
    models = [release(ledger.partition(name), seed=k) for k, name in enumerate(("north", "south"))]
    told = ledger.told_of(pool(models).certificate)
    assert told.spent == pytest.approx({"north": 1.0, "south": 1.0}, rel=1e-6)
    assert "Release 2 is its entry 3, about south." in told.words
    assert "Nobody is in two of these groups" in told.words
    simulated = release(ledger, seed=5, random_state=0)
    assert "a simulation, which is not counted" in ledger.told_of(simulated.certificate).words


def test_the_command_says_it_and_writes_nothing_of_it(shared, tmp_path):
    ledger, models, _ = shared
    files = [tmp_path / f"{k}.json" for k in range(2)]
    for model, file in zip(models, files, strict=True):
        model.save(file)
    before = ledger.head
    said = ["pool", *map(str, files), "--ledger", str(ledger.path), "-o", str(tmp_path / "b.json")]
    result = CliRunner().invoke(app, said)
    assert result.exit_code == 0, result.output
    assert "people.ledger: Release 1 is its entry 2." in result.output
    assert "people.ledger" not in (tmp_path / "b.json").read_text()
    assert ledger.head == before
    told = CliRunner().invoke(app, [*said, "--json", "--force"])
    assert json.loads(told.output)["ledger"]["entries"] == [2, 4]
    absent = CliRunner().invoke(app, [*said, "--force", "--ledger", str(tmp_path / "none.ledger")])
    assert absent.exit_code == 4
    assert "there is no ledger" in absent.output
    assert dpgp.load(tmp_path / "b.json").members
