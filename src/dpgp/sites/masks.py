r"""Masks that cancel: sites i < j share a stream, which i adds and j subtracts, modulo 2^128.

The sum over all sites is that of their numbers, and any other sum is uniform to whoever lacks one
of the streams in it. A stream is ChaCha20 (RFC 8439) under a key that HMAC-SHA256 makes of a secret
of two sites and of the transcript, so that sites with different ones share no stream.
Bonawitz et al. (2017), without drop-outs. Proof: docs/proofs/sites.md.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

import numpy as np

from dpgp.sites.keys import Key
from dpgp.types import Integers

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
