"""What Python says of a fit: before it spends, while it runs, and once it has a model."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import dpgp
from dpgp.learned_before import VoidCertificateWarning
from dpgp.ledger.tally import TALLY, RepeatedFitsWarning
from dpgp.model.fitted import OutsideBoundsWarning
from dpgp.privacy.calibration import compose, epsilon_of_mu, mu_of_epsilon_delta
from dpgp.report.health import LOOKS_WRONG, HealthWarning
from dpgp.study.doubts import PreciseBoundsWarning, ZeroOneWarning

X = np.random.default_rng(0).uniform(0, 1, (300, 1))
Y = X[:, 0] + 0.1
SMALL = {"bounds": (0, 1), "target_bounds": (0, 2), "features": "linear", "stages": 1}


def regressor(**changes):
    return dpgp.PrivateGPRegressor(1.0, 1e-5, **SMALL | {"random_state": 0} | changes)


@pytest.fixture
def tally(monkeypatch):
    monkeypatch.setattr(TALLY, "fits", 0)
    monkeypatch.setattr(TALLY, "cost", type(TALLY.cost)())
    return TALLY


def said(kind, fit):
    """Return what was warned of one kind, all of it, and where it points to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    found = [each for each in caught if issubclass(each.category, kind)]
    assert all(each.filename == __file__ or "sklearn" in each.filename for each in found)
    return [str(each.message) for each in found]


# --- after the fit --------------------------------------------------------------------------------


def test_what_looks_wrong_is_warned_of_once():
    gp = dpgp.PrivateGPRegressor(1.0, 1e-5, bounds=(0, 1), target_bounds=(0, 2), random_state=0)
    (text,) = said(HealthWarning, lambda: gp.fit(X, 1000.0 * Y))
    assert gp.health_
    assert text == " ".join((LOOKS_WRONG, *gp.health_))
    assert "same unit" in text


def test_a_healthy_fit_is_silent():
    TALLY.forget()
    assert said(UserWarning, lambda: regressor(random_state=None).fit(X, Y)) == []


def test_a_warning_that_is_an_error_leaves_the_model():
    gp = dpgp.PrivateGPRegressor(1.0, 1e-5, bounds=(0, 1), target_bounds=(0, 2), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HealthWarning)
        with pytest.raises(HealthWarning):
            gp.fit(X, 1000.0 * Y)
    assert gp.predict(X).shape == (300,)


# --- while it runs --------------------------------------------------------------------------------


def test_verbose_prints_every_step_to_standard_error(capsys):
    regressor(stages=2).fit(X, Y, verbose=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[-1] == "calibrating intervals"
    assert {"stage 1 of 2", "stage 2 of 2"} <= set(lines)
    regressor().fit(X, Y)
    assert capsys.readouterr().err == ""


# --- before it spends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"target_bounds": (0, 1)}, 1),
        ({"target_bounds": (0, 1), "counts": True}, 0),
        ({"target_bounds": (0, 2)}, 0),
        ({"target_bounds": (-1, 1)}, 0),
    ],
    ids=str,
)
def test_a_number_from_0_to_1_is_told_of_classes(changes, count):
    found = said(ZeroOneWarning, lambda: regressor(**changes).fit(X, X[:, 0].round()))
    assert len(found) == count
    assert all("PrivateGPClassifier" in text and "`classes=(0, 1)`" in text for text in found)


def test_every_target_from_0_to_1_is_named_and_classes_are_not():
    both = np.column_stack([X[:, 0], X[:, 0]])
    gp = regressor(target_bounds=[(0, 1), (0, 2)])
    (text,) = said(ZeroOneWarning, lambda: gp.fit(X, both))
    assert "target 1" in text
    yes = dpgp.PrivateGPClassifier(1.0, 1e-5, bounds=(0, 1), classes=(0, 1), random_state=0)
    assert said(ZeroOneWarning, lambda: yes.fit(X, X[:, 0].round().astype(int))) == []


def test_nothing_is_spent_where_a_warning_before_is_an_error(tally):
    gp = regressor(target_bounds=(0, 1), random_state=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ZeroOneWarning)
        with pytest.raises(ZeroOneWarning):
            gp.fit(X, X[:, 0])
    assert not hasattr(gp, "spent_")
    assert tally.fits == 0


@pytest.mark.parametrize(
    ("bounds", "count"),
    [
        ((0.0131072, 0.9987654), 1),
        ((12_357, 483_921), 1),
        ((0, 0.9987654), 0),
        ((0.05, 1.25), 0),
        ((1950, 2035), 0),
        ((-np.pi, np.pi), 0),
        ((np.float32(0.1), np.float32(0.9)), 0),
    ],
    ids=str,
)
def test_bounds_with_the_digits_of_a_cell_are_doubted(bounds, count):
    found = said(PreciseBoundsWarning, lambda: regressor(bounds=bounds).fit(X, Y))
    assert len(found) == count
    assert all("input" in text and "the guarantee does not hold" in text for text in found)
    both = said(PreciseBoundsWarning, lambda: regressor(target_bounds=bounds).fit(X, Y))
    assert len(both) == count


