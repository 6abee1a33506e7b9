"""What holds of every step of a fit, and of one that only these tests know."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from toy_step import SHARE, VERIFIED, Halves

import dpgp
from dpgp import steps
from dpgp.audit.replay import compare_steps
from dpgp.audit.tables import Case
from dpgp.ledger import Ledger
from dpgp.ledger.records import Reserved
from dpgp.planning.plan import plan_of
from dpgp.privacy.books import share_of_mu
from dpgp.report.html.page import report_html
from dpgp.steps.base import Step
from dpgp.verify import steps as verified_steps
from dpgp.verify import verify

SOURCE = Path(dpgp.__file__).parent
KINDS = steps.KINDS
PROTOCOL = {name for name in vars(Step) if not name.startswith("_")}


@pytest.fixture(scope="module", autouse=True)
def _lines():
    """The lines that add a step: among the kinds of a fit, and among those that verify knows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "KINDS", (*KINDS, Halves))
        for name in ("AFTER_STAGES", "OTHERS"):
            patch.setattr(verified_steps, name, (*getattr(verified_steps, name), VERIFIED))
        yield


@pytest.fixture(scope="module", params=[1, 5], ids=["one input", "five inputs"])
def columns(request):
    return request.param


ROWS = 800


def rows(columns, n=ROWS):
    rng = np.random.default_rng(columns)
    X = rng.beta(2.0, 4.0, (n, columns))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def regressor(**changes):
    return dpgp.PrivateGPRegressor(
        3.0, 1e-6, bounds=(0, 1), target_bounds=(-2, 2), random_state=3, **changes
    )


@pytest.fixture(scope="module")
def model(columns):
    return regressor().fit(*rows(columns)).model_


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.json")
    return tmp_path / "model.json"


def planned(model):
    return steps.planned_steps(steps.Purse(model.options, model.certificate.mu, ROWS))


@pytest.mark.parametrize("kind", [*KINDS, Halves], ids=lambda kind: kind.__name__)
def test_every_kind_has_all_of_the_protocol(kind):
    assert {*dir(kind), *kind.__dataclass_fields__} >= PROTOCOL
    assert kind.__dataclass_params__.frozen
    assert kind.why([])


def test_a_fit_releases_what_was_planned(model):
    releases = model.certificate.releases
    expected = planned(model)
    assert [release.label for release in releases] == [step.label for step in expected]
    assert math.fsum(step.share for step in expected) == pytest.approx(1.0)
    for release, step in zip(releases, expected, strict=True):
        mu = share_of_mu(model.certificate.mu, step.share)
        assert release.mu == pytest.approx(mu)
        assert min(step.noise_stds(model.options, mu)) <= release.noise_std * (1 + 1e-9)


def test_the_step_takes_its_share_and_tells_what_it_found(model, columns):
    *_, release = model.certificate.releases
    assert release.label == Halves.label
    assert (release.mu / model.certificate.mu) ** 2 == pytest.approx(SHARE)
    X, _ = rows(columns)
    truth = np.mean(X[:, 0] < 0.5)
    found = model.findings[Halves.label]["lower"]
    assert abs(found - truth) < 6 * release.noise_std / len(X)


def test_a_forecast_goes_through_every_step(model):
    plan = plan_of(model.options, 5000)
    taken = plan.question.answer(5000, 3.0).steps
    assert [step for step in taken if type(step) is Halves] == [Halves(SHARE)]
    assert plan.forecast.rmse > 0.0


def test_a_plan_explains_every_kind(model):
    plan = plan_of(model.options, 5000)
    taken = plan.question.answer(5000, 3.0).steps
    for kind in steps.kinds_of(model.options):
        line = kind.why([step for step in taken if type(step) is kind])
        assert line in plan.why
        assert line.split(":")[0] in " ".join(str(plan).split())


def test_a_certificate_and_a_report_list_every_release(model):
    page, certificate = report_html(model), str(model.certificate)
    for release in model.certificate.releases:
        assert release.label in page
        assert release.label in certificate


def test_a_file_keeps_what_was_found(model, path, columns):
    again = dpgp.load(path)
    X, _ = rows(columns)
    assert again.findings == model.findings
    assert again.certificate == model.certificate
    np.testing.assert_array_equal(again.predict(X[:20]), model.predict(X[:20]))


def test_a_file_verifies(path):
    wrong = [finding.question for finding in verify(path) if not finding.holds]
    assert wrong == ["it claims to be private"]  # noise of a seed is none


def test_a_file_of_a_step_without_its_line_does_not_verify(path, monkeypatch):
    for name in ("AFTER_STAGES", "OTHERS"):
        monkeypatch.setattr(verified_steps, name, getattr(verified_steps, name)[:-1])
    details = [finding.detail for finding in verify(path) if not finding.holds]
    assert any(f"does not know a release '{Halves.label}'" in detail for detail in details)


def test_a_ledger_reserves_it(columns, tmp_path):
    ledger = Ledger(tmp_path / "study.ledger", epsilon=5.0, delta=1e-5)
    regressor(ledger=ledger).fit(*rows(columns))
    (reserved,) = (record for record in ledger.records() if isinstance(record, Reserved))
    assert reserved.planned[-1] == Halves.label


def test_neighbours_move_no_step_by_more_than_was_booked(columns):
    case = Case(columns, asked=(("stages", 2), ("epsilon", 3.0)))
    found = compare_steps(case, 40, np.random.default_rng(0))
    assert {comparison.label for comparison in found} >= {Halves.label}
    assert all(comparison.holds for comparison in found)


def test_without_noise_it_is_taken_as_well():
    gp = dpgp.PrivateGPRegressor(math.inf, 1e-6, bounds=(0, 1), target_bounds=(-2, 2))
    X, y = rows(1)
    found = gp.fit(X, y).model_.findings[Halves.label]["lower"]
    assert found == pytest.approx(np.mean(X < 0.5))


def test_few_others_ask_which_step_it_is():
    """A new step touches no other module. Packages that still name some may become fewer."""
    names = {kind.__name__ for kind in KINDS}
    found = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpgp.steps")
        if names & {alias.name for alias in node.names}
    }
    assert found <= {"steps", "planning", "report"}
