"""Selection: calibration, the law of the secret number of draws, and exact audits."""

import inspect
import logging
import math
import warnings
from itertools import permutations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import chisquare, norm

import dpgp.privacy
from dpgp.privacy import selection as module
from dpgp.privacy.calibration import mu_of_epsilon_delta
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SecureNoise, SimulatedNoise
from dpgp.privacy.selection import (
    COUNT_ERROR,
    SMALLEST_LOG_PROBABILITY,
    LiuTalwarBudget,
    RenyiBudget,
    happens,
    select,
    selection_epsilon,
)

SHAPES = {"logarithmic": 0.0, "geometric": 1.0, "negative binomial": 2.5, "Poisson": math.inf}


class FixedDraws:
    """A budget whose number of draws the test knows."""

    total, statement = (1.0, 1e-5), "best of a secret number of runs"

    def __init__(self, draws):
        self.draws = draws

    def number_of_draws(self, source):
        return self.draws


class Digits:
    """A source that hands out given numbers."""

    is_private = False

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def uniform(self):
        return self.numbers.pop(0)


# --- calibration ----------------------------------------------------------------------------------


def liu_talwar_multiplier(mean):
    budget = LiuTalwarBudget.for_total(1.0, 1e-5, 1.0 / mean)
    return 1.0 / mu_of_epsilon_delta(budget.epsilon, budget.delta)


@pytest.mark.parametrize(
    ("mean", "liu_talwar", "geometric", "logarithmic"),
    [(10.0, 21.6, 8.5, 7.0), (100.0, 23.4, 10.8, 8.4)],
)
def test_noise_multipliers_at_one_and_1e_5(mean, liu_talwar, geometric, logarithmic):
    assert liu_talwar_multiplier(mean) == pytest.approx(liu_talwar, abs=0.05)
    for shape, expected in ((1.0, geometric), (0.0, logarithmic)):
        budget = RenyiBudget.for_total(1.0, 1e-5, mean, shape)
        assert 1.0 / budget.mu == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_renyi_spends_the_budget_and_no_more(shape):
    budget = RenyiBudget.for_total(1.0, 1e-5, 10.0, shape)
    # the law of K is exp(±COUNT_ERROR) off: ε + 2·COUNT_ERROR, δ·exp(COUNT_ERROR)
    delta = 1e-5 * math.exp(-COUNT_ERROR)
    spent = selection_epsilon(1.0 / budget.mu, delta, 10.0, shape) + 2.0 * COUNT_ERROR
    assert 0.999999 < spent <= 1.0


def test_the_papers_example():
    budget = LiuTalwarBudget.for_total(1.0, 1e-4, 0.01)
    assert budget.delta == pytest.approx(3.07e-15, rel=2e-3)
    assert budget.max_draws == 1176


@given(st.floats(1e-4, 50), st.floats(-28, -0.7).map(math.exp), st.floats(-9.2, 0).map(math.exp))
def test_liu_talwar_totals_never_exceed_the_request(epsilon, delta, gamma):
    try:
        budget = LiuTalwarBudget.for_total(epsilon, delta, gamma)
    except ValueError:  # too small a budget: tested below
        assume(False)
    with mp.workdps(60):
        root, T = mp.sqrt(2 * mp.mpf(budget.delta)), budget.max_draws
        total_epsilon = 3 * mp.mpf(budget.epsilon) + 3 * root
        total_delta = root * T + mp.exp(-mp.mpf(gamma) * T)
        assert total_epsilon <= epsilon
        assert total_delta <= delta
        assert total_epsilon == pytest.approx(epsilon, rel=1e-9)
        assert total_delta == pytest.approx(delta, rel=1e-9)


def test_the_printed_number_of_draws_rounded_up_would_overshoot():
    delta, gamma = 1e-4, 0.3
    t = brentq(lambda x: x * (1.0 - math.log(x)) - delta, 1e-9, delta, xtol=1e-18)
    T = math.ceil(-math.log(t) / gamma)
    assert gamma * t * T + math.exp(-gamma * T) > delta * (1.0 + 1e-6)  # √(2δ) = γt as printed


