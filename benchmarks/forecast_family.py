"""A broad family of functions that no forecast was built on, and how often its range holds them.

Waves of various frequency and direction, steps, ridges, bumps and polynomials of one and two
inputs, each shifted, turned and scaled at random within the bounds, with noise of any size.
"""

import numpy as np

SEED = 2000
FAMILY_CELLS = [(1, 1000, 1.0), (1, 10_000, 3.0), (2, 2000, 1.0), (2, 20_000, 3.0)]
LARGEST = 0.7  # half the range of a function, in half-widths of the target
NOISES = (0.03, 0.3)  # standard deviations, equally likely on a logarithmic scale


def direction(columns, rng):
    a = rng.standard_normal(columns)
    return a / np.linalg.norm(a)


def wave(columns, rng):
    """A sine of half a wave to two waves across the box, in any direction."""
    a, waves, phase = direction(columns, rng), rng.uniform(0.5, 2.0), rng.uniform(0, 2 * np.pi)
    return lambda X: np.sin(np.pi * waves * (X @ a) + phase)


def product_of_waves(columns, rng):
    waves, phases = rng.uniform(0.3, 1.5, columns), rng.uniform(0, 2 * np.pi, columns)
    return lambda X: np.prod(np.sin(np.pi * waves * X + phases), axis=1)


def step(columns, rng):
    a, at = direction(columns, rng), rng.uniform(-0.5, 0.5)
    return lambda X: (X @ a > at).astype(float)


def ridge(columns, rng):
    """A smooth step of any steepness along a direction."""
    a, steepness, at = direction(columns, rng), rng.uniform(2, 10), rng.uniform(-0.5, 0.5)
    return lambda X: np.tanh(steepness * (X @ a - at))


def bump(columns, rng):
    centre, width = rng.uniform(-0.8, 0.8, columns), rng.uniform(0.15, 0.6)
    return lambda X: np.exp(-0.5 * ((X - centre) ** 2).sum(axis=1) / width**2)


def polynomial(columns, rng):
    """All monomials up to the third degree in single inputs, and products of two."""
    c, pairs = rng.standard_normal((3, columns)), rng.standard_normal((columns, columns))

    def f(X):
        single = sum(c[k] * X ** (k + 1) for k in range(3)).sum(axis=1)
        return single + np.einsum("ni,ij,nj->n", X, pairs, X)

    return f


FAMILY = {
    "wave": wave,
    "waves": product_of_waves,
    "step": step,
    "ridge": ridge,
    "bump": bump,
    "polynomial": polynomial,
}


def within_bounds(f, columns, rng):
    """Return a function scaled to a random part of the bounds, at a random level."""
    values = f(rng.uniform(-1, 1, (2000, columns)))
    middle, half = (values.max() + values.min()) / 2, np.ptp(values) / 2
    size = LARGEST * rng.uniform(0.3, 1.0)
    level = rng.uniform(-1.0, 1.0) * (LARGEST - size)
    return lambda X: level + size * (f(X) - middle) / half


def family_case(name, columns, n, epsilon, seed, fit):
    """Realised error of one function of the family, and the noise that its rows had."""
    rng = np.random.default_rng([SEED, seed, columns])
    f = within_bounds(FAMILY[name](columns, rng), columns, rng)
    noise = np.exp(rng.uniform(*np.log(NOISES)))
    X = rng.uniform(-1, 1, (n, columns))
    gp = fit(X, f(X) + noise * rng.standard_normal(n), epsilon, seed)
    U = rng.uniform(-1, 1, (1000, columns))
    return float(np.sqrt(np.mean((gp.predict(U) - f(U)) ** 2))), float(noise)
