"""Randomness that privacy rests on: the only place in the project that draws it."""

from __future__ import annotations

import os
import secrets
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

import numpy as np

from dpgp.privacy.discretisation import MIN_SCALE
from dpgp.types import Array, Integers

_MAX_SCALE = 2.0**57  # 2^63 is 64 standard deviations away: 64-bit integers never saturate


PORTION = 4096
"""Draws that one thread makes at a time: about a twentieth of a second."""


class SeededNoiseWarning(UserWarning):
    """A seed was given: the result is a simulation and not private."""


class NoiseSource(Protocol):
    """Draws integers from the discrete Gaussian, and uniform numbers for selections."""

    is_private: bool
    name: str

    def draw(self, scale: float, count: int) -> list[int]:
        """Return ``count`` draws with standard deviation ``scale``, in integer units."""
        ...

    def uniform(self) -> float:
        """Return a number from [0, 1)."""
        ...

    def check(self, scale: float) -> None:
        """Raise where noise of a scale could not be drawn."""
        ...

    def add_to(self, totals: Integers, scales: Array) -> Integers:
        """Return integers with noise of these scales: the one way out for what rows add up to."""
        ...


class DrawnNoise:
    """What sources of noise share: a draw for every scale, added to exact integers."""

    def draw(self, scale: float, count: int) -> list[int]:
        """Return ``count`` draws with standard deviation ``scale``, in integer units."""
        raise NotImplementedError

    def check(self, scale: float) -> None:
        """Raise where noise of a scale could not be drawn."""
        check_scale(scale)

    def add_to(self, totals: Integers, scales: Array) -> Integers:
        """Return integers with noise of these scales; none where a scale is zero."""
        noisy = totals.copy()
        for scale in sorted(set(scales.tolist()) - {0.0}):
            chosen = np.flatnonzero(scales == scale)
            noisy[chosen] += np.array(self.draw(scale, len(chosen)), dtype=object)
        return noisy


class SecureNoise(DrawnNoise):
    """OpenDP's discrete Gaussian, driven by a cryptographic generator."""

    is_private = True
    name = "OpenDP's discrete Gaussian, from the operating system's secure generator"

    def draw(self, scale: float, count: int) -> list[int]:
        """Return ``count`` draws with standard deviation ``scale``, in integer units.

        Draws are independent, so threads may share the work; OpenDP runs outside the interpreter.
        """
        check_scale(scale)
        portions = [min(PORTION, count - start) for start in range(0, count, PORTION)]
        if len(portions) < 2:
            return self._draw_portion(scale, count)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            drawn = pool.map(partial(self._draw_portion, scale), portions)
            return [draw for portion in drawn for draw in portion]

    def _draw_portion(self, scale: float, count: int) -> list[int]:
        from opendp.domains import atom_domain, vector_domain
        from opendp.measurements import make_gaussian
        from opendp.metrics import l2_distance
        from opendp.mod import enable_features

        enable_features("contrib")
        mechanism = make_gaussian(
            vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=scale
        )
        return [int(draw) for draw in mechanism([0] * count)]

    def uniform(self) -> float:
        """Return a number from [0, 1), from the operating system's generator."""
        return secrets.SystemRandom().random()


class SimulatedNoise(DrawnNoise):
    """Rounded Gaussian noise from a seeded generator: fast, repeatable, and not private."""

    is_private = False
    name = "NumPy's generator with a seed: simulation, not private"

    def __init__(self, seed: int | np.random.Generator) -> None:
        self._generator = np.random.default_rng(seed)

    def draw(self, scale: float, count: int) -> list[int]:
        """Return ``count`` draws with standard deviation ``scale``, in integer units."""
        check_scale(scale)
        draws: list[int] = (
            np.rint(self._generator.normal(0.0, scale, count)).astype(np.int64).tolist()
        )
        return draws

    def uniform(self) -> float:
        """Return a number from [0, 1)."""
        return float(self._generator.random())


def check_scale(scale: float) -> None:
    """Refuse scales for which the analysis of the discrete Gaussian does not hold."""
    if not MIN_SCALE <= scale <= _MAX_SCALE:
        raise ValueError(
            f"the noise scale must be between 2^30 and 2^57 units, got {scale:.3g}; "
            "choose an `epsilon` and a `delta` that are less extreme."
        )


def noise_source(random_state: int | np.random.Generator | None) -> NoiseSource:
    """Return OpenDP's noise, or a simulation where a seed is given, with a warning."""
    if random_state is None:
        return SecureNoise()
    warnings.warn(
        "`random_state` was given: the noise can be repeated, so the result is a simulation and "
        "not private; leave it out to publish.",
        SeededNoiseWarning,
        stacklevel=3,
    )
    return SimulatedNoise(random_state)
