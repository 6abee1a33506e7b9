"""Who takes part in a joint fit: the roster is agreed on beforehand and the same at every site.

Every party has a key: a secret file, and a public line in the roster.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpgp.plain_text import NAME_RULE, is_name


class SitesError(RuntimeError):
    """A joint fit that cannot begin or go on; the message names the party and the remedy."""


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


FIELDS = ("address", "coordinator", "sites", "honest")
EXAMPLE = """write, say:
  address: 127.0.0.1:7000
  coordinator: <public key>
  sites: {north: <public key>, south: <public key>}"""


@dataclass(frozen=True)
class Roster:
    """Public keys of all parties, and how many sites at least are trusted to keep their secrets.

    ``honest`` sites give away neither their noise nor their masks; each adds noise of variance
    σ²/honest. As many as there are sites makes the noise that of one table, if none leaves its own
    out; one less, the default, needs no trust in any single one; 1 protects every site from all the
    others together, and costs √(number of sites) times the noise.
    """

    address: tuple[str, int]
    coordinator: str
    sites: Mapping[str, str]
    honest: int

    def __post_init__(self) -> None:
        if len(self.sites) < 2:
            raise SitesError("a roster must have two sites or more, each with its public key.")
        if not 1 <= self.honest <= len(self.sites):
            raise SitesError(
                f"`honest` must be between 1 and the number of sites, {len(self.sites)}, "
                f"got {self.honest}."
            )
        keys = [decoded(public) for public in (*self.sites.values(), self.coordinator)]
        if len(set(keys)) < len(keys):
            raise SitesError("every party of a roster must have a key of its own.")

    def others(self, name: str) -> dict[str, str]:
        """Return the other sites; an error where the roster has no site of that name."""
        if name not in self.sites:
            raise SitesError(
                f"the roster has no site '{name}'; it has {', '.join(map(repr, self.sites))}."
            )
        return {other: public for other, public in self.sites.items() if other != name}

    @property
    def digest(self) -> str:
        """A hash of who takes part, and on which terms."""
        said = {"coordinator": self.coordinator, "sites": dict(self.sites), "honest": self.honest}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def read_roster(path: str | os.PathLike[str]) -> Roster:
    """Read a roster from a YAML file."""
    import yaml

    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except OSError:
        raise SitesError(f"there is no roster '{path}' to read.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise SitesError(f"'{path}' is no YAML file; {EXAMPLE}") from None
    return _roster(path, content)


def _roster(path: str | os.PathLike[str], content: Any) -> Roster:
    if not isinstance(content, dict) or not set(content) <= set(FIELDS):
        raise SitesError(f"'{path}' must have the keys {', '.join(FIELDS)} alone; {EXAMPLE}")
    sites, coordinator = content.get("sites"), content.get("coordinator")
    if not isinstance(sites, dict) or not all(isinstance(key, str) for key in sites.values()):
        raise SitesError(f"'{path}': `sites` must give every site its public key; {EXAMPLE}")
    if not isinstance(coordinator, str):
        raise SitesError(f"'{path}': `coordinator` must be a public key; {EXAMPLE}")
    if not all(is_name(name) for name in sites):
        raise SitesError(f"'{path}': every name of a site {NAME_RULE}.")
    honest = content.get("honest", str(max(len(sites) - 1, 1)))
    if not isinstance(honest, str) or not honest.isdecimal():
        raise SitesError(f"'{path}': `honest` must be a whole number.")
    return Roster(_address(path, content.get("address")), coordinator, sites, int(honest))


def _address(path: str | os.PathLike[str], text: Any) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise SitesError(f"'{path}': `address` must be a host and a port; {EXAMPLE}")
    return host, int(port)
