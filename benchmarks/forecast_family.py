"""Two broad families of functions, and how often the range of a forecast holds them.

Waves of various frequency and direction, steps, ridges, bumps and polynomials of one and two
inputs: on these the range was chosen. Curves that biostatistics draws, and a few that it does not:
on these it is held to account. All are shifted, turned and scaled at random within the bounds, with
noise of any size.
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


def dose_response(columns, rng):
    """Nothing, then more with the logarithm of the dose, then saturation (Hill)."""
    a, half, power = direction(columns, rng), rng.uniform(0.5, 2.0), rng.uniform(1.0, 5.0)

    def f(X):
        dose = np.maximum(X @ a + np.sqrt(columns), 0.0)
        return dose**power / (half**power + dose**power)

    return f


def growth(columns, rng):
    """Fast growth, a spurt and a plateau (a double logistic curve), changed by the others."""
    early, late = rng.uniform(-1.2, -0.6), rng.uniform(0.0, 0.6)
    slope, share = rng.uniform(3, 8), rng.uniform(0.1, 0.5) * np.ones(columns)
    share[1:] *= rng.choice([-1, 1], columns - 1)

    def f(X):
        x = X[:, 0]
        curve = 1 / (1 + np.exp(-3 * (x - early))) + share[0] / (1 + np.exp(-slope * (x - late)))
        return curve * (1 + 0.5 * X[:, 1:] @ share[1:])

    return f


def broken_line(columns, rng):
    """Straight lines that meet at two thresholds, in every input."""
    knots, slopes = rng.uniform(-0.8, 0.8, (2, columns)), rng.standard_normal((3, columns))

    def f(X):
        bends = sum(
            s * np.maximum(X - knot, 0.0) for s, knot in zip(slopes[1:], knots, strict=True)
        )
        return (slopes[0] * X + bends).sum(axis=1)

    return f


def valley(columns, rng):
    """Risk that is least at a place and rises on both sides, faster on one (the J of mortality)."""
    place, rise = rng.uniform(-0.5, 0.5, columns), rng.uniform(0.5, 3.0, columns)
    return lambda X: np.sum(np.expm1(rise * (X - place)) - rise * (X - place), axis=1)


def damped_wave(columns, rng):
    a, rate, waves = direction(columns, rng), rng.uniform(0.5, 2.0), rng.uniform(0.5, 1.5)
    return lambda X: np.exp(-rate * (X @ a)) * np.cos(np.pi * waves * (X @ a))


def two_bumps(columns, rng):
    """A broad one and a narrow one, up or down."""
    wide, narrow = bump(columns, rng), bump(columns, rng)
    size = rng.choice([-1, 1]) * rng.uniform(0.3, 1.0)
    return lambda X: wide(X) ** 0.25 + size * narrow(X)


HELD_OUT = {
    "dose": dose_response,
    "growth": growth,
    "broken line": broken_line,
    "valley": valley,
    "damped wave": damped_wave,
    "two bumps": two_bumps,
}


def within_bounds(f, columns, rng):
    """Return a function scaled to a random part of the bounds, at a random level."""
    values = f(rng.uniform(-1, 1, (2000, columns)))
    middle, half = (values.max() + values.min()) / 2, np.ptp(values) / 2
    size = LARGEST * rng.uniform(0.3, 1.0)
    level = rng.uniform(-1.0, 1.0) * (LARGEST - size)
    return lambda X: level + size * (f(X) - middle) / half


def family_case(draw, columns, n, epsilon, seed, fit):
    """Realised error of one function of the family, and the noise that its rows had."""
    rng = np.random.default_rng([SEED, seed, columns])
    f = within_bounds(draw(columns, rng), columns, rng)
    noise = np.exp(rng.uniform(*np.log(NOISES)))
    X = rng.uniform(-1, 1, (n, columns))
    gp = fit(X, f(X) + noise * rng.standard_normal(n), epsilon, seed)
    U = rng.uniform(-1, 1, (1000, columns))
    return float(np.sqrt(np.mean((gp.predict(U) - f(U)) ** 2))), float(noise)
