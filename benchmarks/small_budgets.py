"""Where the error of small budgets comes from: fits that are given one thing at a time.

    python benchmarks/small_budgets.py [tables [intervals]]

Simulated tables of 5 to 11 inputs with nμ of 25 to 400: constants, lines, sums of waves, waves and
products; inputs that are even, bells, skewed, 0 and 1, or in five steps, correlated; bells, skewed
noise, and yes and no. ``gift`` is what the fit has for nothing; no such fit is private. Ratios of
RMSE of new observations to that of the usual fit of the same rows and noise, ± one standard error.
The best line knows the inputs, the noise and how much a line explains, and spends the whole budget
on its sums. A mean and boosted AdaSSP (``./experiments``) have an average of three fits.

``intervals``: 95 % intervals of f where nμ is 25 to 100, with the bias of clipping as large as its
law fears, as it was, and as large as it can be.
"""

import sys
import warnings
from dataclasses import replace
from unittest import mock
from zlib import crc32

import numpy as np
from scipy.stats import norm

import dpgp
from dpgp.inference.clipping import largest_bias
from dpgp.inference.many.synthetic import ROWS
from dpgp.privacy.books import Books
from dpgp.privacy.calibration import mu_of_epsilon_delta
from dpgp.private import fit as private_fit
from dpgp.private.wall import Wall
from dpgp.steps import CellCounts, LinearStage, Purpose
from dpgp.steps.known import Known
from dpgp_experiments.baselines import boosted_adassp, mean
from dpgp_experiments.baselines.interface import Problem

DELTA, NEW, FREE = 1e-5, 3000, 1e6
FUNCTIONS = {
    "constant": lambda Z, w: 0.0 * Z[:, 0],
    "line": lambda Z, w: Z @ w,
    "line of two": lambda Z, w: Z[:, :2] @ w[:2],
    "sum": lambda Z, w: np.sin(1.5 * Z + w) @ w,
    "wave": lambda Z, w: np.sin(3.0 * Z @ w / np.linalg.norm(w) + w[0]),
    "product": lambda Z, w: Z[:, 0] * Z[:, 1] + 0.7 * Z[:, 2] + 0.4 * Z[:, 3],
}
INPUTS = {  # values of a standard normal z, bounds, and what a function sees of it
    "even": (lambda z: norm.cdf(z), (-0.4, 1.6), lambda z: 2.0 * norm.cdf(z) - 1.0),
    "bell": (lambda z: np.clip(z, -3.9, 3.9), (-4.0, 5.0), lambda z: z / 1.7),
    "skewed": (lambda z: np.exp(0.7 * z), (0.0, 8.0), lambda z: z / 1.7),
    "0 and 1": (lambda z: (z > 0.5) * 1.0, (0.0, 1.0), lambda z: 2.0 * (z > 0.5) - 1.0),
    "steps": (lambda z: np.floor(5 * norm.cdf(z)), (0.0, 5.0), lambda z: norm.cdf(z) * 2 - 1),
}


