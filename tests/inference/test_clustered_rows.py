"""Rows of one person err together: intervals of the mean are wide enough for the worst case."""

import numpy as np

import dpgp


def fitted(rows_per_unit, epsilon, seed=0, people=300):
    """People with five visits each at one age, whose errors are nearly the same."""
    rng = np.random.default_rng(seed)
    age = np.repeat(rng.uniform(0, 1, people), 5)
    own = np.repeat(rng.standard_normal(people), 5)
    y = np.sin(3 * age) + 0.2 * (0.95 * own + 0.3 * rng.standard_normal(5 * people))
    gp = dpgp.PrivateGPRegressor(
        epsilon, 1e-6, bounds=(0, 1), target_bounds=(-1, 2), max_rows_per_unit=rows_per_unit
    )
    gp.set_params(random_state=seed, stages=1, calibrate=False, inducing_points=8)
    units = np.repeat(np.arange(people), 5) if rows_per_unit > 1 else None
    return gp.fit(age[:, None], y, units)


POINTS = np.linspace(0.05, 0.95, 19)[:, None]


def test_without_noise_the_sampling_error_is_that_of_people_and_not_of_rows():
    stds = [fitted(m, np.inf).predict(POINTS, return_std=True, latent=True)[1] for m in (1, 5)]
    # √5 of the sampling error; what the prior holds and what the features miss stays as it was
    ratios = stds[1] / stds[0]
    assert np.median(ratios) > 1.25
    assert ratios.max() <= np.sqrt(5) + 1e-9


def test_intervals_of_the_mean_hold_where_all_rows_of_a_person_agree():
    covered = {1: [], 5: []}
    for seed in range(6):
        for m, held in covered.items():
            lower, upper = fitted(m, np.inf, seed).predict_interval(POINTS, latent=True)
            truth = np.sin(3 * POINTS[:, 0])
            held.append(np.mean((truth >= lower) & (truth <= upper)))
    assert np.mean(covered[5]) > 0.85
    assert np.mean(covered[1]) < np.mean(covered[5]) - 0.1
