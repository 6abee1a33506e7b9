"""Algorithm 2: end to end, its scores, its secrets, and every kind of bad input."""

import dataclasses
import logging
import math
import re

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF, DotProduct

import reference
from dpgp.kernels.given import NormalizedKernel
from dpgp.paper import Candidate, LearnedModel, dp_gp_learn_hyperparameters
from dpgp.paper.inference import read_rows
from dpgp.paper.learning import candidate_models, learn, run_budget, selection_budget
from dpgp.paper.scoring import PreparedCandidate, prepare, score_interval
from dpgp.privacy import noise
from dpgp.privacy.books import GaussianBooks
from dpgp.privacy.calibration import delta_of_mu
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SimulatedNoise
from dpgp.privacy.selection import LiuTalwarBudget, RenyiBudget

Z = np.linspace(-3.0, 3.0, 9)[:, None]
CANDIDATES = [(RBF(length), std) for std in (0.1 / 3, 0.1, 0.3) for length in (1 / 3, 1.0, 3.0)]
ACCOUNTINGS = ["liu-talwar", "renyi"]
SECRET = 0.123456789


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-4.0, 4.0, (n, 1))
    return X, np.sinc(2.0 * X[:, 0] / np.pi) + 0.1 * rng.standard_normal(n)


def halves(n=400, seed=0):
    X, y = data(n, seed)
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


def fit(*rows, **options):
    defaults = {
        "candidates": CANDIDATES,
        "target_bound": 1.0,
        "epsilon": 30.0,
        "delta": 1e-4,
        "gamma": 0.1,
        "random_state": 0,
    }
    return dp_gp_learn_hyperparameters(*(rows or halves()), Z, **(defaults | options))


def rows_of(X, y, model, missing="error"):
    return read_rows(X, y, model, 0.0, None, missing)


def prepared(X1, y1, X2, y2, candidates=CANDIDATES, missing="error", target_bound=1.0):
    models = candidate_models(candidates, Z, target_bound)
    return prepare(
        models, rows_of(X1, y1, models[0], missing), rows_of(X2, y2, models[0], missing), n_jobs=1
    )


class Zeros(SimulatedNoise):
    """No noise at all, but numbers for the selection."""

    def draw(self, scale, count):
        return [0] * count


# --- end to end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_it_returns_posterior_candidate_and_score(accounting):
    learned = fit(accounting=accounting)
    assert {field.name for field in dataclasses.fields(LearnedModel)} == {
        "posterior", "candidate", "score",
    }  # fmt: skip
    assert (learned.candidate.kernel, learned.candidate.noise_std) in CANDIDATES
    assert learned.posterior.kernel is learned.candidate.kernel
    assert learned.posterior.noise_std == learned.candidate.noise_std
    assert math.isfinite(learned.score)
    grid = np.linspace(-3.0, 3.0, 50)[:, None]
    error = learned.posterior.predict(grid) - np.sinc(2.0 * grid[:, 0] / np.pi)
    assert np.sqrt(np.mean(error**2)) < 0.35


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_the_certificate_holds_the_total_and_one_event(accounting):
    certificate = fit(accounting=accounting, epsilon=3.0).posterior.certificate
    assert (certificate.epsilon, certificate.delta) == (3.0, 1e-4)
    assert certificate.neighbours is Neighbours.REPLACE
    assert len(certificate.releases) == 1
    assert certificate.mu is None
    assert certificate.seeded
    assert "NOT PRIVATE: a seeded simulation of (3, 0.0001)" in str(certificate)
    assert "secret number of runs" in str(certificate)


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_the_same_seed_gives_the_same_model(accounting):
    first, second, third = (fit(accounting=accounting, random_state=s) for s in (1, 1, 2))
    assert first.score == second.score
    assert np.array_equal(first.posterior.mean, second.posterior.mean)
    assert not np.array_equal(first.posterior.mean, third.posterior.mean)


def test_without_a_seed_the_result_is_private():
    learned = fit(gamma=0.5, random_state=None)
    assert learned.posterior.certificate.is_private
    assert str(learned.posterior.certificate).startswith("(30, 0.0001)-differential privacy.")


