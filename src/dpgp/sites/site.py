"""One site of a joint fit: its name, its key, and its seat at the coordinator's table."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp import __version__
from dpgp.model.file.settings import settings_to_json
from dpgp.options import Options
from dpgp.privacy.noise import NoiseSource
from dpgp.sites.channel import NONCE_BYTES, Channel, call
from dpgp.sites.errors import SitesError
from dpgp.sites.keys import Key, load_key
from dpgp.sites.masks import BYTES, Masks, from_bytes
from dpgp.sites.noise import JointNoise
from dpgp.sites.roster import Roster, read_roster

Array = NDArray[np.float64]
Integers = NDArray[np.object_]

PATIENCE = 3600.0
"""Seconds to wait for the others: somebody may have to consent first."""


@dataclass(frozen=True)
class Site:
    """A custodian in a joint fit: paths alone, so that it can be copied and pickled.

    ``name`` is the site's in the roster, ``key`` the file that ``dpgp sites key`` wrote for it.
    ``patience`` is how many seconds to wait for an answer.
    """

    name: str
    roster: str | os.PathLike[str]
    key: str | os.PathLike[str]
    patience: float = PATIENCE

    @contextmanager
    def meeting(self, options: Options, rows: int, own: NoiseSource) -> Iterator[Meeting]:
        """Meet the other sites for one fit of these options; the block's end is the fit's.

        An error within the block ends the fit everywhere.
        """
        roster, key = read_roster(self.roster), load_key(self.key)
        others = roster.others(self.name)
        if key.public != roster.sites[self.name]:
            raise SitesError(f"'{self.key}' is not the key that the roster has for '{self.name}'.")
        with _connected(roster.address, self.patience) as connection:
            channel = call(connection, self.name, key, roster.coordinator)
            seat = _Seat(self.name, key, roster, others, channel)
            meeting = seat.join(options, rows, own)
            try:
                yield meeting
            except BaseException:
                channel.send("stop")
                raise
            channel.send("done")
            _expect(channel, "end")


@dataclass(frozen=True)
class Meeting:
    """What a site needs for its part of the fit.

    ``rows`` is the number of rows of all sites, None where it is private. ``is_even`` says whether
    all sites have the same arithmetic, to the last bit.
    """

    rows: int | None
    noise: JointNoise
    is_even: bool


@dataclass
class _Seat:
    """A site's side of the conversation."""

    name: str
    key: Key
    roster: Roster
    others: dict[str, str]
    channel: Channel
    masks: Masks | None = None
    rounds: int = 0

    def join(self, options: Options, rows: int, own: NoiseSource) -> Meeting:
        """Tell what this site wants, and hear whether all want the same."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        self.channel.send(
            "join",
            nonce=nonce.hex(),
            terms=terms_of(options, self.roster),
            rows=rows if options.row_count_is_public else None,
            simulation=not own.is_private,
            arithmetic=fingerprint(),
        )
        start, _ = _expect(self.channel, "start")
        self.masks = Masks(self.name, self.key, self.others, self._session(start, nonce))
        noise = JointNoise(own, self.roster.honest, len(self.roster.sites), self.total)
        noise.is_private = not start["simulation"]
        return Meeting(start["rows"], noise, bool(start["even"]))

    def _session(self, start: dict[str, Any], nonce: bytes) -> bytes:
        """Return a hash of everybody's nonces: new, because this site's is among them."""
        nonces = start["nonces"]
        if set(nonces) != set(self.roster.sites) or nonces[self.name] != nonce.hex():
            raise SitesError("the coordinator left this site out; nothing was sent.")
        said = json.dumps([self.roster.digest, nonces], sort_keys=True)
        return hashlib.sha256(said.encode()).digest()

    def total(self, numbers: Integers, scales: Array) -> Integers:
        """Send numbers under masks, and return the sum over all sites."""
        if self.masks is None:
            raise SitesError("a site joins before it adds.")
        # a round's masks are used once: the round counts before anything is sent
        self.rounds, number = self.rounds + 1, self.rounds
        hidden = self.masks.hide(numbers, number)
        noise = hashlib.sha256(np.ascontiguousarray(scales).tobytes()).hexdigest()
        self.channel.send("sum", hidden, round=number, noise=noise)
        answer, body = _expect(self.channel, "total")
        if answer.get("round") != number or len(body) != BYTES * len(numbers):
            raise SitesError("the coordinator answered another question than was asked.")
        return from_bytes(body)


def terms_of(options: Options, roster: Roster) -> str:
    """Return a hash of what all sites must agree on: columns, guarantee, roster and version."""
    names = [options.box.column_names("input"), options.target_box.column_names("target")]
    categories = [*options.box.categories, *options.target_box.categories]
    levels = [category and category.words for category in categories]
    said = [settings_to_json(options), names, levels, options.per_person]
    return _digest([roster.digest, __version__, said])


def fingerprint() -> str:
    """Return a hash of what this machine's arithmetic makes of public numbers.

    Equal ones say that a row's integers, and what is inferred from releases, are likely the same
    to the last bit here and there.
    """
    grid = np.cos(np.outer(np.arange(64.0), np.arange(1.0, 65.0)))
    gram = grid @ grid.T / 64.0 + np.eye(64)
    parts = [np.exp(-(grid**2)), gram, np.linalg.cholesky(gram), np.linalg.eigvalsh(gram)]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def _digest(said: Any) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def _expect(channel: Channel, kind: str) -> tuple[dict[str, Any], bytes]:
    message, body = channel.receive()
    if message["kind"] == "refused":
        raise SitesError(str(message.get("why", "the joint fit was ended.")))
    if message["kind"] != kind:
        raise SitesError("the coordinator does not follow the protocol; compare versions of dpgp.")
    return message, body


@contextmanager
def _connected(address: tuple[str, int], patience: float) -> Iterator[socket.socket]:
    try:
        connection = socket.create_connection(address, timeout=patience)
    except OSError:
        host, port = address
        raise SitesError(
            f"nobody answers at {host}:{port}; start `dpgp sites coordinate` there first."
        ) from None
    with connection:
        yield connection
