r"""Randomness that privacy rests on: the only place in the project that draws it.

What discrete Gaussian noise costs beyond continuous noise of the same scale is said here too.
Continuous noise rounded to integers leaves an integer-valued query exactly :math:`\mu`-GDP. The
discrete Gaussian (Canonne, Kamath & Steinke 2020) is so close to it that the likelihood ratio
stays within a factor :math:`e^\eta` outside a set of mass :math:`\beta`.
Proof: docs/proofs/discrete_gaussian.md.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from typing import Protocol

import numpy as np

from dpgp.privacy.arguments import as_count, as_non_negative, as_positive, as_probability
from dpgp.privacy.rounding import FEW_ROUNDINGS, float_up
from dpgp.types import Array, Integers

MIN_SCALE = 2.0**30  # makes η about 2·10⁻¹⁴ for 10⁵ numbers: docs/proofs/discrete_gaussian.md, §6
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


def key_of_choices(random_state: int | np.random.Generator | None) -> bytes:
    """Return a key for what is chosen at random beside noise; no guarantee rests on it.

    It is fresh, from the operating system's generator. Under simulation it follows from the state
    of the seeded generator, of which nothing is drawn.
    """
    if random_state is None:
        return secrets.token_bytes(16)
    state = np.random.default_rng(random_state).bit_generator.state
    text = json.dumps(state, default=lambda numbers: numbers.tolist(), sort_keys=True)
    return blake2b(text.encode(), digest_size=16, person=b"rows of a unit").digest()


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


# --- what discrete noise costs --------------------------------------------------------------------


LOG_TAIL = -800.0  # the proof gives less than -899: what is between covers K stages and rounding


def discretisation_cost(coordinates: int, sigma_min: float) -> float:
    r"""Likelihood-ratio exponent :math:`\eta = (5N + 2000)/(24\sigma_{\min}^2)`, rounded up.

    N coordinates are released together, :math:`\sigma_{\min}` is the smallest of their scales in
    integer units; the costs of stages add up. Proof: docs/proofs/discrete_gaussian.md.
    """
    N, sigma_min = as_count("coordinates", coordinates), as_positive("sigma_min", sigma_min)
    if sigma_min < MIN_SCALE:
        raise ValueError(
            f"`sigma_min` must be at least 2**30, got {sigma_min}; multiply the query by a power "
            "of two before adding noise."
        )
    return (5 * N + 2000) / (24.0 * sigma_min**2) * (1.0 + FEW_ROUNDINGS)


def discrete_guarantee(epsilon: float, delta: float, eta: float) -> tuple[float, float]:
    r"""(ε, δ) of the discrete mechanism whose continuous twin is `epsilon`, `delta`-DP, rounded up.

    :math:`\varepsilon' = \varepsilon + \eta`,
    :math:`\delta' = e^\eta(\delta + e^\varepsilon\beta)`. Proof: docs/proofs/discrete_gaussian.md.
    """
    epsilon, eta = as_non_negative("epsilon", epsilon), as_non_negative("eta", eta)
    delta = as_probability("delta", delta)
    if epsilon == math.inf:
        return math.inf, delta
    # δ'/δ = e^η·(1 + e^ε·β/δ)
    log_growth = eta + float(np.logaddexp(0.0, epsilon + LOG_TAIL - math.log(delta)))
    grown = delta * math.exp(min(log_growth, 1.0 - math.log(delta)))
    return float_up(Fraction(epsilon) + Fraction(eta)), min(1.0, grown * (1.0 + FEW_ROUNDINGS))


def continuous_target(epsilon: float, delta: float, eta: float) -> tuple[float, float]:
    r"""(ε, δ) that the continuous mechanism must meet so that the discrete one meets the request.

    :math:`\varepsilon_c = \varepsilon - \eta`,
    :math:`\delta_c = e^{-\eta}\delta - e^{\varepsilon_c}\beta`, both rounded down.
    Proof: docs/proofs/discrete_gaussian.md.
    """
    epsilon, eta = as_positive("epsilon", epsilon), as_non_negative("eta", eta)
    delta = as_probability("delta", delta)
    if epsilon == math.inf:
        return math.inf, delta
    epsilon_c = -float_up(Fraction(eta) - Fraction(epsilon))
    if not epsilon_c > 0.0:
        raise ValueError(f"`epsilon` must be greater than `eta` = {eta}, got {epsilon}.")
    # δ_c/δ = e^−η − e^ε·β/δ
    log_leak = epsilon_c + LOG_TAIL - math.log(delta)
    kept = math.exp(-eta) - math.exp(min(log_leak, 1.0))
    if not kept > 0.0:
        raise ValueError(
            f"`delta` = {delta} is out of reach at `epsilon` = {epsilon}: it must be greater than "
            "exp(epsilon - 800); ask for a larger `delta` or a smaller `epsilon`."
        )
    return epsilon_c, delta * kept * (1.0 - FEW_ROUNDINGS)
