"""The roster: who takes part in a joint fit, agreed on beforehand and the same at every site."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dpgp.plain_text import NAME_RULE, is_name
from dpgp.sites.errors import SitesError
from dpgp.sites.keys import decoded

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
