"""Ways to read a law from a noisy histogram, beside each other: docs/results/laws.md.

    python benchmarks/laws.py [inputs] [levels] [targets] [--draws 200]

Simulated histograms of known laws, with the bins and the noise that a fit of five inputs would have
at δ = 1e-5. A row of a table is n and ε: errors are geometric means over the laws of root mean
squares (of levels: means) over draws, and the last columns name the law that changes most.
"""

import argparse
import math

import numpy as np
from scipy.special import ndtri

from dpgp.inference.many import location
from dpgp.inference.many.mixed import EVEN, level_masses
from dpgp.inference.many.plan import (
    INPUT_SHARE,
    bins_of_inputs,
    bins_of_target,
    buys_input_model,
    target_share,
)
from dpgp.inference.noisy_law import BEND_SDS, Candidates, _bend_covariance
from dpgp.inference.pull_back import project_to_simplex
from dpgp.inference.warp import smooth_candidates
from dpgp.privacy.calibration import mu_of_epsilon_delta

ROWS, EPSILONS, DELTA, COLUMNS = (300, 1_000, 5_000, 30_000), (0.3, 1.0, 3.0), 1e-5, 5
LEVELS = (2, 3, 6, 20, 64)
RNG = np.random.default_rng(0)


def clipped_normal(mean, sd, n):
    return np.clip(RNG.normal(mean, sd, n), -1.0, 1.0)


def costs(mean, n):
    return np.minimum(mean * RNG.standard_exponential(n) - 1.0, 1.0)


def either(share, one, other):
    return np.where(RNG.random(len(one)) < share, one, other)


def two_humps(n):
    return either(0.4, clipped_normal(-0.6, 0.1, n), clipped_normal(0.4, 0.2, n))


