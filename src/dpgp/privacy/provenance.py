"""Where a release comes from: its randomness, the programs that made it, its place in a ledger."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version

from dpgp import __version__
from dpgp.privacy.noise import NoiseSource

PACKAGES = ("numpy", "scipy", "opendp")
"""Packages whose arithmetic or noise a release rests on."""


@dataclass(frozen=True)
class Provenance:
    """What a stranger must know to trust a release, besides its numbers.

    ``ledger`` is the link of the entry in a ledger that the fit was reserved by, if it was.
    """

    random_source: str
    versions: tuple[tuple[str, str], ...]
    ledger: str | None = None

    @classmethod
    def of(cls, source: NoiseSource, ledger: str | None = None) -> Provenance:
        """Describe this process."""
        packages = tuple((name, version(name)) for name in PACKAGES)
        return cls(
            random_source=source.name,
            versions=(("dpgp", __version__), ("python", platform.python_version()), *packages),
            ledger=ledger,
        )
