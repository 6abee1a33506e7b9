r"""Masks that cancel: sites i < j share a stream, which i adds and j subtracts, modulo 2^128.

The sum over all sites is that of their numbers, and any other sum is uniform to whoever lacks one
of the streams in it. A stream is ChaCha20 (RFC 8439) under a key of two sites and one session, with
the number of the round as its nonce. Bonawitz et al. (2017), without drop-outs.
Proof: docs/proofs/sites.md.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpgp.sites.keys import Key

Integers = NDArray[np.object_]

BYTES = 16
MODULUS = 2 ** (8 * BYTES)
"""Sums of 2^60 rows and their noise are below 2^101 in size: none wraps around."""


class Masks:
    """What one site adds to its numbers, round by round."""

    def __init__(self, name: str, key: Key, others: Mapping[str, str], session: bytes) -> None:
        self._name = name
        self._keys = {
            other: key.shared_with(public, session, _purpose(name, other))
            for other, public in others.items()
        }

    def hide(self, numbers: Integers, number_of_round: int) -> bytes:
        """Return numbers plus this site's masks, modulo 2^128."""
        hidden = numbers.copy()
        for other, key in self._keys.items():
            mask = _stream(key, number_of_round, len(numbers))
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


def _stream(key: bytes, number_of_round: int, count: int) -> Integers:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    # sixteen bytes: the block counter, which starts at 0, and the nonce
    nonce = (0).to_bytes(4, "little") + number_of_round.to_bytes(12, "little")
    cipher = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    return from_bytes(cipher.update(bytes(BYTES * count)))


def _purpose(name: str, other: str) -> str:
    return "dpgp mask\n" + "\n".join(sorted((name, other)))
