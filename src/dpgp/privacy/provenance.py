"""Where a release comes from: its randomness, its programs, its ledger and its study file."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

from dpgp import __version__

if TYPE_CHECKING:
    from dpgp.privacy.noise import NoiseSource

PACKAGES = ("numpy", "scipy", "opendp")
"""Packages whose arithmetic or noise a release rests on."""


@dataclass(frozen=True)
class StudyRecord:
    """The study file that a fit was told by: SHA-256 of its bytes, and its own words for itself."""

    sha256: str
    title: str | None = None
    id: str | None = None

    @classmethod
    def of(cls, content: bytes, title: str | None = None, id: str | None = None) -> StudyRecord:
        """Describe a file by what was read of it."""
        return cls(sha256(content).hexdigest(), title, id)

    def __str__(self) -> str:
        names = [name for name in (self.title, self.id) if name is not None]
        return ", ".join([*names, f"study file with SHA-256 {self.sha256}"])


@dataclass(frozen=True)
class Provenance:
    """What a stranger must know to trust a release, besides its numbers.

    ``ledger`` is the link of the entry in a ledger that the fit was reserved by, if it was,
    and ``study`` the file that it was told by.
    """

    random_source: str
    versions: tuple[tuple[str, str], ...]
    ledger: str | None = None
    study: StudyRecord | None = None

    @classmethod
    def of(cls, source: NoiseSource, ledger: str | None = None) -> Provenance:
        """Describe this process."""
        packages = tuple((name, version(name)) for name in PACKAGES)
        return cls(
            random_source=source.name,
            versions=(("dpgp", __version__), ("python", platform.python_version()), *packages),
            ledger=ledger,
        )
