"""One site of a joint fit: its name, its key, and its seat at the coordinator's table."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from dpgp import __version__
from dpgp.model.file.settings import settings_to_json
from dpgp.options import Options
from dpgp.plain_text import made_plain
from dpgp.privacy.noise import NoiseSource
from dpgp.sites.channel import NONCE_BYTES, Channel, call
from dpgp.sites.masks import BYTES, LARGEST, JointNoise, Masks, from_bytes
from dpgp.sites.roster import Roster, SitesError, load_key, read_roster
from dpgp.sites.statements import (
    Agreement,
    Statement,
    Transcript,
    agreed,
    read_statements,
    transcript_of,
)
from dpgp.types import Array, Integers

PATIENCE = 3600.0
"""Seconds to wait for the others: somebody may have to consent first."""

LONGEST_REFUSAL = 1000  # characters of what a coordinator gives as its reason


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
        masks = Masks(self.name, key, roster.others(self.name))
        if key.public != roster.sites[self.name]:
            raise SitesError(f"'{self.key}' is not the key that the roster has for '{self.name}'.")
        with _connected(roster.address, self.patience) as connection:
            channel = call(connection, self.name, key, roster.coordinator)
            try:
                statements = _joined(
                    channel, self.name, roster, _statement(options, rows, own, roster)
                )
                transcript = transcript_of(statements)
                seat = _Seat(channel, masks, transcript)
                noise = JointNoise(own, roster.honest, len(roster.sites), seat.total)
                yield Meeting(agreed(statements), noise, transcript)
            except BaseException:
                with suppress(SitesError):  # what went wrong matters more than who hears of it
                    channel.send("stop")
                raise
            with suppress(SitesError):  # the model is complete, whoever is still there
                channel.send("done")


@dataclass(frozen=True)
class Meeting:
    """What a site needs for its part of the fit."""

    agreement: Agreement
    noise: JointNoise
    transcript: Transcript

    def asked(self, kind: str, arithmetic: bytes) -> None:
        """Note a question before its answer is sent: what it makes of a public row, bit for bit.

        Where sites are known to differ in last bits, its kind is all that they can agree on.
        """
        bits = arithmetic if self.agreement.is_even else b""
        self.transcript.add("question", kind.encode() + b"\n" + bits)


@dataclass(frozen=True)
class _Seat:
    """A site's side of the conversation, once all have joined."""

    channel: Channel
    masks: Masks
    transcript: Transcript

    def total(self, numbers: Integers, scales: Array) -> Integers:
        """Send numbers under masks, and return the sum over all sites.

        The transcript goes on before anything is sent, so that no mask is used twice.
        """
        self.transcript.add("scales", np.ascontiguousarray(scales, dtype="<f8").tobytes())
        hidden = self.masks.hide(numbers, self.transcript.digest)
        self.channel.send("sum", hidden, transcript=self.transcript.digest.hex())
        body = _expect(self.channel, "total")[1]
        if len(body) != BYTES * len(numbers):
            raise SitesError("the coordinator answered another question than was asked.")
        self.transcript.add("total", body)
        return _checked(from_bytes(body))


def _checked(total: Integers) -> Integers:
    """Return a total that can be one: masks that did not cancel leave numbers of any size."""
    if any(abs(number) >= LARGEST for number in total):
        raise SitesError(
            "the masks of the sites did not cancel: not all were told the same, or somebody "
            "changed the total; ask who leads the fit."
        )
    return total


def _statement(options: Options, rows: int, own: NoiseSource, roster: Roster) -> Statement:
    return Statement(
        nonce=secrets.token_hex(NONCE_BYTES),
        terms=terms_of(options, roster),
        rows=rows if options.row_count_is_public else None,
        simulation=not own.is_private,
        arithmetic=fingerprint(),
    )


def _joined(channel: Channel, name: str, roster: Roster, own: Statement) -> dict[str, Statement]:
    """Tell what this site wants, and hear what all sites said."""
    channel.send("join", statement=asdict(own))
    statements = read_statements(_expect(channel, "start")[0].get("statements"))
    if set(statements) != set(roster.sites) or statements[name] != own:
        raise SitesError(
            "the coordinator left a site out, or changed what this one said; nothing was sent. "
            "Compare rosters, and ask who leads the fit."
        )
    return statements


def terms_of(options: Options, roster: Roster) -> str:
    """Return a hash of what all sites must agree on: columns, guarantee, roster and version."""
    names = [options.box.column_names("input"), options.target_box.column_names("target")]
    categories = [*options.box.categories, *options.target_box.categories]
    levels = [category and category.words for category in categories]
    origins = [days and days.unit for days in options.box.dates]
    said = [settings_to_json(options), names, levels, options.per_person, origins]
    return _digest([roster.digest, __version__, said])


def fingerprint() -> str:
    """Return a hash of what this machine's arithmetic makes of public numbers.

    Equal ones, and the same libraries, say that a row's integers, and what is inferred from
    releases, are the same to the last bit here and there.
    """
    grid = np.cos(np.outer(np.arange(64.0), np.arange(1.0, 65.0)))
    gram = grid @ grid.T / 64.0 + np.eye(64)
    parts = [np.exp(-(grid**2)), gram, np.linalg.cholesky(gram), np.linalg.eigvalsh(gram)]
    bits = b"".join(part.tobytes() for part in parts)
    return _digest([np.__version__, version("scipy"), hashlib.sha256(bits).hexdigest()])


def _digest(said: Any) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def _expect(channel: Channel, kind: str) -> tuple[dict[str, Any], bytes]:
    message, body = channel.receive()
    if message["kind"] == "refused":
        raise SitesError(made_plain(str(message.get("why"))[:LONGEST_REFUSAL]))
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
