"""Functions, noise and inputs that forecasts are compared on: of the prior, and none of it."""

import numpy as np

from dpgp.inference.hyperparameters import default_kernel, hyper_prior


def prior_draw(columns, rng):
    """θ of the weak prior and a function of it whose data respect the bounds."""
    prior = hyper_prior(default_kernel(columns), columns)
    while True:
        theta = prior.mean + prior.sd * rng.standard_normal(len(prior.mean))
        f = random_function(theta, columns, rng)
        y = f(rng.uniform(-1, 1, (400, columns))) + np.exp(theta[-1]) * rng.standard_normal(400)
        if np.mean(np.abs(y) > 1) <= 0.01:
            return theta, f


def random_function(theta, columns, rng, size=1000):
    """Random Fourier features of the smooth part, a constant and a line."""
    variance, lengths, slope = np.exp(theta[0]), np.exp(theta[1 : 1 + columns]), np.exp(theta[-2])
    W, phase = rng.standard_normal((size, columns)) / lengths, rng.uniform(0, 2 * np.pi, size)
    amplitudes = rng.standard_normal(size) * np.sqrt(2 * variance / size)
    constant = 0.5 * rng.standard_normal()
    line = np.sqrt(slope) * rng.standard_normal(columns)

    def f(X):
        blocks = np.array_split(X, max(1, len(X) // 2000))
        smooth = np.concatenate([np.cos(block @ W.T + phase) @ amplitudes for block in blocks])
        return smooth + constant + X @ line

    return f


def sinc(X):
    return np.sinc(8 * X[:, 0] / np.pi) / 1.5


def steps(X):
    return 0.4 * np.sign(X[:, 0] - 0.2) + 0.2 * (X[:, 0] > -0.5)


def bowl(X):
    return 0.8 * np.exp(-2 * (X[:, 0] + 0.7) ** 2) - 0.4 * X[:, 1]


def gaussian(rng, n):
    return 0.067 * rng.standard_normal(n)


def student(rng, n):
    return 0.04 * rng.standard_t(3, n)


def uniform(rng, shape):
    return rng.uniform(-1, 1, shape)


def corner(rng, shape):
    return 2 * rng.beta(1.5, 6, shape) - 1


OUTSIDE = {
    "sin(2x)/2x": (1, sinc, gaussian, uniform),
    "steps": (1, steps, gaussian, uniform),
    "heavy-tailed noise": (1, sinc, student, uniform),
    "inputs in a corner": (2, bowl, gaussian, corner),
}


def friedman(X, rng):
    U = (X + 1) / 2
    bends = 10 * np.sin(np.pi * U[:, 0] * U[:, 1]) + 20 * (U[:, 2] - 0.5) ** 2
    return bends + 10 * U[:, 3] + 5 * U[:, 4]


def ridge(X, rng):
    direction = rng.normal(size=X.shape[1])
    z = np.sqrt(3) * X @ direction / np.linalg.norm(direction)
    return np.sin(2 * z) + 0.5 * z


def additive(X, rng):
    a = rng.normal(size=(3, X.shape[1]))
    return (a[0] * X + a[1] * np.sin(np.pi * X) + a[2] * X**2).sum(axis=1)


def interactions(X, rng):
    return np.sin(np.pi * X[:, 0]) * (1 + X[:, 1]) + (X[:, 2] > 0) * X[:, 3] + 0.5 * X[:, 4]


MANY = {"Friedman": friedman, "ridge": ridge, "additive": additive, "interactions": interactions}


def correlated(rng, shape):
    common = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    return np.tanh((common + rng.standard_normal(shape)) / 2)
