"""Inputs with long tails: their marginals, the line in them, and what it does to a fit."""

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest

from dpgp import PrivateGPRegressor, export, load
from dpgp.domain import Box
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.directions import gradient_metric
from dpgp.inference.many.marginals import estimate_marginals
from dpgp.inference.many.metric import (
    FARTHEST_IN_TAILS,
    REFERENCE,
    TAIL_SD,
    MetricFamily,
    kernel_of,
    line_of_tails,
)
from dpgp.inference.many.records import WeightBelief
from dpgp.verify.file import verify

N, BINS = 4_000, 64
RNG = np.random.default_rng(0)
COLUMNS = {
    "lognormal": (np.minimum(RNG.lognormal(size=N), 40.0), (0, 40)),
    "uniform": (RNG.uniform(0, 1, N), (0, 1)),
    "counts": (np.minimum(RNG.poisson(RNG.gamma(0.3, 7.0, N)), 60.0), (0, 60)),
    "bell": (np.clip(RNG.normal(size=N), -5, 5), (-5, 5)),
    "Pareto, mirrored": (np.maximum(-RNG.pareto(2.5, N), -20.0), (-20, 0)),
}
IS_LONG = np.array([True, False, True, False, True])
BOX = Box.from_bounds([bounds for _, bounds in COLUMNS.values()], len(COLUMNS))
SCALED = np.array([x for x, _ in COLUMNS.values()]).T
SCALED = (SCALED - BOX.centre) / BOX.half_width


def marginals_of(noise, seed=1):
    edges = np.linspace(-1, 1, BINS + 1)
    counts = np.array([np.histogram(u, edges)[0] for u in SCALED.T], dtype=float)
    counts += noise * np.random.default_rng(seed).normal(size=counts.shape)
    return estimate_marginals(counts, noise, N, BOX)


@pytest.mark.parametrize("noise", [1.0, 20.0, 60.0])
def test_noise_in_empty_bins_is_not_taken_for_a_tail(noise):
    levels = np.tile((np.arange(4000) + 0.5)[:, None] / 4000, SCALED.shape[1])
    found = marginals_of(noise).quantiles(levels).std(axis=0)
    np.testing.assert_allclose(found[IS_LONG], SCALED.std(axis=0)[IS_LONG], rtol=0.6)


@pytest.mark.parametrize("noise", [1.0, 20.0])
def test_inputs_with_long_tails_have_a_line_and_others_none(noise):
    tails = line_of_tails(marginals_of(noise), np.full(5, True))
    np.testing.assert_array_equal(np.any(tails.heights != 0.0, axis=1), IS_LONG)


def test_the_line_is_straight_in_the_input_as_it_is():
    marginals = marginals_of(1.0)
    tails = line_of_tails(marginals, np.full(5, True))
    warped = marginals.warp().apply(SCALED)
    mean, sd = SCALED.mean(axis=0), SCALED.std(axis=0)
    z = np.clip((SCALED - mean) / sd, -FARTHEST_IN_TAILS, FARTHEST_IN_TAILS)[:, IS_LONG]
    far = np.abs(z).max(axis=1) > 3.0
    expected = z @ z[far].T / 3
    size = np.sqrt(np.outer(np.sum(z**2, axis=1), np.sum(z[far] ** 2, axis=1))) / 3
    assert np.max(np.abs(tails(warped, warped[far]) - expected) / (0.1 + size)) < 0.2
    assert tails.diag(warped).mean() == pytest.approx(1.0, abs=0.1)


def test_indicators_have_no_tails():
    is_number = np.array([True, False, True, True, True, False, True])
    heights = line_of_tails(marginals_of(1.0), is_number).heights
    assert heights.shape == (7, BINS + 1)
    assert not heights[~is_number].any()


@pytest.mark.parametrize("noise", [1.0, 20.0])
def test_without_long_tails_there_is_no_line(noise):
    marginals, short = marginals_of(noise), ~IS_LONG
    alone = replace(marginals, masses=marginals.masses[short], atoms=marginals.atoms[short])
    assert line_of_tails(alone, np.full(2, True)) is None


FEW_VALUES = {
    "one in ten ones": ([0, 1], [0.9, 0.1]),
    "one in fifty ones": ([0, 1], [0.98, 0.02]),
    "one in twenty zeros": ([0, 1], [0.05, 0.95]),
    "no and 5": ([0, 5], [0.97, 0.03]),
    "three values": ([0, 0.5, 1], [0.9, 0.05, 0.05]),
    "a sign that is mostly nothing": ([-1, 0, 1], [0.03, 0.94, 0.03]),
}


