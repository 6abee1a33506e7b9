"""Keys of the parties of a joint fit: a secret file each, and a public line in the roster."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpgp.sites.errors import SitesError

NEEDED = 'joint fits need the package cryptography: install the extra "sites" of dpgp.'
NO_PUBLIC_KEY = (
    "a public key of the roster is not one that `dpgp sites key` printed; copy it whole."
)
KEY_BYTES = 32
LARGEST_FILE = 10_000  # bytes of a key file, which is 119


@dataclass(frozen=True)
class Key:
    """A party's X25519 key. Its repr shows no part of it."""

    _private: Any = field(repr=False)

    @classmethod
    def new(cls) -> Key:
        """Draw a key from the operating system's generator."""
        return cls(_cryptography()[0].X25519PrivateKey.generate())

    @property
    def public(self) -> str:
        """The public half, as it stands in a roster."""
        return base64.b64encode(self._private.public_key().public_bytes_raw()).decode()

    def shared_with(self, public: str, salt: bytes, purpose: str) -> bytes:
        """Return 32 bytes that only the owners of the two keys can compute.

        HKDF-SHA256 of the Diffie–Hellman secret, for one purpose.
        """
        x25519, hashes, hkdf, _ = _cryptography()
        other = x25519.X25519PublicKey.from_public_bytes(decoded(public))
        try:
            secret = self._private.exchange(other)
        except ValueError:  # a point of small order, with which everybody has the same secret
            raise SitesError(NO_PUBLIC_KEY) from None
        derive = hkdf.HKDF(hashes.SHA256(), KEY_BYTES, salt, purpose.encode())
        return bytes(derive.derive(secret))


def decoded(public: str) -> bytes:
    """Return the bytes of a public key; an error where it is none."""
    try:
        content = base64.b64decode(public, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != KEY_BYTES:
        raise SitesError(NO_PUBLIC_KEY)
    return content


def create_key(path: str | os.PathLike[str]) -> str:
    """Write a new key to a file to keep secret, and return its public line for the roster."""
    key, forms = Key.new(), _cryptography()[3]
    secret = key._private.private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
    )
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)
    return key.public


def load_key(path: str | os.PathLike[str]) -> Key:
    """Read a key that :func:`create_key` wrote."""
    x25519, _, _, forms = _cryptography()
    try:
        with Path(path).open("rb") as file:
            private = forms.load_pem_private_key(file.read(LARGEST_FILE), None)
    except OSError:
        raise SitesError(
            f"there is no key '{path}' to read; make one with `dpgp sites key`."
        ) from None
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, x25519.X25519PrivateKey):
        raise SitesError(f"'{path}' is no key that `dpgp sites key` wrote.")
    return Key(private)


def _cryptography() -> tuple[Any, Any, Any, Any]:
    try:
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import x25519
        from cryptography.hazmat.primitives.kdf import hkdf
    except ImportError:
        raise SitesError(NEEDED) from None
    return x25519, hashes, hkdf, serialization