def test_data_frames_keep_their_names():
    X1, y1, X2, y2 = halves()
    frames = [pd.DataFrame(X, columns=["x"]) for X in (X1, X2)]
    learned = fit(frames[0], y1, frames[1], y2, bounds={"x": (-4.0, 4.0)})
    assert learned.posterior.feature_names == ("x",)
    assert learned.score == fit(X1, y1, X2, y2, bounds=(-4.0, 4.0)).score


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_a_large_budget_finds_the_right_candidate(accounting):
    learned = fit(*halves(4000), accounting=accounting, epsilon=90.0, gamma=0.02, shape=1.0)
    assert learned.candidate.kernel.length_scale == 1.0
    assert learned.candidate.noise_std == 0.1


# --- the budget of a run --------------------------------------------------------------------------


@given(st.floats(-7.0, 4.0).map(math.exp), st.floats(-25.0, -7.0).map(math.exp))
def test_liu_talwar_pays_for_both_sides_of_a_run(epsilon, delta):
    budget = LiuTalwarBudget.for_total(epsilon, delta, 0.1)
    training, validation = run_budget(budget)
    assert delta_of_mu(training, budget.epsilon) <= budget.delta
    # HM21 eq. 22, and the conversion it inverts: ε = ρ + 2√(ρ log 1/δ)
    with mp.workdps(40):
        rho, log = mp.mpf(validation) ** 2 / 2, -mp.log(mp.mpf(budget.delta))
        spent = rho + 2 * mp.sqrt(rho * log)
        assert spent <= budget.epsilon
        assert spent == pytest.approx(budget.epsilon, rel=1e-11)


def test_renyi_gives_either_side_all_of_a_run():
    budget = selection_budget(1.0, 1e-4, "renyi", 0.01)
    assert isinstance(budget, RenyiBudget)
    assert budget.mean_draws == 100.0
    assert run_budget(budget) == (budget.mu, budget.mu)
    assert selection_budget(1.0, 1e-4, "renyi", 0.01, 1.0, 20.0).mean_draws == 20.0


def test_both_sides_of_a_run_book_what_they_may_and_no_more(monkeypatch):
    ledgers = []

    def ledger(mu, neighbours):
        ledgers.append(GaussianBooks(mu, neighbours))
        return ledgers[-1]

    monkeypatch.setattr("dpgp.paper.scoring.GaussianBooks", ledger)
    training_mu, validation_mu = run_budget(selection_budget(1.0, 1e-4, "renyi", 0.01))
    prepared(*halves())[0].run(training_mu, validation_mu, SimulatedNoise(0))
    assert [books.spent_mu for books in ledgers] == pytest.approx([training_mu, validation_mu])
    assert all(books.spent_mu <= books.mu for books in ledgers)
    assert [len(books.releases) for books in ledgers] == [1, 12]


# --- scores ---------------------------------------------------------------------------------------


def test_densities_are_those_of_the_posterior_and_of_the_paper():
    X1, y1, X2, y2 = halves()
    y2 = np.clip(y2, -1.0, 1.0)
    certificate = Certificate(1.0, 1e-5, Neighbours.REPLACE, None, (), True)
    for candidate in prepared(X1, y1, X2, y2):
        model = candidate.model
        _, update = candidate.run(1.0, 1.0, SimulatedNoise(1))
        posterior = model.posterior(update, certificate)
        densities = candidate.log_densities(update)
        assert np.allclose(densities, posterior.log_predictive_density(X2, y2), rtol=1e-9)
        if np.linalg.cond(model.K_zz) < 1e9:  # the reference inverts K_zz
            mean, cov = reference.predictive(
                model.kernel(X2), model.kernel(X2, Z), model.K_zz,
                posterior.mean, posterior.covariance,
            )  # fmt: skip
            std = np.sqrt(np.diag(cov) + model.noise_std**2)
            assert np.allclose(densities, norm.logpdf(y2, mean, std), rtol=1e-5)


def test_the_interval_is_that_of_the_appendix():
    (model,) = candidate_models([(RBF(1.0), 0.2)], Z, 1.5)
    centre, radius = score_interval(model)
    best = norm.logpdf(0.0, 0.0, 0.2)
    assert centre + radius == pytest.approx(best)
    assert centre - radius == pytest.approx(norm.logpdf(3.0, 0.0, 0.2))  # a miss by 2R_y


