import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp.features.combined import GridFeatures
from dpgp.inference.few.evidence import combine_stages, second_moment_evidence
from dpgp.inference.few.target import TargetFit
from dpgp.inference.hyperparameters import default_kernel
from dpgp.inference.stage import LARGEST_RESIDUAL, StageRelease
from dpgp.outcomes.labels import named_classes
from dpgp.outcomes.yes_no import YesNo
from dpgp.point_sets import regular_grid

YES_NO = YesNo(named_classes(("no", "yes")))
POSITIONS = np.linspace(-1, 1, 61)[:, None]
FEATURES = GridFeatures.of([RBF(0.4)], regular_grid([-1.0], [1.0], 8))


def release(fit, x, t, noise, rng):
    """A stage about residuals that nothing clips."""
    phi, w0 = FEATURES.evaluate(x), fit.weights
    residuals = t - w0 @ phi
    d = len(w0)
    E = rng.normal(size=(d, d)) * noise
    return StageRelease(
        A=phi @ residuals + noise * fit.clip * rng.normal(size=d),
        B=phi @ phi.T + (E + E.T) / 2,
        c=float(residuals @ residuals),
        sigma_a=noise * fit.clip,
        sigma_b=noise,
        sigma_c=noise * fit.clip**2,
        clip=fit.clip,
        w0=w0,
        n=float(len(t)),
        outcome=YES_NO,
    )


def fitted(p, stages=3, n=20_000, noise=20.0):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (n, 1))
    t = np.where(rng.random(n) < p(x[:, 0]), 1.0, -1.0)
    fit = TargetFit(FEATURES, [default_kernel(1)], POSITIONS, 1.0, float(n), outcome=YES_NO)
    for _ in range(stages):
        fit.add(release(fit, x, t, noise, rng))
    return fit


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_a_rare_yes_is_not_biased(share):
    fit = fitted(lambda x: np.full_like(x, share))
    mean, std = fit.posterior().predict(POSITIONS, latent=True)
    assert np.abs((mean + 1) / 2 - share).max() < 0.03
    assert np.abs((mean + 1) / 2 - share).mean() < 2 * std.mean()


def test_no_residual_reaches_beyond_the_clip():
    fit = fitted(lambda x: 1 / (1 + np.exp(-3 * x)))
    values = FEATURES.evaluate(POSITIONS).T @ fit.weights
    assert fit.clip == pytest.approx(min(LARGEST_RESIDUAL, 1 + np.abs(values).max()))
    assert fit.clip > 1.5


def test_the_first_stage_is_about_the_target_itself():
    fit = TargetFit(FEATURES, [default_kernel(1)], POSITIONS, 1.0, 100.0, outcome=YES_NO)
    assert fit.clip == 1.0


def test_stages_are_read_as_unclipped_and_the_second_moment_is_left_alone():
    fit = fitted(lambda x: np.full_like(x, 0.1), stages=2)
    state = fit.state
    assert all(stage.is_unclipped for stage in fit.stages)
    measurement = combine_stages(fit.stages, state.gram, state.moments)
    assert measurement.distortion == 0.0
    mean, V = np.zeros((1, 8)), np.eye(8)[None]
    log_c, inflation = second_moment_evidence(measurement, fit.stages, mean, V, np.ones(1))
    assert (log_c.tolist(), inflation.tolist()) == ([0.0], [1.0])