INPUTS = {
    "uniform": lambda n: RNG.uniform(-1, 1, n),
    "bell": lambda n: clipped_normal(0.1, 0.3, n),
    "narrow bell": lambda n: clipped_normal(-0.5, 0.06, n),
    "skewed": lambda n: costs(0.3, n),
    "crowded": lambda n: 2 * RNG.beta(2, 5, n) - 1,
    "corner": lambda n: costs(0.04, n),
    "two humps": two_humps,
    "zeros and ones": lambda n: either(0.3, np.ones(n), -1.0),
    "whole numbers": lambda n: RNG.integers(-4, 5, n) / 5.0,
    "zeros and costs": lambda n: either(0.6, -np.ones(n), costs(0.3, n)),
}
TARGETS = {
    "bell": lambda n: clipped_normal(-0.2, 0.2, n),
    "narrow bell": lambda n: clipped_normal(0.3, 0.05, n),
    "skewed": lambda n: costs(0.3, n),
    "lognormal": lambda n: np.minimum(0.1 * np.exp(RNG.normal(0, 0.8, n)) - 1, 1),
    "even": lambda n: RNG.uniform(-0.7, 0.9, n),
    "two values": lambda n: either(0.3, np.ones(n), -1.0),
    "rare yes": lambda n: either(0.05, np.ones(n), -1.0),
    "spike": lambda n: either(0.9, np.full(n, -0.4), RNG.uniform(-1, 1, n)),
    "costs": lambda n: either(0.6, -np.ones(n), costs(0.2, n)),
    "three values": lambda n: RNG.choice([-1.0, 0.1, 1.0], n, p=[0.5, 0.1, 0.4]),
    "five values": lambda n: RNG.choice([-1, -0.5, 0, 0.5, 1], n, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
    "two humps": two_humps,
}
TWO_VALUES = ("two values", "rare yes")


def settings(columns):
    """Return n, ε and μ where histograms of the inputs are bought, or all of them."""
    found = [(n, eps, mu_of_epsilon_delta(eps, DELTA)) for n in ROWS for eps in EPSILONS]
    return [one for one in found if not columns or buys_input_model(one[0] * one[2], columns)]


def noisy_histograms(law, n, bins, noise_std, draws):
    """Return draws of rows, and noisy counts of each."""
    rows, edges = [law(n) for _ in range(draws)], np.linspace(-1, 1, bins + 1)
    counts = np.array([np.histogram(y, edges)[0] for y in rows])
    return rows, counts + noise_std * RNG.standard_normal(counts.shape)


def posterior(counts, noise_std, n, candidates):
    """Return mean masses of many histograms, and every candidate's weight: `believe`, at once."""
    means, log_weights = [], []
    for b, S, log_prior in zip(
        candidates.bins, candidates.spreads, candidates.log_prior, strict=True
    ):
        drawn = candidates.sampling * n * (np.diag(b) - np.outer(b, b))
        noise = drawn + (noise_std**2 + 1e-9 * n) * np.eye(len(b))
        solved = np.linalg.solve(n * n * S + noise, (counts - n * b).T)
        misfit = np.sum((counts - n * b).T * solved, axis=0)
        log_weights.append(log_prior - 0.5 * (misfit + np.linalg.slogdet(n * n * S + noise)[1]))
        means.append(b + n * (S @ solved).T)
    weights = np.exp(log_weights - np.max(log_weights, axis=0))
    weights /= weights.sum(axis=0)
    return np.einsum("kr,krj->rj", weights, means), weights


def inputs(draws):
    """RMS error of an input's CDF: the law of these rows, and one that they were drawn from."""
    for n, eps, mu in settings(COLUMNS):
        bins = bins_of_inputs(n * mu, COLUMNS)
        noise_std = math.sqrt(2 * COLUMNS / INPUT_SHARE) / mu
        of_rows = smooth_candidates(bins)
        errors = {}
        for name, law in INPUTS.items():
            truth = np.histogram(law(400_000), np.linspace(-1, 1, bins + 1))[0] / 400_000
            _, counts = noisy_histograms(law, n, bins, noise_std, draws)
            found = [
                np.array(
                    [project_to_simplex(q, 1.0) for q in posterior(counts, noise_std, n, c)[0]]
                )
                for c in (of_rows, of_rows._replace(sampling=True))
            ]
            errors[name] = [np.sqrt(np.mean(np.cumsum(q - truth, axis=1) ** 2)) for q in found]
        yield n, eps, f"{bins} bins", errors


def james_stein(counts, noise_std, n):
    """Masses of levels shrunk towards even ones by one factor."""
    K, gaps = len(counts), counts - n / len(counts)
    trust = max(1.0 - noise_std**2 * (K - 1) / float(gaps @ gaps), 0.0)
    return (1 - EVEN) * project_to_simplex(1 / K + trust * gaps / n, 1.0) + EVEN / K


def levels(draws):
    """L1 error of masses of levels: James-Stein, and even candidates."""
    for n, eps, mu in settings(COLUMNS):
        noise_std, errors = math.sqrt(2 * COLUMNS / INPUT_SHARE) / mu, {}
        for K in LEVELS:
            ranks = 1 / np.arange(1, K + 1)
            laws = {
                "even": np.full((draws, K), 1 / K),
                "any": RNG.dirichlet(np.ones(K), draws),
                "1/rank": np.tile(ranks / ranks.sum(), (draws, 1)),
                "nine in ten": np.tile(np.r_[0.9, np.full(K - 1, 0.1 / (K - 1))], (draws, 1)),
            }
            for name, masses in laws.items():
                counts = np.array([RNG.multinomial(n, p) for p in masses])
                counts = counts + noise_std * RNG.standard_normal(counts.shape)
                errors[f"{name} of {K}"] = [
                    np.mean([np.abs(read(c, noise_std, n) - p).sum()
                             for c, p in zip(counts, masses, strict=True)])
                    for read in (james_stein, level_masses)
                ]  # fmt: skip
        yield n, eps, "", errors


def bent_targets(bins):
    """Plausible targets as bent candidates, centres 1.5 sds apart; and which have two values."""
    edges, shapes = np.linspace(-1, 1, bins + 1), []
    for sd in 0.03 * 1.5 ** np.arange(8):
        centres = np.linspace(-0.9, 0.9, max(math.ceil(1.2 / sd), 3))
        log_sd = np.log(sd / location.SCALE) / location.LOG_SD_OF_SCALE
        priors = -0.5 * ((centres / location.CENTRE_SD) ** 2 + log_sd**2) - np.log(len(centres))
        shapes += [(centre, sd, prior) for centre, prior in zip(centres, priors, strict=True)]
    total = np.logaddexp.reduce([prior for _, _, prior in shapes])
    laws = []
    for name, probability in location.PRIOR_OF_SHAPES.items():
        for centre, sd, prior in shapes:
            below = location.SHAPES[name]((edges - centre) / sd)
            below[0], below[-1] = 0.0, 1.0
            laws.append((np.diff(below), prior - total + np.log(probability)))
    finer = location.plausible_targets(bins)
    others = len(finer.masses) - sum(finer.has_two_values)
    start = others - len(location.RESTS) * bins - 2 * 9  # spikes and costs
    laws += list(zip(finer.masses[start:], finer.log_priors[start:], strict=True))
    rows = []
    for b, log_prior in laws:
        spread = np.outer(b, b) * _bend_covariance(b, ndtri)
        rows += [(b, bend**2 * spread, log_prior) for bend in (0.0, *BEND_SDS[1:])]
    masses, spreads, log_priors = (np.array(column) for column in zip(*rows, strict=True))
    two = np.arange(len(rows)) >= len(rows) - 3 * sum(finer.has_two_values)
    return Candidates(masses, masses, spreads, log_priors, np.arange(bins)), two


def targets(draws):
    """Errors of centre (in sds) and log scale of a target, and how often two values are wrong."""
    for n, eps, mu in settings(0):
        bins, noise_std = bins_of_target(n * mu), math.sqrt(2 / target_share(n * mu)) / mu
        middles = (np.arange(bins) + 0.5) * 2 / bins - 1
        (family, two), errors, wrong = bent_targets(bins), {}, [0.0, 0.0]
        for name, law in TARGETS.items():
            rows, counts = noisy_histograms(law, n, bins, noise_std, draws)
            sds, truth = np.std(rows, axis=1), np.mean(rows, axis=1)
            places = [location.locate(c, noise_std, n) for c in counts]
            masses, weights = posterior(counts, noise_std, n, family)
            masses = np.maximum(masses, 0.0) / np.maximum(masses, 0.0).sum(axis=1, keepdims=True)
            centres = masses @ middles
            scales = np.sqrt(np.maximum(masses @ middles**2 - centres**2, bins**-2.0))
            found = [
                (np.array([place.centre for place in places]),
                 np.array([place.scale for place in places]),
                 np.array([place.has_two_values for place in places])),
                (centres, scales, weights[two].sum(axis=0) > location.SURE),
            ]  # fmt: skip
            for k, (centre, scale, is_pair) in enumerate(found):
                errors.setdefault(f"centre of {name}", []).append(_rms((centre - truth) / sds))
                errors.setdefault(f"scale of {name}", []).append(_rms(np.log(scale / sds)))
                wrong[k] += np.mean(is_pair != (name in TWO_VALUES)) / len(TARGETS)
        yield n, eps, f"{bins} bins; two values wrong {wrong[0]:.1%}, {wrong[1]:.1%}", errors


def _rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


PARTS = {
    "inputs": (inputs, "law of these rows", "law they were drawn from"),
    "levels": (levels, "James-Stein", "even candidates"),
    "targets": (targets, "plausible laws", "bent candidates"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", default=[*PARTS], help="inputs, levels, targets")
    parser.add_argument("--draws", type=int, default=200)
    asked = parser.parse_args()
    for part in asked.parts:
        measure, one, other = PARTS[part]
        print(f"\n{measure.__doc__}\n\n| n | ε | {one} | {other} | ratio | least | largest | |")
        print("|---|---|---|---|---|---|---|---|")
        totals = []
        for n, eps, words, errors in measure(asked.draws):
            pairs = np.log(np.maximum(list(errors.values()), 1e-4))
            ratios = np.exp(pairs[:, 1] - pairs[:, 0])
            totals.append(pairs)
            least, largest = (f"{ratios[k]:.2f} {[*errors][k]}" for k in _ends(ratios))
            print(
                f"| {n:,} | {eps:g} | {_row(pairs)} | {least} | {largest} | {words} |", flush=True
            )
        print(f"| all | | {_row(np.concatenate(totals))} | | | |", flush=True)


def _ends(ratios):
    return int(np.argmin(ratios)), int(np.argmax(ratios))


def _row(pairs):
    one, other = np.exp(pairs.mean(axis=0))
    return f"{one:.4f} | {other:.4f} | {other / one:.3f}"


if __name__ == "__main__":
    main()