def test_the_score_without_noise_is_the_mean_density():
    # Differs from HM21, which compares the sum over rows with the bounds of one row
    X1, y1, X2, y2 = halves(2000)
    candidate = prepared(X1, y1, X2, y2)[4]
    _, update = candidate.run(1.0, 1.0, Zeros(0))
    score = candidate.score(update, 5.0, Zeros(0))
    assert score == pytest.approx(candidate.log_densities(update).mean(), abs=0.02)
    centre, radius = score_interval(candidate.model)
    assert len(y2) * score > centre + radius  # the sum would be thrown away


class Shifted(Zeros):
    """Noise that pushes every sum far to one side."""

    def draw(self, scale, count):
        return [int(40 * scale)] * count


def test_scores_outside_the_interval_are_ignored():
    candidate = prepared(*halves())[4]
    _, update = candidate.run(1.0, 1.0, Zeros(0))
    assert candidate.score(update, 0.1, Shifted(0)) == -math.inf
    learned = learn([candidate], selection_budget(1.0, 1e-4, "liu-talwar", 0.5), Shifted(0))
    assert learned.score == -math.inf
    assert np.isfinite(learned.posterior.mean).all()


# --- rows that cannot be used ---------------------------------------------------------------------


def holed(X, y, rows):
    X, y = X.copy(), y.copy()
    X[rows[0]], y[rows[1]] = np.nan, np.inf
    return X, y


def test_an_unusable_validation_row_has_a_public_density_and_stays_in_the_count():
    X1, y1, X2, y2 = halves()
    complete = prepared(X1, y1, X2, y2)
    incomplete = prepared(X1, y1, *holed(X2, y2, [3, 7]), missing="ignore")
    constants = set()
    for whole, holes in zip(complete, incomplete, strict=True):
        _, update = whole.run(1.0, 1.0, SimulatedNoise(1))
        a, b = whole.log_densities(update), holes.log_densities(update)
        assert len(a) == len(b)
        assert np.array_equal(np.delete(a, [3, 7]), np.delete(b, [3, 7]))
        constants |= {b[3], b[7]}
        centre, radius = score_interval(holes.model)
        assert abs(b[3] - centre) <= radius
    assert len(constants) == 1
    assert constants.pop() == pytest.approx(norm.logpdf(0.0, 0.0, 0.3))  # lowest upper bound


def test_unusable_rows_favour_no_candidate():
    X1, y1, X2, y2 = halves(4000)
    half = np.arange(0, 2000, 2)
    incomplete = prepared(X1, y1, *holed(X2, y2, [half, half]), missing="ignore")
    usable = prepared(X1, y1, np.delete(X2, half, 0), np.delete(y2, half))
    updates = [candidate.run(2.0, 2.0, SimulatedNoise(1))[1] for candidate in usable]
    scores = [
        [candidate.score(update, 3.0, Zeros(0)) for candidate, update in zip(side, updates)]  # noqa: B905
        for side in (incomplete, usable)
    ]
    assert np.argmax(scores[0]) == np.argmax(scores[1])


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_missing_rows_do_not_stop_a_fit(accounting):
    X1, y1, X2, y2 = halves()
    rows = (*holed(X1, y1, [0, 1]), *holed(X2, y2, [2, 3]))
    learned = fit(*rows, missing="ignore", accounting=accounting)
    assert np.isfinite(learned.posterior.mean).all()


class Equality:
    """A kernel on strings."""

    requires_vector_input = False
    variance_bound = 1.0

    def __call__(self, X, Y=None):
        return np.array([[float(a == b) for b in (X if Y is None else Y)] for a in X])

    def diag(self, X):
        return np.ones(len(X))


def test_strings_work_as_rows_do():
    X = list("abab" * 20)
    y = np.where(np.array(X) == "a", 0.5, -0.5)
    y2 = y.copy()
    y2[5] = np.nan
    learned = dp_gp_learn_hyperparameters(
        X, y, list(X), y2, ["a", "b"],
        candidates=[(Equality(), 0.1), Candidate(NormalizedKernel(Equality()), 0.2)],
        target_bound=1.0, epsilon=50.0, delta=1e-3, gamma=0.3, missing="ignore", random_state=0,
    )  # fmt: skip
    assert learned.posterior.predict(["a"])[0] > learned.posterior.predict(["b"])[0]


# --- secrets --------------------------------------------------------------------------------------


