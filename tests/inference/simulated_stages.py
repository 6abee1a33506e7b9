"""Releases of simulated rows, written out naively: what the tests of the inference share."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from dpgp.features.inducing import InducingFeatures
from dpgp.inference.few.integral import Model
from dpgp.inference.stage import StageRelease

KERNEL = ConstantKernel(0.09) * RBF(0.5)


def features_1d(d=6, length=0.5):
    return InducingFeatures(RBF(length), np.linspace(-1, 1, d)[:, None])


def model_1d(d=6, length=0.5, positions=41, kernel=KERNEL):
    grid = None if positions is None else np.linspace(-1, 1, positions)[:, None]
    return Model(features_1d(d, length), kernel, grid)


def rows_1d(n, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    return X, 0.4 * np.sin(3 * X[:, 0]) + rng.normal(0, noise, n)


def symmetric_noise(d, sigma, rng):
    E = np.triu(rng.normal(0, sigma / np.sqrt(2), (d, d)), 1)
    return E + E.T + np.diag(rng.normal(0, sigma, d))


def release(phi, y, sigma, rng, clip=1.0, w0=None, quiet=1.0):
    """One stage: noise ``sigma`` for residuals and features of norm one, ``quiet`` on A and c."""
    w0 = np.zeros(len(phi)) if w0 is None else w0
    sigma_a, sigma_c = quiet * sigma * clip / np.sqrt(2), quiet * sigma * clip**2
    r = np.clip(y - w0 @ phi, -clip, clip)
    return StageRelease(
        A=phi @ r + rng.normal(0, sigma_a, len(phi)),
        B=phi @ phi.T + symmetric_noise(len(phi), sigma, rng),
        c=float(r @ r + rng.normal(0, sigma_c)),
        sigma_a=sigma_a,
        sigma_b=sigma,
        sigma_c=sigma_c,
        clip=clip,
        w0=w0,
        n=float(len(y)),
    )
