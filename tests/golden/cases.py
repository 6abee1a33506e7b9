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
    return {
        **learned(gp.model_),
        "mean": mean.tolist(),
        "std": std.tolist(),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
        "draws": gp.sample_y(points, 2, random_state=0).tolist(),
    }


def learned(model):
    """Return what was released, and what was learned of noise and kernel."""
    posteriors, releases = model.posteriors, model.certificate.releases
    return {
        "releases": [release.label for release in releases],
        "noise of releases": [release.noise_std for release in releases],
        "features": len(posteriors[0].moments.w),
        "noise": [posterior.moments.noise for posterior in posteriors],
        "log evidence": [posterior.log_evidence for posterior in posteriors],
    }


def yes_no(columns, n=1500):
    """Return the figures of a seeded fit of two classes, of the function and of observations."""
    X, y = rows(n, columns)
    labels = np.where(y > 0.2, "yes", "no")
    gp = dpgp.PrivateGPClassifier(
        3.0, 1e-6, bounds=(0, 1), classes=("no", "yes"), random_state=SEED
    )
    return learned(gp.fit(X, labels).model_) | predicted(gp.model_, ["yes"] * 6 + ["no"])


def classes(columns, n=1500):
    """Return the figures of a seeded fit of three classes."""
    X, y = rows(n, columns)
    gp = dpgp.PrivateGPClassifier(
        3.0, 1e-6, bounds=(0, 1), classes=("a", "b", "c"), random_state=SEED
    )
    labels = np.array(["a", "b", "c"])[np.digitize(y, [0.0, 0.4])]
    return learned(gp.fit(X, labels).model_) | predicted(gp.model_, ["a", "b"] * 3 + ["c"])


def counted(n=1500):
    """Return the figures of a seeded fit of counts."""
    X, y = rows(n, 1)
    gp = dpgp.PrivateGPRegressor(
        3.0, 1e-6, bounds=(0, 1), target_bounds=(0, 20), counts=True, random_state=SEED
    )
    model = gp.fit(X, np.rint(10 * (y + 1))).model_
    return learned(model) | predicted(model, np.arange(7.0))


def predicted(model, y):
    """Return all that a model says at seven points, of the function and of observations ``y``."""
    points = np.random.default_rng(0).uniform(0.0, 1.0, (7, model.options.columns))
    both = {"of f": True, "of y": False}
    figures = {"log density": model.log_predictive_density(points, y).tolist()}
    for words, latent in both.items():
        mean, std = model.mean(points, return_std=True, latent=latent)
        _, covariance = model.mean(points, return_cov=True, latent=latent)
        lower, upper = model.predict_interval(points, 0.8, latent=latent)
        figures |= {
            f"mean {words}": mean.tolist(),
            f"std {words}": std.tolist(),
            f"covariance {words}": covariance.tolist(),
            f"lower {words}": lower.tolist(),
            f"upper {words}": upper.tolist(),
            f"draws {words}": model.sample_y(points, 2, latent=latent).tolist(),
        }
    return figures | {"quantiles": model.predict_quantile(points).tolist()}


QUESTIONS = ((1, 300, 0.3), (1, 1500, 3.0), (2, 5000, 1.0), (5, 20_000, 3.0))


def planned(columns, n, epsilon, **outcome):
    """Return the design of a plan, and its forecast."""
    outcome = outcome or {"target_bounds": (-1, 1)}
    plan = dpgp.plan(n=n, bounds=[(0, 1)] * columns, epsilon=epsilon, **outcome)
    forecast = plan.forecast
    return {
        "families": list(plan.design.features),
        "features": plan.design.n_features,
        "kappa": plan.design.kappa if np.isfinite(plan.design.kappa) else "nothing is clipped",
        "stages": list(plan.design.stages),
        "forecast": [forecast.rmse, forecast.low, forecast.high, forecast.interval_width],
    }


OUTCOMES = {
    "noise": {"target_bounds": (0, 30), "noise_std": 3.0},
    "share": {"target_bounds": (0, 30), "r2": 0.4},
    "classes": {"classes": (0, 1)},
    "classes, prevalence": {"classes": (0, 1), "prevalence": 0.1},
    "classes, share": {"classes": (0, 1), "r2": 0.2},
}


def plans_of_outcomes():
    """Return plans with what can be told of every kind of outcome."""
    return {
        f"{told}, {columns}": planned(columns, 5000, 3.0, **outcome)
        for told, outcome in OUTCOMES.items()
        for columns in (1, 5)
    }


CASES = {
    "plans": lambda: {str(question): planned(*question) for question in QUESTIONS},
    "plans of outcomes": plans_of_outcomes,
    "one input": lambda: one(1),
    "two inputs": lambda: one(2),
    "three inputs": lambda: one(3),
    "five inputs": lambda: one(5),
    "a count": counted,
    "yes and no": lambda: yes_no(1),
    "yes and no of five inputs": lambda: yes_no(5),
    "classes": lambda: classes(1),
    "classes of five inputs": lambda: classes(5),
    "two targets": lambda: one(2, targets=2),
    "people come and go": lambda: one(
        1, units=2, neighbours="add-remove", max_rows_per_unit=2, missing="ignore"
    ),
}