def everything_in(value, seen=None):
    """All numbers and strings that can be reached from an object."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, int | float | str | np.number):
        return [value]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() + list(value.shape)
    children = list(value) if isinstance(value, tuple | list | set) else []
    children += list(value.values()) if isinstance(value, dict) else []
    children += list(getattr(value, "__dict__", {}).values())
    return [leaf for child in children for leaf in everything_in(child, seen)]


@pytest.mark.parametrize("accounting", ACCOUNTINGS)
def test_the_number_of_runs_is_nowhere(accounting, monkeypatch, caplog, capsys, recwarn):
    kind = LiuTalwarBudget if accounting == "liu-talwar" else RenyiBudget
    monkeypatch.setattr(kind, "number_of_draws", lambda self, source: 137)
    runs = []
    original = PreparedCandidate.run

    def counted(self, *arguments):
        runs.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(PreparedCandidate, "run", counted)
    with caplog.at_level(logging.DEBUG):
        learned = fit(accounting=accounting)
    assert len(runs) == 137
    leaves = everything_in(learned)
    assert len(leaves) > 100
    assert not {136, 137, 138} & set(leaves)
    texts = [leaf for leaf in leaves if isinstance(leaf, str)]
    texts += [repr(learned), str(learned.posterior.certificate), caplog.text]
    assert not any("137" in text for text in texts)
    assert capsys.readouterr() == ("", "")
    assert [w.category for w in recwarn.list] in ([], [noise.SeededNoiseWarning])


def test_what_is_prepared_shows_no_value():
    assert repr(prepared(*halves())[0]) == "PreparedCandidate(...)"


def test_the_result_holds_no_row():
    X1, y1, X2, y2 = halves()
    leaves = set(everything_in(fit(X1, y1, X2, y2)))
    assert not leaves & {*X1.ravel(), *y1, *X2.ravel(), *y2}


def test_no_run_at_all_is_said_in_clear_words(monkeypatch):
    monkeypatch.setattr(RenyiBudget, "number_of_draws", lambda self, source: 0)
    with pytest.raises(RuntimeError, match="the budget is spent"):
        fit(accounting="renyi", shape=math.inf)


# --- bad input ------------------------------------------------------------------------------------

X = np.full((20, 1), SECRET)
Y = np.full(20, SECRET)


def with_hole(array, value):
    array = array.copy()
    array[3] = value
    return array


CASES = {
    "no candidates": ({"candidates": []}, ValueError, "at least one"),
    "a candidate is a kernel": ({"candidates": [RBF(1.0)]}, TypeError, "pairs, got RBF"),
    "a candidate of three": ({"candidates": [(RBF(1.0), 1.0, 1.0)]}, TypeError, "pairs"),
    "mixed kinds of kernels": (
        {"candidates": [(RBF(1.0), 0.1), (Equality(), 0.1)]},
        ValueError,
        "same kind of input",
    ),
    "noise_std is zero": ({"candidates": [(RBF(1.0), 0.0)]}, ValueError, "`noise_std` must be"),
    "an unbounded kernel": (
        {"candidates": [(DotProduct(), 0.1)]},
        ValueError,
        "bound",
    ),
    "the same inputs": ({"X2": X}, ValueError, "`X1` and `X2` share rows"),
    "the same targets": ({"y2": Y}, ValueError, "`y1` and `y2` share rows"),
    "overlapping inputs": ({"X1": X[:15], "X2": X[10:]}, ValueError, "share rows"),
    "overlapping frames": (
        {"X1": pd.DataFrame(X, copy=False), "X2": pd.DataFrame(X[5:], copy=False)},
        ValueError,
        "share rows",
    ),
    "other columns": (
        {"X1": pd.DataFrame(X, columns=["a"]), "X2": pd.DataFrame(X.copy(), columns=["b"])},
        ValueError,
        "same columns",
    ),
    "gamma is zero": ({"gamma": 0.0}, ValueError, "`gamma` must be positive"),
    "gamma is negative": ({"gamma": -0.1}, ValueError, "`gamma` must be positive"),
    "gamma is above one": ({"gamma": 1.1}, ValueError, "`gamma` must be at most 1"),
    "gamma is NaN": ({"gamma": math.nan}, ValueError, "`gamma` must be positive"),
    "gamma is text": ({"gamma": "0.1"}, TypeError, "`gamma` must be a number"),
    "gamma is above one, renyi": (
        {"gamma": 1.1, "accounting": "renyi"},
        ValueError,
        "`gamma` must be at most 1",
    ),
    "one draw expected": ({"gamma": 1.0, "accounting": "renyi"}, ValueError, "`mean_draws` must"),
    "no draws expected": (
        {"mean_draws": 0.0, "accounting": "renyi"},
        ValueError,
        "`mean_draws` must be positive",
    ),
    "shape is negative": ({"shape": -1.0, "accounting": "renyi"}, ValueError, "`shape` must be"),
    "accounting is unknown": ({"accounting": "moments"}, ValueError, "`accounting` must be one of"),
    "epsilon is zero": ({"epsilon": 0.0}, ValueError, "`epsilon` must be positive"),
    "epsilon is infinite": ({"epsilon": math.inf}, ValueError, "`epsilon` must be finite"),
    "delta is zero": ({"delta": 0.0}, ValueError, "`delta` must be"),
    "too small for a selection": ({"epsilon": 1e-9, "gamma": 1.0}, ValueError, "too small"),
    "too small for a selection, renyi": (
        {"epsilon": 1e-5, "accounting": "renyi"},
        ValueError,
        "too small|noise scale",
    ),
    "too small for any noise": ({"epsilon": 1e-3, "delta": 1e-8}, ValueError, "noise scale"),
    "too large for any noise": ({"epsilon": 1e12}, ValueError, "out of reach"),
    "X1 has one dimension": ({"X1": X[:, 0]}, ValueError, "in the training rows, `X`"),
    "X2 has one dimension": ({"X2": X[:, 0].copy()}, ValueError, "in the validation rows, `X`"),
    "X1 has one dimension, with bounds": (
        {"X1": X[:, 0], "bounds": (0, 1)},
        ValueError,
        "`X1` must have two dimensions",
    ),
    "X2 has other columns": (
        {"X2": np.full((20, 2), SECRET)},
        ValueError,
        "in the validation rows, `X` must have as many columns",
    ),
    "y2 has another length": ({"y2": Y[:7].copy()}, ValueError, "in the validation rows, `y`"),
    "y1 holds strings": ({"y1": Y.astype(str)}, TypeError, "in the training rows, `y` must hold"),
    "NaN in X2": ({"X2": with_hole(X, np.nan)}, ValueError, "in the validation rows"),
    "inf in y1": ({"y1": with_hole(Y, np.inf)}, ValueError, "in the training rows"),
    "missing is unknown": ({"missing": "drop"}, ValueError, "`missing` must be one of"),
    "inducing points outside": ({"bounds": (0, 1)}, ValueError, "must lie within `bounds`"),
    "inducing points in one dimension": (
        {"inducing_points": Z[:, 0]},
        ValueError,
        "`inducing_points` must be numbers",
    ),
    "target_bound is negative": ({"target_bound": -1.0}, ValueError, "`target_bound` must be"),
}


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_bad_input_is_refused_before_any_noise_and_without_private_values(case, monkeypatch):
    def fail(self, *arguments):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(noise.SecureNoise, "draw", fail)
    monkeypatch.setattr(noise.SecureNoise, "uniform", fail)
    changes, error, text = CASES[case]
    arguments = {
        "X1": X,
        "y1": Y,
        "X2": X.copy(),
        "y2": Y.copy(),
        "inducing_points": Z,
        "candidates": CANDIDATES,
        "target_bound": 1.0,
        "epsilon": 1.0,
        "delta": 1e-5,
    }
    with pytest.raises(error, match=text) as caught:
        dp_gp_learn_hyperparameters(**(arguments | changes))
    assert "123456" not in str(caught.value)
    assert not re.search(r"row(s)? \d", str(caught.value))
    assert caught.value.__cause__ is None


def test_interleaved_halves_are_disjoint():
    rows, targets = data()
    assert fit(rows[::2], targets[::2], rows[1::2], targets[1::2]).candidate


@pytest.mark.parametrize("n_jobs", [0, 2.0, "2", True], ids=str)
def test_other_jobs_are_refused_before_anything_is_computed(n_jobs, monkeypatch):
    monkeypatch.setattr("dpgp.paper.learning.selection_budget", None)
    with pytest.raises((TypeError, ValueError), match="`n_jobs` must"):
        fit(n_jobs=n_jobs)
