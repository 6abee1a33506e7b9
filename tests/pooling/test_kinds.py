"""Models of every kind of outcome and column are pooled, or refused with words."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp import PrivateGPClassifier, PrivateGPRegressor, load, pool
from dpgp.pooling import PoolingError
from dpgp.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore")

DAYS = pd.date_range("2019-01-01", "2021-12-31")
BOUNDS: dict[str, tuple[Any, Any]] = {
    "age": (0, 10),
    "dose": (0, 1),
    "visit": ("2019-01-01", "2021-12-31"),
}
SITES = ["north", "south", "west"]


@dataclass(frozen=True)
class Kind:
    """Columns of a table, and what its outcome is made of the function of them."""

    outcome: str
    columns: tuple[str, ...] = ("age",)
    rows: tuple[int, int] = (900, 600)
    epsilons: tuple[float, float] = (4.0, 4.0)
    weights: tuple[float | None, float | None] = (None, None)
    asked: dict[str, Any] = field(default_factory=dict)


def table(n, columns, rng):
    made = {
        name: rng.uniform(*BOUNDS[name], n)
        if name in ("age", "dose")
        else DAYS[rng.integers(0, len(DAYS), n)]
        if name == "visit"
        else rng.choice(SITES, n)
        for name in columns
    }
    return pd.DataFrame(made)


def function(X):
    """Return a function of the first column, from 0 to 1."""
    first = X.iloc[:, 0]
    if first.dtype == object or str(first.dtype) == "str":
        return (first == "south").to_numpy(float)
    if first.name == "visit":
        return ((first - DAYS[0]).dt.days / len(DAYS)).to_numpy()
    return (0.5 - 0.5 * np.cos(first / 10 * np.pi)).to_numpy()


def drawn(kind, f, rng):
    """Return outcomes, an estimator and its options."""
    noise = 0.2 * rng.standard_normal(len(f))
    if kind == "number":
        return f + noise, PrivateGPRegressor, {"target_bounds": (-1, 2)}
    if kind == "two numbers":
        y = np.column_stack([f + noise, 3 - f + noise])
        return y, PrivateGPRegressor, {"target_bounds": [(-1, 2), (0, 4)]}
    if kind == "count":
        y = np.minimum(rng.poisson(1 + 4 * f), 20)
        return y, PrivateGPRegressor, {"target_bounds": (0, 20), "counts": True}
    if kind == "skewed":
        y = np.minimum(np.exp(f + 3 * noise), 40.0)
        return y, PrivateGPRegressor, {"target_bounds": (0, 40)}
    if kind == "yes or no":
        y = np.where(rng.uniform(size=len(f)) < 0.2 + 0.6 * f, "ill", "well")
        return y, PrivateGPClassifier, {"classes": ["well", "ill"]}
    cuts = np.cumsum([0.5 - 0.4 * f, 0.3 + 0 * f], axis=0)
    y = np.array(["a", "b", "c"])[(rng.uniform(size=len(f)) > cuts).sum(axis=0)]
    return y, PrivateGPClassifier, {"classes": ["a", "b", "c"]}


def fitted(kind, k, **start):
    rng = np.random.default_rng(k + 3)
    X = table(kind.rows[k], kind.columns, rng)
    y, estimator, asked = drawn(kind.outcome, function(X), rng)
    bounds = {name: BOUNDS[name] for name in kind.columns if name in BOUNDS}
    if "site" in kind.columns:
        asked = asked | {"categories": {"site": SITES}}
    bound = kind.weights[k]
    gp = estimator(
        kind.epsilons[k],
        1e-5,
        bounds=bounds,
        random_state=k + 10 * len(start),
        weight_bound=bound,
        **asked | kind.asked,
    )
    given = {} if bound is None else {"sample_weight": rng.uniform(0.2, 1.0, len(X)) * bound}
    return gp.fit(X, y, **given, **start).model_


MIXED = ("age", "dose", "site")
KINDS = {
    "two numbers": Kind("two numbers"),
    "count": Kind("count"),
    "skewed": Kind("skewed"),
    "yes or no": Kind("yes or no"),
    "classes": Kind("classes"),
    "dates": Kind("number", ("visit",)),
    "two inputs": Kind("number", ("age", "dose"), rows=(1000, 700)),
    "site alone": Kind("number", ("site",)),
    "mixed, dates and two numbers": Kind("two numbers", ("age", "visit", "site")),
    "mixed, classes": Kind("classes", MIXED),
    "weights": Kind("number", weights=(5.0, 3.0)),
    "mixed, weights": Kind("number", MIXED, weights=(5.0, 3.0)),
    "other sizes and budgets": Kind("number", rows=(3000, 12), epsilons=(4.0, 0.05)),
    "mixed, other sizes and budgets": Kind("number", MIXED, rows=(900, 12), epsilons=(4.0, 0.05)),
    "own neighbours": Kind("number", asked={"neighbours": "add-remove"}),
    "not calibrated": Kind("number", asked={"calibrate": False}),
}


@pytest.mark.parametrize("name", KINDS)
def test_models_of_every_kind_are_pooled_and_come_back(name, tmp_path):
    kind = KINDS[name]
    models = [fitted(kind, k) for k in (0, 1)]
    both = pool(models)
    X = table(200, kind.columns, np.random.default_rng(0))
    mean, sd = both.mean(X, return_std=True, latent=True)
    assert np.all(np.isfinite(mean))
    assert np.all(sd > 0)
    first = mean if mean.ndim == 1 else mean[:, 0]
    assert abs(np.corrcoef(first, function(X))[0, 1]) > 0.7
    assert len(both.findings["pooled"]["between"]) == both.n_targets
    assert both.findings["pooled"]["agreement"].startswith("The releases agree")
    both.save(tmp_path / "both.json")
    both.report(tmp_path / "both.html")
    found = verify(tmp_path / "both.json")
    assert all(each.holds or "simulation" in each.detail for each in found)  # seeded noise
    again = load(tmp_path / "both.json")
    np.testing.assert_allclose(again.mean(X), both.mean(X), rtol=1e-9)
    if both.outcome.labels:
        shares = both.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    else:
        low, high = both.predict_interval(X, 0.9)
        assert np.all(low <= high)


@pytest.mark.parametrize("name", KINDS)
def test_fits_of_every_kind_start_from_an_earlier_model(name, tmp_path):
    kind = KINDS[name]
    last = fitted(kind, 0)
    both = fitted(kind, 1, prior_model=last)
    assert [member.id for member in both.members[:1]] == [last.id]
    X = table(200, kind.columns, np.random.default_rng(0))
    mean, sd = both.mean(X, return_std=True, latent=True)
    assert np.all(sd > 0)
    first = mean if mean.ndim == 1 else mean[:, 0]
    assert abs(np.corrcoef(first, function(X))[0, 1]) > 0.7
    new = both.members[1]
    assert {release.label for release in new.certificate.releases}.isdisjoint(
        {"target histograms", "input histograms", "linear stage"}
    )
    assert new.certificate.epsilon == kind.epsilons[1]
    both.save(tmp_path / "both.json")
    found = verify(tmp_path / "both.json")
    assert all(each.holds or "simulation" in each.detail for each in found)  # seeded noise
    again = load(tmp_path / "both.json")
    assert again.members[1].options.prior_model.id == last.id
    np.testing.assert_allclose(again.mean(X), both.mean(X), rtol=1e-9)


def test_releases_with_weights_are_not_pooled_with_releases_without():
    models = [fitted(Kind("number", weights=(5.0, None)), k) for k in (0, 1)]
    with pytest.raises(PoolingError, match="differs from release 1 in whether its rows have"):
        pool(models)


def test_days_from_another_origin_are_other_bounds(monkeypatch):
    one = fitted(KINDS["dates"], 0)
    monkeypatch.setitem(BOUNDS, "visit", ("2018-01-01", "2020-12-31"))
    other = fitted(KINDS["dates"], 1)
    with pytest.raises(PoolingError, match="visit: 2018-01-01 to 2020-12-31, not 2019-01-01"):
        pool([one, other])


def test_a_kernel_is_no_reading_of_categories():
    model = fitted(KINDS["site alone"], 0)
    with pytest.raises(PoolingError, match="inputs that are categories"):
        model.reread(RBF(0.5))
