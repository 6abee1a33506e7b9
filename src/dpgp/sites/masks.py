r"""Sums over sites that show no site's numbers: under masks that cancel, with a share of the noise.

Sites i < j share a stream, which i adds and j subtracts, modulo 2^128. The sum over all sites is
that of their numbers, and any other sum is uniform to whoever lacks one of the streams in it. A
stream is ChaCha20 (RFC 8439) under a key that HMAC-SHA256 makes of a secret of two sites and of the
transcript, so that sites with different ones share no stream. Bonawitz et al. (2017), without
drop-outs.

With h honest sites, noise of variance :math:`\sigma^2/h` at each leaves at least
:math:`\sigma^2` that nobody else knows. Proof: docs/proofs/sites.md.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.rounding import sqrt_up
from dpgp.sites.roster import Key
from dpgp.types import Array, Integers

# --- masks ----------------------------------------------------------------------------------------


BYTES = 16
MODULUS = 2 ** (8 * BYTES)
LARGEST = 2**102
"""Sums of 2^60 rows and their noise are smaller: none wraps around."""


class Masks:
    """What one site adds to its numbers; a transcript may serve once."""

    def __init__(self, name: str, key: Key, others: Mapping[str, str]) -> None:
        self._name = name
        self._keys = {
            other: key.shared_with(public, b"", _purpose(name, other))
            for other, public in others.items()
        }

    def hide(self, numbers: Integers, transcript: bytes) -> bytes:
        """Return numbers plus this site's masks under a transcript, modulo 2^128."""
        hidden = numbers.copy()
        for other, key in self._keys.items():
            mask = _stream(hmac.digest(key, transcript, "sha256"), len(numbers))
            hidden = hidden + mask if self._name < other else hidden - mask
        return to_bytes(hidden)


def to_bytes(numbers: Integers) -> bytes:
    """Return numbers modulo 2^128, sixteen bytes each."""
    return b"".join((int(number) % MODULUS).to_bytes(BYTES, "little") for number in numbers)


def from_bytes(content: bytes) -> Integers:
    """Return numbers between −2^127 and 2^127."""
    halves = np.frombuffer(content, dtype="<u8").reshape(-1, 2).astype(object)
    numbers = halves[:, 0] + halves[:, 1] * 2**64
    centred: Integers = np.where(numbers >= MODULUS // 2, numbers - MODULUS, numbers)
    return centred


def _stream(key: bytes, count: int) -> Integers:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    # sixteen bytes: the block counter, and a nonce, which need not change where the key does
    cipher = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    return from_bytes(cipher.update(bytes(BYTES * count)))


def _purpose(name: str, other: str) -> str:
    return "dpgp mask\n" + "\n".join(sorted((name, other)))


# --- noise under them -----------------------------------------------------------------------------


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
        """Return a number of this site's own, by which it deals its rows; nobody else has it."""
        return self._own.uniform()

    def add_to(self, totals: Integers, scales: Array) -> Integers:
        """Return the totals of all sites with the noise of all of them."""
        shares = {scale: self._share(scale) for scale in set(scales.tolist())}
        own = np.array([shares[scale] for scale in scales.tolist()])
        return self._total(self._own.add_to(totals, own), scales)

    def _share(self, scale: float) -> float:
        """Return σ/√h, rounded up."""
        return sqrt_up(Fraction(scale) ** 2 / self._honest)