@pytest.mark.parametrize("noise", [1.0, 20.0])
@pytest.mark.parametrize("name", FEW_VALUES)
def test_few_values_are_no_tail_however_rare(name, noise):
    values, shares = FEW_VALUES[name]
    box = Box.from_bounds([(values[0], values[-1])], 1)
    scaled = (np.array(values) - box.centre) / box.half_width
    for seed in range(5):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(scaled, N, p=shares)
        counts = np.histogram(drawn, np.linspace(-1, 1, BINS + 1))[0][None] + 0.0
        counts += noise * rng.normal(size=counts.shape)
        marginals = estimate_marginals(counts, noise, N, box)
        assert line_of_tails(marginals, np.full(1, True)) is None


@pytest.mark.parametrize("noise", [1.0, 20.0, 60.0])
def test_two_values_at_the_bounds_are_seen_through_noise(noise):
    rng, ones = np.random.default_rng(0), int(0.05 * N)
    counts = np.zeros((1, BINS))
    counts[0, [0, -1]] = N - ones, ones
    counts += noise * rng.normal(size=counts.shape)
    found = estimate_marginals(counts, noise, N, Box.from_bounds([(0, 1)], 1))
    assert found.masses[0, -1] == pytest.approx(0.05, abs=4 * noise / N + 0.002)
    assert found.masses[0, 1:-1].sum() < 0.01
    np.testing.assert_array_equal(found.atoms[0, [0, -1]], [-1.0, 1.0])


def family_and_dictionary():
    marginals = marginals_of(1.0)
    rows = marginals.warp().apply(SCALED)[:1024]
    family = MetricFamily(np.eye(5), np.eye(5), line_of_tails(marginals, np.full(5, True)))
    return family, Dictionary(family, rows[:80], rows)


def test_the_line_has_a_prior_sd_of_its_own_which_may_go_to_nothing():
    family, dictionary = family_and_dictionary()
    sds = np.array([0.3, 0.5, 0.2, 0.4, 0.6, 0.9])
    P, Z = dictionary.features.projection, dictionary.points
    expected = P @ kernel_of(family.root, family.broad, sds, family.tails)(Z) @ P.T
    theta = np.append(np.log(sds), 0.0)
    np.testing.assert_allclose(dictionary.priors.at(theta, 1.0), expected, rtol=1e-7, atol=1e-9)
    kernel, thetas = family.in_bounds(theta[None], 1.0)
    again = P @ kernel.clone_with_theta(thetas[0])(Z) @ P.T
    np.testing.assert_allclose(again, expected, rtol=1e-7, atol=1e-9)
    lowest = np.exp(family.within(np.full(7, -50.0)))
    assert lowest[3] < 0.05 * TAIL_SD
    assert np.all(lowest[[0, 1, 2, 4, 5]] > 0.2 * REFERENCE)


def test_far_rows_do_not_make_the_metric():
    """The warped line is as steep as a wall in the tail, which no smooth part shall follow."""
    family, dictionary = family_and_dictionary()
    line = dictionary.nearest(family.tails(dictionary.synthetic, dictionary.synthetic[:1])[:, 0])
    belief = WeightBelief(line, np.zeros((1, len(line))))
    found = []
    family.renewed(
        lambda part: found.append(gradient_metric(dictionary, belief, part)) or np.eye(5)
    )
    assert np.trace(found[0]) < 0.01 * np.trace(gradient_metric(dictionary, belief))


@pytest.fixture(scope="module")
def tailed():
    rng = np.random.default_rng(3)
    X = np.minimum(rng.lognormal(size=(6000, 3)), 40.0)
    y = X[:, 0] - 0.6 * X[:, 1] + rng.normal(size=6000)
    model = PrivateGPRegressor(
        epsilon=3.0, delta=1e-5, bounds=(0, 40), target_bounds=(-25, 45), random_state=0
    )
    return model.fit(X[:3000], y[:3000]), X, y


def test_a_fit_is_as_good_as_a_line_without_privacy_where_tails_carry_the_outcome(tailed):
    model, X, y = tailed
    A = np.column_stack([np.ones(6000), X])
    line = A[3000:] @ np.linalg.lstsq(A[:3000], y[:3000], rcond=None)[0]
    errors = [np.sqrt(np.mean((p - y[3000:]) ** 2)) for p in (model.predict(X[3000:]), line)]
    assert errors[0] < 1.1 * errors[1]


def test_a_file_brings_the_line_back(tailed, tmp_path):
    model, X, _ = tailed
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X[:50]), model.predict(X[:50]))


def test_what_leaves_a_fit_has_the_line(tailed, tmp_path):
    model, X, _ = tailed
    model.save(tmp_path / "model.json")
    wrong = [each.detail for each in verify(tmp_path / "model.json") if not each.holds]
    assert wrong == ["simulation, not private"]
    session = onnxruntime.InferenceSession(export.to_onnx(model).SerializeToString())
    (mean,) = session.run(["mean"], {"X": X[:50]})
    np.testing.assert_allclose(mean, model.predict(X[:50]), atol=1e-6)
