r"""Noise of a joint fit: every site adds a share, and only the sum over all sites is seen.

With h honest sites, noise of variance :math:`\sigma^2/h` at each leaves at least
:math:`\sigma^2` that nobody else knows. Proof: docs/proofs/sites.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.rounding import sqrt_up
from dpgp.types import Array, Integers


class JointNoise:
    """This site's share of the noise, and the sum with what the other sites send.

    ``total`` gives the sum over all sites of numbers that each calls it with, and of the scales.
    """

    def __init__(
        self,
        own: NoiseSource,
        honest: int,
        sites: int,
        total: Callable[[Integers, Array], Integers],
    ) -> None:
        self._own, self._honest, self._total = own, honest, total
        self.is_private = own.is_private
        self.name = f"{own.name}; a share of it by each of {sites} sites, {honest} of them trusted"

    def check(self, scale: float) -> None:
        """Refuse scales of which this site could not draw its share."""
        self._own.check(self._share(scale))

    def draw(self, scale: float, count: int) -> list[int]:
        """Refuse: what one site draws is never shown by itself."""
        raise NotImplementedError("sites draw noise where it is added to their sums, only there.")

    def uniform(self) -> float:
        """Refuse: no step of a joint fit selects."""
        raise NotImplementedError("joint fits have no selection.")

    def add_to(self, totals: Integers, scales: Array) -> Integers:
        """Return the totals of all sites with the noise of all of them."""
        shares = {scale: self._share(scale) for scale in set(scales.tolist())}
        own = np.array([shares[scale] for scale in scales.tolist()])
        return self._total(self._own.add_to(totals, own), scales)

    def _share(self, scale: float) -> float:
        """Return σ/√h, rounded up."""
        return sqrt_up(Fraction(scale) ** 2 / self._honest)