class Table:
    """A simulated table: training rows, new rows with the truth, other rows of the same law."""

    def __init__(self, number, most=400):
        rng = np.random.default_rng([26, number])
        self.number, self.epsilon = number, (0.3, 1.0)[number % 2]
        self.mu, D = mu_of_epsilon_delta(self.epsilon, DELTA), int(rng.integers(5, 12))
        self.n = n = int(max(np.exp(rng.uniform(np.log(25), np.log(most))) / self.mu, 120))
        loads = rng.uniform(-0.7, 0.7, D) * (rng.random() < 0.7)
        common = rng.standard_normal((n + NEW + ROWS, 1))
        Z = loads * common + np.sqrt(1 - loads**2) * rng.standard_normal((len(common), D))
        kinds = [INPUTS[name] for name in rng.choice(list(INPUTS), D)]
        X = np.column_stack([kind[0](z) for kind, z in zip(kinds, Z.T, strict=True)])
        seen = np.column_stack([kind[2](z) for kind, z in zip(kinds, Z.T, strict=True)])
        self.bounds = tuple(kind[1] for kind in kinds)
        self.kind = list(FUNCTIONS)[number // 2 % len(FUNCTIONS)]
        f = FUNCTIONS[self.kind](seen, rng.standard_normal(D))
        part = rng.uniform(0.08, 0.65) if f.std() > 0 else 0.0
        f = np.sqrt(part) * (f - f.mean()) / max(f.std(), 1e-9)
        y, f, self.target_bounds = self._observed(f, np.sqrt(1 - part), rng)
        self.X, self.y, self.new = X[:n], y[:n], X[n : n + NEW]
        self.truth, self.others = f[n : n + NEW], X[n + NEW :]
        self.noise, self.spread = float(np.mean((y - f) ** 2)), float(y.std())

    @staticmethod
    def _observed(f, sd, rng):
        """Return observations, their means, and public bounds."""
        noise, law = rng.standard_normal(len(f)), rng.choice(["bell", "skewed", "yes and no"])
        if law == "yes and no":
            p = np.clip(0.3 + 0.45 * f, 0.01, 0.99)
            return (rng.random(len(f)) < p) * 1.0, p, (0.0, 1.0)
        if law == "skewed":
            noise = (np.exp(0.6 * noise) - np.exp(0.18)) / np.sqrt(np.expm1(0.36) * np.exp(0.36))
        return f + sd * noise, f, (-rng.uniform(2.5, 6), rng.uniform(3, 7))

    def error(self, means):
        """Return the RMSE of new observations, over their sd, of one or more fits."""
        return np.sqrt(np.mean((np.asarray(means) - self.truth) ** 2) + self.noise) / self.spread


class Gift:
    """Changes prices of steps, and what is known after one."""

    def __init__(self, times=lambda step, left: 1.0, after=lambda step, known, table: None):
        self.times, self.after = times, after


def times_function(times):
    return lambda step, paid: (times or 1.0 / paid) if step.purpose is Purpose.FUNCTION else 1.0


def true_inputs(step, known, table):
    if isinstance(step, (LinearStage, CellCounts)):
        known.synthetic = known.inputs(table.others.copy())


GIFTS = {
    "nothing": Gift(),
    "the whole budget for the stages": Gift(times_function(None)),
    "four times the budget for the stages": Gift(times_function(4.0)),
    "stages without noise": Gift(times_function(FREE)),
    "where the target lies": Gift(lambda s, _: FREE if s.label == "target histograms" else 1.0),
    "synthetic rows of the true law": Gift(after=true_inputs),
}


class LabelledNoise:
    """Seeded noise that is the same for a release whatever came before it; not private."""

    is_private = False

    def __init__(self, seed):
        self.seed, self.label = seed, ""

    def check(self, scale):
        """Draw any scale."""

    def add_to(self, totals, scales):
        """Add the draws of this release."""
        rng = np.random.default_rng([self.seed, crc32(self.label.encode())])
        noise = scales * rng.standard_normal(len(totals))
        return [int(total) + round(z) for total, z in zip(totals, noise, strict=True)]


class UnboundedBooks(Books):
    """Books that let gifts through."""

    def reserve(self, release):
        """Book whatever it costs."""
        self.releases.append(release)


def fitted(table, gift):
    """Return an estimator that was fitted with a gift."""

    def fit_rows(site, rows, options, source, threads=1, ledger=None):
        books, noise = (
            UnboundedBooks(options.epsilon, options.delta, options.neighbours),
            LabelledNoise(table.number),
        )
        steps = private_fit.planned_steps(private_fit.Purse(options, books.mu, len(rows)))
        paid = sum(step.share for step in steps if step.purpose is Purpose.FUNCTION)
        steps = [replace(step, share=step.share * gift.times(step, paid)) for step in steps]
        wall, known = (
            Wall(rows, options, books, noise),
            Known.before(options, books.mu, steps, len(rows), len(rows)),
        )
        for step in steps:
            noise.label = step.label
            known.take(step, wall.release(step.query(known), step.share, step.label, step.part))
            gift.after(step, known, table)
        usual = Books(options.epsilon, options.delta, options.neighbours)
        facts = (usual, source, options.max_rows_per_unit, False, options.rows_of_unit)
        return known.fitted(private_fit.Certificate.from_books(*facts))

    gp = dpgp.PrivateGPRegressor(
        table.epsilon, DELTA, bounds=table.bounds, target_bounds=table.target_bounds,
        random_state=table.number, n_jobs=1,
    )  # fmt: skip
    with mock.patch("dpgp.estimator.fit_alone_or_jointly", fit_rows):
        return gp.fit(table.X, table.y)


def best_line(table, repeat, clip=1.5):
    """Return what a line of whitened inputs predicts, its prior and all but its sums known."""
    rng = np.random.default_rng([table.number, repeat])
    centre, sd = table.X.mean(axis=0), np.maximum(table.X.std(axis=0), 1e-9)

    def features(X):
        phi = np.column_stack([np.ones(len(X)), np.clip((X - centre) / sd, -3, 3)])
        size = np.linalg.norm(phi, axis=1, keepdims=True)
        return phi / np.maximum(size, np.sqrt(phi.shape[1]))

    phi, y = features(table.X), (table.y - table.y.mean()) / table.spread
    noise, B = 2.0 * clip / table.mu, phi.T @ phi
    A = phi.T @ np.clip(y, -clip, clip) + noise * rng.standard_normal(len(B))
    explained = max(float(np.var(table.truth)) / table.spread**2, 0.02)
    # w ~ N(0, explained·I), A = Bw + N(0, noise²I + (1 − explained)B)
    total = explained * B @ B + noise**2 * np.eye(len(B)) + (1 - explained) * B
    w = explained * B @ np.linalg.solve(total, A)
    return table.y.mean() + table.spread * features(table.new) @ w


def errors(table):
    """Return the error of every fit and peer."""
    problem = Problem(table.X, table.y, table.bounds, table.target_bounds, table.epsilon, DELTA)
    found = {
        name: table.error(fitted(table, gift).predict(table.new)) for name, gift in GIFTS.items()
    }
    found["(the best line)"] = table.error([best_line(table, k) for k in range(3)])
    for name, peer in (("(private mean)", mean), ("(boosted AdaSSP)", boosted_adassp)):
        rngs = [np.random.default_rng([table.number, k]) for k in range(3)]
        means = [peer.fit_predict(problem, table.new, rng).mean for rng in rngs]
        found[name] = table.error(means)
    return found


GROUPS = {
    "all": lambda t: True,
    "nμ < 100": lambda t: t.n * t.mu < 100,
    "constants": lambda t: t.kind == "constant",
    "lines": lambda t: t.kind.startswith("line"),
    "others": lambda t: t.kind in ("sum", "wave", "product"),
}


def by_group(tables, found):
    """Return what was found of the tables of every group."""
    pairs = list(zip(tables, found, strict=True))
    return {name: [one for table, one in pairs if has(table)] for name, has in GROUPS.items()}


def compare(count):
    """Print errors of fits with gifts, over those of the usual ones."""
    tables = [Table(number) for number in range(count)]
    parts = by_group(tables, [errors(table) for table in tables])
    print("| gift | " + " | ".join(f"{name}, {len(part)}" for name, part in parts.items()) + " |")
    print("| --- |" + " --- |" * len(parts))
    for name in list(parts["all"][0])[1:]:
        logs = [np.array([np.log(e[name] / e["nothing"]) for e in part]) for part in parts.values()]
        print(f"| {name} | " + " | ".join(map(ratio, logs)) + " |")


def ratio(logs):
    """Say a geometric mean with its standard error."""
    return f"{np.exp(logs.mean()):.3f} ± {logs.std(ddof=1) / np.sqrt(len(logs)):.3f}"


def held(table):
    """Yield coverage and mean width of intervals of f as they were, and as they are."""
    for most in (lambda clip, sd: np.inf, largest_bias):
        with mock.patch("dpgp.inference.many.final.largest_bias", most):
            gp = fitted(table, GIFTS["nothing"])
        low, high = gp.predict_interval(table.new, latent=True)
        yield np.mean((low <= table.truth) & (table.truth <= high)), np.mean(high - low)


def intervals(count):
    """Print coverage of f and widths."""
    tables = [Table(number, most=100) for number in range(count)]
    print("| tables | held as they were | held now | fewer than 90 % | width, now over then |")
    print("| --- | --- | --- | --- | --- |")
    for name, part in by_group(tables, [list(held(table)) for table in tables]).items():
        before, now = np.array(part).transpose(1, 2, 0)
        few = f"{np.sum(before[0] < 0.9)}, {np.sum(now[0] < 0.9)}"
        widths = ratio(np.log(now[1] / before[1]))
        cells = f"{before[0].mean():.3f} | {now[0].mean():.3f} | {few} | {widths}"
        print(f"| {name}, {len(part)} | {cells} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = intervals if "intervals" in sys.argv else compare
    asked(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