# --- predicting -----------------------------------------------------------------------------------


def test_rows_in_another_unit_are_not_predicted_in_silence():
    gp = regressor().fit(X, Y)
    assert said(OutsideBoundsWarning, lambda: gp.predict([[0.5], [0.7], [30.0]])) == []
    (text,) = said(OutsideBoundsWarning, lambda: gp.predict([[0.5], [700.0], [30.0]]))
    assert "700" not in text
    assert "0 to 1" in text
    assert said(OutsideBoundsWarning, lambda: gp.predict_interval([[-3.0]])) == [text]


# --- again and again ------------------------------------------------------------------------------


def test_the_second_fit_of_a_process_says_what_all_cost(tally):
    fits = [said(RepeatedFitsWarning, lambda: regressor(random_state=None).fit(X, Y)) for _ in "12"]
    assert fits[0] == []
    (text,) = fits[1]
    assert "number 2" in text
    total = epsilon_of_mu(compose([mu_of_epsilon_delta(1.0, 1e-5)] * 2), 1e-5)
    assert f"ε = {total:.2f} " in text
    assert "`ledger`" in text


def test_every_fit_of_a_cross_validation_counts(tally):
    gp = regressor(random_state=None)
    found = said(RepeatedFitsWarning, lambda: cross_val_score(gp, X, Y, cv=3))
    assert len(found) == 2
    assert tally.fits == 3
    assert tally.cost.mu == pytest.approx(np.sqrt(3) * mu_of_epsilon_delta(1.0, 1e-5), rel=1e-6)


def test_simulations_ledgers_and_fits_without_noise_do_not_count(tally, tmp_path):
    ledger = dpgp.Ledger(tmp_path / "purse", epsilon=3.0, delta=1e-5)
    others = [{}, {"ledger": ledger, "random_state": None}]
    for changes in [{"random_state": None}, *others]:
        assert said(RepeatedFitsWarning, lambda c=changes: regressor(**c).fit(X, Y)) == []
    unlimited = regressor(random_state=None).set_params(epsilon=np.inf)
    assert said(RepeatedFitsWarning, lambda: unlimited.fit(X, Y)) == []
    assert tally.fits == 1


def test_what_a_fit_that_failed_has_spent_counts(tally, monkeypatch):
    from dpgp.steps.stage import Stage

    def fail(self, known, release):
        raise ArithmeticError

    monkeypatch.setattr(Stage, "learn", fail)
    gp = regressor(random_state=None)
    with pytest.raises(ArithmeticError):
        gp.fit(X, Y)
    (spent,) = gp.spent_
    assert tally.fits == 1
    assert 0.0 < tally.cost.mu <= spent.mu * (1 + 1e-9)


# --- after something that has seen the rows -------------------------------------------------------


class Remembering(TransformerMixin, BaseEstimator):
    """Keeps the mean of the rows in an attribute that nobody knows."""

    def fit(self, rows, y=None):
        self.seen_ = rows.mean()
        return self

    def transform(self, rows):
        return rows


@pytest.mark.parametrize(
    ("before", "names"),
    [
        ([StandardScaler()], ["StandardScaler"]),
        ([Remembering()], ["Remembering"]),
        (["passthrough"], []),
        ([FunctionTransformer(np.sqrt)], []),
        ([PolynomialFeatures(2)], []),
        ([PolynomialFeatures(2), Remembering(), StandardScaler()], ["Remembering, StandardScaler"]),
        ([], []),
    ],
    ids=str,
)
def test_what_a_pipeline_has_fitted_before_voids_the_certificate(before, names):
    found = said(VoidCertificateWarning, lambda: make_pipeline(*before, regressor()).fit(X, Y))
    assert [text.split(" was ")[0] for text in found] == names
    assert all("the certificate cannot hold" in text for text in found)


def test_so_does_what_was_fitted_to_the_target():
    model = TransformedTargetRegressor(regressor(), transformer=StandardScaler())
    assert len(said(VoidCertificateWarning, lambda: model.fit(X, Y))) == 1
    model = TransformedTargetRegressor(regressor(), func=np.log1p, inverse_func=np.expm1)
    assert said(VoidCertificateWarning, lambda: model.fit(X, Y)) == []


def test_nothing_is_seen_where_python_has_no_frames(monkeypatch):
    monkeypatch.setattr(inspect, "currentframe", lambda: None)
    pipeline = make_pipeline(StandardScaler(), regressor())
    assert said(VoidCertificateWarning, lambda: pipeline.fit(X, Y)) == []
