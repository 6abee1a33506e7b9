"""Plans and seeded fits whose figures are kept, to see what code changes that should not."""

from __future__ import annotations

import numpy as np

import dpgp

SEED = 7


def rows(n, columns, targets=1):
    """A smooth function of uniform inputs with skewed noise."""
    rng = np.random.default_rng(columns)
    X = rng.uniform(0.0, 1.0, (n, columns))
    waves = [np.sin(3 * X @ np.arange(1, columns + 1) / columns + k) for k in range(targets)]
    y = np.stack(waves, axis=1) / 2 + 0.1 * (rng.exponential(size=(n, targets)) - 1)
    return X, y[:, 0] if targets == 1 else y


def one(columns, n=1500, targets=1, units=None, **options):
    """Return the figures of one seeded fit: shares, noise, predictions, intervals, draws."""
    X, y = rows(n, columns, targets)
    bounds = {"bounds": (0, 1), "target_bounds": [(-1, 1)] * targets}
    gp = dpgp.PrivateGPRegressor(3.0, 1e-6, **bounds, random_state=SEED, **options)
    gp.fit(X, y, None if units is None else np.arange(n) // units)
    points = np.random.default_rng(0).uniform(0.0, 1.0, (7, columns))
    mean, std = gp.predict(points, return_std=True, latent=True)
    lower, upper = gp.predict_interval(points)
    posteriors = gp.posterior_ if targets > 1 else (gp.posterior_,)
    return {
        "releases": [release.label for release in gp.certificate_.releases],
        "noise of releases": [release.noise_std for release in gp.certificate_.releases],
        "features": len(posteriors[0].moments.w),
        "mean": mean.tolist(),
        "std": std.tolist(),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
        "noise": [posterior.moments.noise for posterior in posteriors],
        "log evidence": [posterior.log_evidence for posterior in posteriors],
        "draws": gp.sample_y(points, 2, random_state=0).tolist(),
    }


QUESTIONS = ((1, 300, 0.3), (1, 1500, 3.0), (2, 5000, 1.0), (5, 20_000, 3.0))


def planned(columns, n, epsilon):
    """Return the design of a plan, and its forecast."""
    plan = dpgp.plan(n=n, bounds=[(0, 1)] * columns, target_bounds=(-1, 1), epsilon=epsilon)
    forecast = plan.forecast
    return {
        "families": list(plan.design.features),
        "features": plan.design.n_features,
        "kappa": plan.design.kappa,
        "stages": list(plan.design.stages),
        "forecast": [forecast.rmse, forecast.low, forecast.high, forecast.interval_width],
    }


CASES = {
    "plans": lambda: {str(question): planned(*question) for question in QUESTIONS},
    "one input": lambda: one(1),
    "two inputs": lambda: one(2),
    "three inputs": lambda: one(3),
    "five inputs": lambda: one(5),
    "two targets": lambda: one(2, targets=2),
    "people come and go": lambda: one(
        1, units=2, neighbours="add-remove", max_rows_per_unit=2, missing="ignore"
    ),
}
