"""What a fit that fails has spent is said by the error, kept by the estimator, and printed."""

import math
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import dpgp
from dpgp import PrivateGPRegressor
from dpgp.cli import app
from dpgp.inference.few.target import TargetFit
from dpgp.paper import dp_gp_inference
from dpgp.privacy.books import Books
from dpgp.privacy.noise import SecureNoise
from dpgp.report.guarantee import guarantee_in_words

X = np.linspace(0.0, 1.0, 60)[:, None]
y = X[:, 0] ** 2


def regressor(**options):
    defaults = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 2}
    return PrivateGPRegressor(**(defaults | options))


def failing(error, monkeypatch):
    """Let every fit fail while it thinks about its first stage."""

    def fail(*_):
        raise error

    monkeypatch.setattr(TargetFit, "add", fail)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_error_and_estimator_carry_what_was_spent(error, monkeypatch):
    failing(error, monkeypatch)
    gp = regressor()
    with pytest.raises(type(error)) as caught:
        gp.fit(X, y)
    (spent,) = gp.spent_
    assert spent.releases[-1].label == "stage 1"
    assert 0.0 < spent.epsilon < 1.0
    assert spent.mu == pytest.approx(math.hypot(*(release.mu for release in spent.releases)))
    (note,) = caught.value.__notes__
    assert note == spent.note
    spent_epsilon = float(note.removeprefix("Spent by then: (").partition(",")[0])
    assert spent_epsilon == pytest.approx(spent.epsilon, rel=1e-5)
    assert "stage 1. It counts against the budget" in note
    assert pickle.loads(pickle.dumps(gp)).spent_ == gp.spent_


def test_a_draw_that_fails_counts(monkeypatch):
    def fail(*_):
        raise OSError("no entropy")

    monkeypatch.setattr(SecureNoise, "draw", fail)
    gp = regressor(warp=False)
    with pytest.raises(OSError, match="no entropy") as caught:
        gp.fit(X, y)
    assert [release.label for release in gp.spent_[0].releases] == ["stage 1"]
    assert caught.value.__notes__


def test_a_failed_refit_leaves_no_model_and_forgets_no_spending(monkeypatch):
    gp = regressor().fit(X, y)
    with monkeypatch.context() as patch:
        failing(ValueError("no"), patch)
        for times in (1, 2):
            with pytest.raises(ValueError, match="no"):
                gp.fit(X, y)
            assert len(gp.spent_) == times
            with pytest.raises(NotFittedError):
                gp.predict(X)
            assert not hasattr(gp, "certificate_")
    assert len(gp.fit(X, y).spent_) == 2
    assert gp.predict(X).shape == (60,)


@pytest.mark.parametrize(
    "options",
    [{"n_jobs": 0}, {"bounds": None}, {"epsilon": 1e-5}, {"epsilon": 1e4}, {"stages": [1, 1e-13]}],
    ids=str,
)
def test_what_is_refused_has_spent_nothing(options):
    gp = regressor().fit(X, y).set_params(**options)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - of many kinds
        gp.fit(X, y)
    assert not hasattr(caught.value, "__notes__")
    assert not hasattr(gp, "spent_")
    with pytest.raises(NotFittedError):
        gp.predict(X)


def test_noise_that_cannot_be_drawn_is_not_booked(monkeypatch):
    monkeypatch.setattr("dpgp.private.fit.check_noise", lambda *_: None)
    booked = []
    monkeypatch.setattr(Books, "reserve", lambda _, release: booked.append(release))
    with pytest.raises(ValueError, match="noise scale"):
        regressor(epsilon=1e-6, warp=False).fit(X, y)
    assert booked == []


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0, 750.0])
def test_nothing_fails_after_spending_however_large_or_small_epsilon(epsilon, tmp_path):
    gp = regressor(epsilon=epsilon, features=None, random_state=0).fit(X, y)
    eigenvalues = np.linalg.eigvalsh(gp.posterior_.moments.V)
    assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]
    gp.save(tmp_path / "model.json")
    gp.report(tmp_path / "model.html")
    again = dpgp.load(tmp_path / "model.json")
    assert guarantee_in_words(again.certificate) == guarantee_in_words(gp.certificate_)
    assert str(again.certificate) in str(gp.certificate_)
    assert again._repr_html_()
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "model.json")])
    assert shown.exit_code == 0
    assert "NOT PRIVATE" in shown.output


def test_inference_as_published_tells_it_too(monkeypatch):
    def fail(*_, **__):
        raise ValueError("no")

    monkeypatch.setattr("dpgp.paper.inference.release_gram", fail)
    from sklearn.gaussian_process.kernels import RBF

    with pytest.raises(ValueError, match="no") as caught:
        dp_gp_inference(
            X, y, X[::20], RBF(), noise_std=0.1, target_bound=1.0, epsilon=1.0, delta=1e-6,
            prior_mean="coinpress", bounds=(0, 1),
        )  # fmt: skip
    assert "prior mean" in caught.value.__notes__[0]
