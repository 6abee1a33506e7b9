"""A fit that starts from an earlier model: what it spends, believes and refuses."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dpgp
from dpgp import PrivateGPRegressor, load, pool
from dpgp.audit.replay import compare_steps
from dpgp.audit.tables import Case
from dpgp.cli import app
from dpgp.inference.few.before import ToldBefore
from dpgp.inference.many.records import NormalEquations
from dpgp.json_document import digest
from dpgp.ledger import Ledger
from dpgp.pooling import PoolingError
from dpgp.privacy.books import mu_of_guarantee
from dpgp.study.errors import RefusedError
from dpgp.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore")

GRID = np.linspace(-0.95, 0.95, 50)[:, None]


def curve(X):
    return np.sin(3.0 * X[:, 0])


def rows(n, seed, shift=0.0, columns=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, columns))
    return X, np.clip(curve(X) + shift + 0.2 * rng.standard_normal(n), -2, 2)


def regressor(seed=None, **asked):
    usual = {"epsilon": 2.0, "delta": 1e-5, "bounds": (-1, 1), "target_bounds": (-2, 2)}
    return PrivateGPRegressor(**usual | asked, random_state=seed)


def fitted(n, seed, columns=1, shift=0.0, prior_model=None, **asked):
    gp = regressor(seed, **asked)
    return gp.fit(*rows(n, seed, shift, columns), prior_model=prior_model).model_


def error(model):
    return float(np.sqrt(np.mean((model.mean(GRID) - curve(GRID)) ** 2)))


@pytest.fixture(scope="module")
def last():
    return fitted(600, 0)


@pytest.fixture(scope="module")
def wide():
    return fitted(900, 0, columns=4)


def test_an_update_is_nearer_than_what_two_fits_say_apart():
    first = [fitted(600, seed) for seed in range(5)]
    apart = [pool([one, fitted(600, seed + 50)]) for seed, one in enumerate(first)]
    sequence = [fitted(600, seed + 50, prior_model=one) for seed, one in enumerate(first)]
    means = [np.mean([error(model) for model in models]) for models in (first, apart, sequence)]
    assert means[2] < 0.95 * means[1]  # 0.72 of it
    assert means[1] < means[0]


def test_what_was_told_before_is_a_prior():
    rng = np.random.default_rng(1)
    d, C = 3, np.array([np.diag([1.0, 2.0, 0.5]), np.eye(3) + 0.3])
    H, y = rng.normal(size=(5, d)), rng.normal(size=5)
    U = rng.normal(size=(d, d))
    inside = np.linalg.inv(U)
    told = ToldBefore(NormalEquations(H.T @ H, H.T @ y), 0.1).given(inside @ C @ inside.T, U)
    for k in range(2):
        V = np.linalg.inv(np.linalg.inv(C[k]) + H.T @ H)
        np.testing.assert_allclose(U @ told.covariance[k] @ U.T, V, rtol=1e-5)
        np.testing.assert_allclose(U @ told.mean[k], V @ H.T @ y, rtol=1e-5)


@pytest.mark.parametrize("shift", [0.3, 1.0], ids=["within the clip", "far beyond it"])
@pytest.mark.parametrize("columns", [1, 4])
def test_new_rows_alone_are_believed_where_the_curve_has_moved(columns, shift, tmp_path):
    known = fitted(1200, 0, columns)
    moved = fitted(1200, 5, columns, shift=shift, prior_model=known)
    assert not moved.members
    (said,) = (words for words in moved.health if "moved" in words)
    assert "this fit has target" in said
    assert "higher than the earlier model" in said
    X, _ = rows(400, 9, columns=columns)
    gap = moved.mean(X) - curve(X)
    plain = fitted(1200, 6, columns, shift=shift)
    assert abs(np.mean(gap) - shift) < 0.1
    assert np.std(gap) < 2.5 * np.std(plain.mean(X) - curve(X)) + 0.05
    moved.save(tmp_path / "model.json")
    assert {f.question for f in verify(tmp_path / "model.json") if not f.holds} == {
        "it claims to be private"  # seeded noise
    }
    assert load(tmp_path / "model.json").health == moved.health


def test_it_spends_its_own_budget_and_no_more(last, tmp_path):
    ledger = Ledger(tmp_path / "study.ledger", epsilon=2.0, delta=1e-5)
    gp = regressor(ledger=ledger).fit(*rows(600, 3), prior_model=last)
    new = gp.model_.members[1].certificate
    assert new.mu == pytest.approx(mu_of_guarantee(2.0, 1e-5), rel=1e-9)
    assert new.mu <= mu_of_guarantee(2.0, 1e-5)
    assert sum(release.mu**2 for release in new.releases) <= new.mu**2 * (1 + 1e-12)
    assert gp.model_.certificate.mu == pytest.approx(new.mu * np.sqrt(2.0))
    assert ledger.epsilon_left(1e-5) < 0.01


@pytest.mark.parametrize("columns", [1, 4])
def test_a_file_of_an_update_verifies_and_says_what_it_started_from(columns, tmp_path):
    X, y = rows(700, 1, columns=columns)
    first, second = regressor().fit(X[:400], y[:400]), regressor()
    second.fit(X[400:], y[400:], prior_model=first)
    second.save(tmp_path / "both.json")
    assert all(finding.holds for finding in verify(tmp_path / "both.json"))
    release = load(tmp_path / "both.json").members[1]
    assert release.options.prior_model.id == first.model_.id
    release.save(tmp_path / "release.json")
    assert all(finding.holds for finding in verify(tmp_path / "release.json"))
    document = json.loads((tmp_path / "release.json").read_text())
    del document["digest"], document["settings"]["prior_model"]
    (tmp_path / "bad.json").write_text(json.dumps({**document, "digest": digest(document)}))
    wrong = {finding.question for finding in verify(tmp_path / "bad.json") if not finding.holds}
    assert "every step has its share of the budget" in wrong


@pytest.mark.parametrize("columns", [1, 4])
def test_neighbours_move_no_step_of_an_update_by_more_than_was_booked(columns):
    X, y = rows(300, 2, columns=columns)
    known = regressor(0, target_bounds=(-1, 1)).fit(X, np.clip(y, -1, 1))
    case = Case(columns, asked=(("prior_model", known), ("epsilon", 3.0)))
    found = compare_steps(case, 40, np.random.default_rng(0))
    assert "linear stage" not in {comparison.label for comparison in found}
    assert all(comparison.holds for comparison in found)


def test_another_study_is_refused_before_anything_is_spent(last, wide, tmp_path):
    ledger = Ledger(tmp_path / "study.ledger", epsilon=2.0, delta=1e-5)
    X, y = rows(300, 4)
    (tmp_path / "model.json").write_text("[]")
    for changes, given, words in (
        ({"bounds": (-2, 2)}, last, "the bounds of input: -2 to 2, not -1 to 1"),
        ({"counts": True, "target_bounds": (0, 4)}, last, "its kind of outcome"),
        ({}, wide, "learned metric"),
        ({}, tmp_path / "none.json", "cannot be read: No such file"),
        ({}, 3, "`prior_model` must be a fitted model, not int"),
        ({}, PrivateGPRegressor(), "`prior_model` must be a fitted model, not PrivateGPRegressor"),
        ({}, tmp_path / "model.json", "cannot be read"),
    ):
        with pytest.raises(RefusedError, match=words):
            regressor(ledger=ledger, **changes).fit(X, y, prior_model=given)
    last.save(tmp_path / "bare.json", records=False)
    with pytest.raises(PoolingError, match="the earlier model has no records"):
        regressor(ledger=ledger).fit(X, y, prior_model=tmp_path / "bare.json")
    assert len(ledger.entries()) == 1  # that it was opened


def test_updates_follow_each_other(last):
    second = fitted(500, 7, prior_model=last)
    third = fitted(400, 8, prior_model=second)
    assert [member.id for member in third.members[:2]] == [member.id for member in second.members]
    assert third.findings["pooled"]["rows"] == [600, 500, 400]
    assert third.options.prior_model is None


def test_without_noise_an_update_is_taken_as_well():
    model = fitted(300, 1, epsilon=float("inf"))
    again = fitted(300, 2, epsilon=float("inf"), prior_model=model)
    assert error(again) < 0.1


@pytest.mark.parametrize("by_study", [False, True], ids=["flags", "a study file"])
def test_commands_start_from_a_file(by_study, tmp_path):
    for name, seed in (("old", 1), ("new", 2)):
        X, y = rows(500, seed)
        lines = [f"{x},{t}" for (x,), t in zip(X, y, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,y", *lines]))
    asked = ["--feature", "x:-1:1", "--target", "y:-2:2", "--epsilon", "2", "--delta", "1e-5"]

    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return result

    old, both = tmp_path / "old.json", tmp_path / "both.json"
    run("fit", tmp_path / "old.csv", *asked, "--yes", "-o", old)
    if by_study:
        study = "features: {x: [-1, 1]}\ntargets: {y: [-2, 2]}\nepsilon: 2\ndelta: 1e-5\n"
        (tmp_path / "study.yaml").write_text(study + "prior_model: old.json\n")
        asked = ["--study", tmp_path / "study.yaml"]
    else:
        asked += ["--prior-model", old]
    assert "1,000" not in run("fit", tmp_path / "new.csv", *asked, "--dry-run").output
    run("fit", tmp_path / "new.csv", *asked, "--yes", "-o", both)
    found = load(both)
    assert found.members[0].id == dpgp.load(old).id
    assert all(finding.holds for finding in verify(both))