@pytest.mark.parametrize(
    ("calibrate", "text"),
    [
        (lambda: LiuTalwarBudget.for_total(1.0, 1e-5, 0.0), "`gamma` must be positive"),
        (lambda: LiuTalwarBudget.for_total(1.0, 1e-5, 1.5), "`gamma` must be at most 1"),
        (lambda: LiuTalwarBudget.for_total(1.0, 1e-5, math.nan), "`gamma` must be positive"),
        (lambda: LiuTalwarBudget.for_total(1e-7, 1e-2, 1.0), "too small for a selection"),
        (lambda: LiuTalwarBudget.for_total(1.0, 1e-160, 0.01), "too small for a selection"),
        (lambda: LiuTalwarBudget.for_total(math.inf, 1e-5, 0.1), "`epsilon` must be finite"),
        (lambda: LiuTalwarBudget.for_total(1.0, 0.0, 0.1), "`delta` must be"),
        (lambda: RenyiBudget.for_total(1e-7, 1e-5, 10.0, 0.0), "`epsilon` must be between"),
        (lambda: RenyiBudget.for_total(1e-5, 1e-9, 10.0, 0.0), "too small for a selection"),
        (lambda: RenyiBudget.for_total(1.0, 1e-250, 10.0, 0.0), "`delta` at least"),
        (lambda: RenyiBudget.for_total(1.0, 1e-5, 1.0, 0.0), "`mean_draws` must be between"),
        (lambda: RenyiBudget.for_total(1.0, 1e-5, 0.0, 0.0), "`mean_draws` must be positive"),
        (lambda: RenyiBudget.for_total(1.0, 1e-5, 5000.0, 0.0), "too large for `shape`"),
        (lambda: RenyiBudget.for_total(1.0, 1e-5, 10.0, -1.0), "`shape` must be"),
        (lambda: RenyiBudget.for_total(1.0, 1e-5, 10.0, 1e-9), "`shape` must be"),
        (lambda: RenyiBudget.for_total(1.0, 1e-5, 10.0, math.nan), "`shape` must be"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(calibrate, text):
    with pytest.raises(ValueError, match=text):
        calibrate()


# --- the law of K ---------------------------------------------------------------------------------

LAWS = [
    (10.0, 0.0),
    (1.01, 0.0),
    (100.0, 1.0),
    (5.0, 2.5),
    (300.0, 60.0),
    (3.0, math.inf),
    (900.0, math.inf),
]


def exact_gamma(mean, shape):
    def excess(gamma):
        if shape == 0.0:
            return (1 / gamma - 1) / mp.log(1 / gamma) - mean
        return shape * (1 - gamma) / gamma / (1 - gamma**shape) - mean

    start = mp.mpf(module._tnb_gamma(float(mean), float(shape)))
    return mp.findroot(excess, (start, start * (1 + mp.mpf("1e-6"))), solver="secant")


def exact_log_law(mean, shape, k):
    """log P(K = k) in many digits, from the definitions of Papernot & Steinke (2022)."""
    if shape == math.inf:
        return [j * mp.log(mean) - mean - mp.loggamma(j + 1) for j in k]
    gamma = exact_gamma(mp.mpf(mean), mp.mpf(shape))
    if shape == 0.0:
        return [j * mp.log(1 - gamma) - mp.log(j) - mp.log(mp.log(1 / gamma)) for j in k]
    eta = mp.mpf(shape)
    head = -mp.log(gamma**-eta - 1) - mp.loggamma(eta)
    return [head + j * mp.log(1 - gamma) + mp.loggamma(j + eta) - mp.loggamma(j + 1) for j in k]


def drawn_log_law(budget):
    """The first K that is drawn, and log P(K = k) as the hazards make it, without rounding."""
    first, hazards = budget._hazards
    survival, logs = mp.mpf(0), []
    for hazard in hazards:
        logs.append(survival + mp.log(mp.mpf(float(hazard))))
        survival += mp.log1p(-mp.mpf(float(hazard))) if hazard < 1.0 else -mp.inf
    return first, logs


@pytest.mark.parametrize(("mean", "shape"), LAWS)
def test_the_drawn_law_of_k_is_the_exact_one_for_every_k(mean, shape):
    budget = RenyiBudget(0.1, mean, shape, (1.0, 1e-5))
    with mp.workdps(40):
        first, drawn = drawn_log_law(budget)
        k = range(first, first + len(drawn))
        exact = exact_log_law(mean, shape, k)
        assert max(abs(a - b) for a, b in zip(drawn, exact, strict=True)) < COUNT_ERROR / 10
        law = [mp.exp(value) for value in exact]
        assert abs(mp.fsum(law) - 1) < 1e-25
        assert mp.fsum(j * p for j, p in zip(k, law, strict=True)) == pytest.approx(mean)
        beyond = exact_log_law(mean, shape, [first + len(drawn)])[0]
        assert beyond < SMALLEST_LOG_PROBABILITY + 1.0


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_draw_follows_the_law(shape):
    budget, source = RenyiBudget(0.1, 6.0, shape, (1.0, 1e-5)), SimulatedNoise(5)
    check_draws(budget, source, lambda k: np.exp(budget.log_probability(k)))


def test_liu_talwar_stops_with_probability_gamma_and_after_t():
    T = 5
    budget = LiuTalwarBudget(0.3, 1e-9, 0.3, T, (1.0, 1e-2))

    def law(k):
        return np.where(k < T, 0.3 * 0.7 ** (k - 1.0), np.where(k == T, 0.7 ** (T - 1.0), 0.0))

    check_draws(budget, SimulatedNoise(6), law)


def check_draws(budget, source, law, n=20_000):
    draws = np.array([budget.number_of_draws(source) for _ in range(n)])
    smallest = 0 if getattr(budget, "shape", 1) == math.inf else 1
    k = np.arange(smallest, 25)
    observed = np.array([(draws == j).sum() for j in k] + [(draws >= 25).sum()], float)
    p = np.array([law(k.astype(float))]).ravel()
    expected = n * np.append(p, max(1.0 - p.sum(), 0.0))
    common = expected > 10
    observed = np.append(observed[common], observed[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    assert observed.sum() == n
    if expected[-1] < 1e-6:
        assert observed[-1] == 0
        observed, expected = observed[:-1], expected[:-1]
    assert chisquare(observed, expected * n / expected.sum()).pvalue > 1e-6


def test_rare_events_happen_exactly_as_often_as_they_should():
    tiny = 2.0**-53 * 0.75
    assert not happens(tiny, Digits(2.0**-53))  # first digit above that of the probability
    assert happens(tiny, Digits(0.0, 0.74))  # first digit equal: the second one decides
    assert not happens(tiny, Digits(0.0, 0.76))
    assert not happens(0.0, Digits())
    assert happens(1.0, Digits(1.0 - 2.0**-53))
    share = np.mean([happens(0.3, source) for source in [SimulatedNoise(1)] * 20_000])
    assert share == pytest.approx(0.3, abs=5 * math.sqrt(0.21 / 20_000))


# --- exact audits on mechanisms with few outcomes -------------------------------------------------


def generating_function(law, x):
    """E[x^K] for the law of K given as an array, P(K = 0) first."""
    return np.array([law @ value ** np.arange(len(law)) for value in np.atleast_1d(x)])


def best_of_k(law, p):
    """Exact law of the best outcome, outcomes in rising order of score; no outcome comes first."""
    cumulative = np.concatenate([[0.0], np.cumsum(p)])
    values = generating_function(law, np.minimum(cumulative, 1.0))
    return np.concatenate([[law[0]], np.diff(values)])


def exact_delta(P, Q, epsilon):
    return max(np.maximum(a - math.exp(epsilon) * b, 0.0).sum() for a, b in ((P, Q), (Q, P)))


def renyi_law(budget):
    first, hazards = budget._hazards
    survival = np.concatenate([[1.0], np.cumprod(1.0 - hazards)[:-1]])
    law = np.concatenate([np.zeros(first), survival * hazards])
    return law[: 1 + np.flatnonzero(law > 1e-18)[-1]]


def liu_talwar_law(budget):
    survival = (1.0 - budget.stop_probability) ** np.arange(budget.max_draws)
    return np.concatenate(
        [[0.0], budget.stop_probability * survival[:-1], survival[-1:]],
    )


def binned_gaussians(mu, cuts):
    """Two neighbours' laws of a score N(0, 1) or N(μ, 1), of which only the bin is seen."""
    return [np.diff(norm.cdf(np.concatenate([[-np.inf], cuts - m, [np.inf]]))) for m in (0.0, mu)]


def seen_delta(law, p, q, epsilon):
    """Exact δ where the number of draws is published beside the best outcome."""
    cuts = [np.concatenate([[0.0], np.cumsum(x)]) for x in (p, q)]
    pairs = [[np.diff(np.minimum(c, 1.0) ** k) for c in cuts] for k in range(1, len(law))]
    return max(
        sum(
            w * np.maximum(pair[a] - math.exp(epsilon) * pair[1 - a], 0.0).sum()
            for w, pair in zip(law[1:], pairs, strict=True)
        )
        for a in (0, 1)
    )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("mean", [10.0, 100.0])
def test_renyi_keeps_its_promise_exactly(shape, mean):
    budget = RenyiBudget.for_total(1.0, 1e-5, mean, shape)
    law = renyi_law(budget)
    for cuts in (np.linspace(-3.0, 5.0, 40), np.array([2.0]), np.array([0.0])):
        p, q = binned_gaussians(budget.mu, cuts)
        assert exact_delta(best_of_k(law, p), best_of_k(law, q), 1.0) <= 1e-5


def test_renyi_audit_would_notice_noise_that_is_too_small():
    # a run calibrated as if it were the only one
    budget = RenyiBudget.for_total(1.0, 1e-5, 100.0, 0.0)
    p, q = binned_gaussians(mu_of_epsilon_delta(1.0, 1e-5), np.linspace(-3.0, 5.0, 40))
    law = renyi_law(budget)
    assert exact_delta(best_of_k(law, p), best_of_k(law, q), 1.0) > 1e-4


def test_with_k_seen_the_promise_would_be_broken():
    budget = RenyiBudget.for_total(1.0, 1e-5, 100.0, 0.0)
    law, (p, q) = renyi_law(budget), binned_gaussians(budget.mu, np.array([2.0]))
    assert exact_delta(best_of_k(law, p), best_of_k(law, q), 1.0) < 1e-8
    assert seen_delta(law, p, q, 1.0) > 1e-4


def leaky_response(epsilon, delta):
    """The worst (ε, δ)-DP mechanism there is: tells the bit with probability δ, else flips."""
    truth = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    bit = (1.0 - delta) * np.array([truth, 1.0 - truth])
    return np.array([delta, *bit, 0.0]), np.array([0.0, *bit[::-1], delta])


@pytest.mark.parametrize("gamma", [0.02, 0.3, 1.0])
def test_liu_talwar_keeps_its_promise_exactly(gamma):
    budget = LiuTalwarBudget.for_total(1.0, 1e-3, gamma)
    law, (p, q) = liu_talwar_law(budget), leaky_response(budget.epsilon, budget.delta)
    for order in permutations(range(4)):
        laws = [best_of_k(law, x[list(order)]) for x in (p, q)]
        assert exact_delta(*laws, 1.0) <= 1e-3
        # the bound that docs/proofs/selection.md proves, sharper than the published one
        sharper = budget.delta / gamma + (1.0 - gamma) ** budget.max_draws
        assert exact_delta(*laws, 3.0 * budget.epsilon) <= sharper + 1e-15


def test_three_epsilon_is_attained_and_not_exceeded():
    # a rare outcome below a frequent one: both move by ε, and the second counts twice
    epsilon, k = 0.2, np.arange(20_000)
    law = np.where(k > 0, 1e-3 * (1.0 - 1e-3) ** (k - 1.0), 0.0)
    top, rare = 0.3, 1e-4
    p = np.array([1.0 - rare * math.exp(epsilon) - top, rare * math.exp(epsilon), top])
    q = np.array([1.0 - rare - top * math.exp(epsilon), rare, top * math.exp(epsilon)])
    losses = np.abs(np.log(best_of_k(law, p)[1:] / best_of_k(law, q)[1:]))
    assert 2.97 * epsilon < losses.max() <= 3.0 * epsilon


def test_liu_talwar_with_k_seen_would_break_its_promise():
    budget = LiuTalwarBudget.for_total(1.0, 1e-5, 0.01)
    law, (p, q) = liu_talwar_law(budget), leaky_response(budget.epsilon, budget.delta)
    assert exact_delta(best_of_k(law, p), best_of_k(law, q), 1.0) < 1e-12
    assert seen_delta(law, p[1:3] / p[1:3].sum(), q[1:3] / q[1:3].sum(), 1.0) > 6e-4


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_select_returns_outcomes_with_the_exact_law(shape):
    budget, rng = RenyiBudget(0.1, 4.0, shape, (1.0, 1e-5)), np.random.default_rng(3)
    p, n = np.array([0.5, 0.3, 0.15, 0.05]), 10_000
    source = SimulatedNoise(4)

    def mechanism():
        outcome = rng.choice(4, p=p)
        return float(outcome), outcome

    results = [select(mechanism, budget, source) for _ in range(n)]
    counts = np.bincount([0 if r is None else 1 + r[1] for r in results], minlength=5)
    expected = n * best_of_k(renyi_law(budget), p)
    possible = expected > 1e-9
    assert counts[~possible].sum() == 0
    assert chisquare(counts[possible], expected[possible]).pvalue > 1e-6


# --- runs without a score -------------------------------------------------------------------------

NO_SCORE = (math.nan, -math.inf, 0.0, 1.0)  # outcomes of a mechanism, the first without a score


def kept(first, second):
    """Which of two outcomes, numbered as in NO_SCORE, ``select`` keeps."""
    results = iter([(NO_SCORE[first], first), (NO_SCORE[second], second)])
    return select(lambda: next(results), FixedDraws(2))[1]


KEPT = np.array([[kept(first, second) for second in range(4)] for first in range(4)])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_a_selection_keeps_the_better_of_what_it_has_and_the_next(outcomes):
    results = iter([(NO_SCORE[outcome], outcome) for outcome in outcomes])
    best = outcomes[0]
    for outcome in outcomes[1:]:
        best = KEPT[best, outcome]
    assert select(lambda: next(results), FixedDraws(len(outcomes)))[1] == best


def geometric_selection(gamma, p):
    """Exact law of what is kept after a geometric number of runs, Σ γ(1−γ)^{k−1} p M^{k−1}."""
    M = np.array([[p[KEPT[best] == state].sum() for state in range(4)] for best in range(4)])
    return gamma * np.linalg.solve((np.eye(4) - (1.0 - gamma) * M).T, p)


def test_runs_without_a_score_cost_no_more_than_others():
    # few runs have a score: their share moves by ε too, and a first NaN that stays would show it
    epsilon, gamma, low, rare, top = 0.5, 1e-7, 1e-2, 1e-9, 1e-5
    up = np.array([low, rare, top]) * np.exp(epsilon * np.array([1, 1, 0]))
    down = np.array([low, rare, top]) * np.exp(epsilon * np.array([0, 0, 1]))
    p, q = (np.array([1.0 - scored.sum(), *scored]) for scored in (up, down))
    assert np.abs(np.log(p / q)).max() <= epsilon * (1 + 1e-12)
    losses = np.abs(np.log(geometric_selection(gamma, p) / geometric_selection(gamma, q)))
    assert 2.9 * epsilon < losses.max() <= 3.0 * epsilon


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=4, max_size=4),
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4),
    st.floats(1e-4, 0.9),
)
def test_no_scores_exceed_the_claim_of_a_geometric_selection(weights, signs, gamma):
    p, q = np.array(weights), np.array(weights) * np.exp(0.25 * np.array(signs))
    p, q = p / p.sum(), q / q.sum()
    epsilon = np.abs(np.log(p / q)).max()
    losses = np.abs(np.log(geometric_selection(gamma, p) / geometric_selection(gamma, q)))
    assert losses.max() <= 3.0 * epsilon + 1e-9


# --- the loop and its secret ----------------------------------------------------------------------


def runs(*scores):
    results = iter([(score, position) for position, score in enumerate(scores)])
    return lambda: next(results)


def test_the_best_run_is_returned_and_ties_go_to_the_earlier():
    assert select(runs(1.0, 3.0, 2.0, 3.0), FixedDraws(4)) == (3.0, 1)
    assert select(runs(-math.inf, -math.inf), FixedDraws(2)) == (-math.inf, 0)


def test_a_score_that_is_no_number_ranks_below_all_and_its_ties_go_to_the_earlier():
    assert select(runs(math.nan, -math.inf, math.nan), FixedDraws(3)) == (-math.inf, 1)
    assert select(runs(0.0, math.nan), FixedDraws(2)) == (0.0, 0)
    assert select(runs(math.nan, np.nan, np.float32("nan")), FixedDraws(3))[1] == 0


@pytest.mark.parametrize("draws", [1, 5])
def test_a_score_that_cannot_be_ranked_fails_at_the_first_run_whatever_their_number(draws):
    with pytest.raises(TypeError, match="must be real number"):
        select(lambda: (None, "model"), FixedDraws(draws))


def test_no_run_is_none():
    assert select(runs(), FixedDraws(0)) is None


def test_the_secure_generator_is_the_default():
    sources = []

    class Budget(FixedDraws):
        def number_of_draws(self, source):
            sources.append(source)
            return 1

    select(runs(1.0), Budget(1))
    assert isinstance(sources[0], SecureNoise)
    assert LiuTalwarBudget.for_total(1.0, 1e-2, 0.5).number_of_draws(sources[0]) >= 1


def test_selection_knows_nothing_of_gaussian_processes():
    imports = [line for line in inspect.getsource(module).splitlines() if "import" in line]
    ours = [line for line in imports if "dpgp" in line]
    assert ours
    assert all("dpgp.privacy" in line or "dpgp.types" in line for line in ours)


@pytest.mark.parametrize("draws", [137, 137_000])
def test_the_number_of_runs_leaves_no_trace(draws, caplog, recwarn, capsys):
    def mechanism():
        warnings.warn("a run", UserWarning, stacklevel=1)
        return 1.0, "model"

    with caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        assert select(mechanism, FixedDraws(draws), SimulatedNoise(0)) == (1.0, "model")
    assert not caplog.records
    assert not recwarn.list
    assert capsys.readouterr() == ("", "")


def test_an_error_of_a_run_says_nothing_of_the_others():
    calls = iter(range(1000))

    def mechanism():
        if next(calls) == 57:
            raise ArithmeticError("no answer")
        return 1.0, "model"

    with pytest.raises(ArithmeticError) as caught:
        select(mechanism, FixedDraws(137), SimulatedNoise(0))
    assert str(caught.value) == "no answer"
    assert not getattr(caught.value, "__notes__", [])
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "budget",
    [LiuTalwarBudget.for_total(1.0, 1e-5, 0.1), RenyiBudget.for_total(1.0, 1e-5, 10.0, 0.0)],
    ids=["liu-talwar", "renyi"],
)
def test_a_certificate_books_one_event_whatever_the_number(budget):
    certificates = []
    for seed in range(5):
        source = SimulatedNoise(seed)
        select(lambda: (1.0, None), budget, source)
        certificates.append(Certificate.of_selection(budget, Neighbours.REPLACE, source))
    assert len(set(certificates)) == 1
    assert (certificates[0].epsilon, certificates[0].delta) == (1.0, 1e-5)
    assert len(certificates[0].releases) == 1
    assert "secret number of runs" in str(certificates[0])


def test_names_are_found_where_the_documentation_says():
    assert dpgp.privacy.select is module.select
    with pytest.raises(AttributeError, match="no attribute 'selecting'"):
        dpgp.privacy.selecting  # noqa: B018
