import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from dpgp import PrivateGPRegressor
from dpgp.inference.predictive import PosteriorMoments, ProductSeries
from dpgp.private import wall

UNSMOOTH = Matern(0.5, nu=0.5)


def fitted(columns, **options):
    rng = np.random.default_rng(columns)
    X = rng.uniform(-1, 1, (900, columns))
    y = X[:, 0] + rng.normal(0, 0.05 + 0.2 * (X[:, 0] > 0), 900)
    gp = PrivateGPRegressor(
        100.0, 1e-5, bounds=(-1, 1), target_bounds=(-2, 2), stages=1, random_state=0, **options
    )
    return gp.fit(X, y), X, y


@pytest.mark.parametrize(
    ("columns", "options", "kind"),
    [
        (1, {}, ProductSeries),
        (2, {}, ProductSeries),
        (2, {"kernel": UNSMOOTH}, PosteriorMoments),
        (3, {}, PosteriorMoments),
    ],
)
def test_observations_are_predicted_as_posterior_and_scale_say(columns, options, kind):
    gp, X, _ = fitted(columns, **options)
    model, U = gp.model_, gp.model_.inputs(X)
    assert type(model._predictives[0].moments) is kind
    mean, std = model.mean_and_std(0, U)
    exact_mean, exact_std = model.posteriors[0].predict(U)
    np.testing.assert_allclose(mean, 2.0 * exact_mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(std, 2.0 * exact_std * model.local_scale(0, U), rtol=1e-9)


@pytest.mark.parametrize("columns", [2, 3])
def test_calibration_counts_the_scores_of_the_intervals_that_are_stated(columns, monkeypatch):
    asked, exact_histograms = [], wall.exact_histograms

    def recorded(rows, query, **options):
        asked.append(query)
        return exact_histograms(rows, query, **options)

    monkeypatch.setattr(wall, "exact_histograms", recorded)
    gp, X, y = fitted(columns)
    mean, std = gp.predict(X, return_std=True)
    scores = asked[-1].values_of(X, y[None] / 2.0)[0]
    np.testing.assert_allclose(scores, (y - mean) / std, rtol=1e-9)
