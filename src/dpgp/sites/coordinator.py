"""The coordinator of a joint fit: lets all sites in, adds what they send, and tells the total.

It holds no rows, learns the noisy totals that are published anyway, and needs no trust for privacy.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from dpgp.sites.channel import Channel, answer
from dpgp.sites.masks import BYTES, from_bytes, to_bytes
from dpgp.sites.roster import Key, Roster, SitesError, load_key, read_roster
from dpgp.sites.site import PATIENCE
from dpgp.sites.statements import Statement, agreed, as_json

Tell = Callable[[str], None]

GREETING_SECONDS = 30.0
"""A caller that has not said who it is by then keeps nobody else waiting."""
LARGEST_JOIN = 2**16  # bytes: from strangers, until they have shown that they hold a key


@dataclass(frozen=True)
class Guest:
    """A site that has come: the channel to it, and what it said on joining."""

    channel: Channel
    joined: dict[str, Any]


def coordinate(
    roster: str | os.PathLike[str],
    key: str | os.PathLike[str],
    tell: Tell = lambda words: None,
    patience: float = PATIENCE,
) -> int:
    """Hold one joint fit, from the first caller to the end; return how many rounds it had."""
    terms, own = read_roster(roster), load_key(key)
    if own.public != terms.coordinator:
        raise SitesError(f"'{key}' is not the key that the roster has for the coordinator.")
    with ExitStack() as stack:
        listener = stack.enter_context(_listening(terms.address))
        listener.settimeout(patience)
        tell(f"waiting for {len(terms.sites)} sites at {terms.address[0]}:{terms.address[1]}")
        guests = _gathered(listener, terms, own, tell, stack)
        return _held(guests, tell)


def _listening(address: tuple[str, int]) -> socket.socket:
    try:
        return socket.create_server(address)
    except OSError:
        raise SitesError(
            f"port {address[1]} cannot be opened here; choose another in the roster."
        ) from None


def _gathered(
    listener: socket.socket, roster: Roster, key: Key, tell: Tell, stack: ExitStack
) -> dict[str, Guest]:
    """Return every site of the roster; callers that are none are turned away."""
    guests: dict[str, Guest] = {}
    while set(guests) != set(roster.sites):
        connection = _accepted(listener, roster, guests)
        with ExitStack() as caller, suppress(SitesError):
            caller.enter_context(connection)
            connection.settimeout(GREETING_SECONDS)
            name, channel = answer(connection, key, roster.sites)
            guests[name] = Guest(channel, _message(channel, "join"))
            connection.settimeout(listener.gettimeout())
            stack.push(caller.pop_all())  # whoever is turned away is hung up on at once
            tell(f"site '{name}' is here")
    return guests


def _accepted(
    listener: socket.socket, roster: Roster, guests: Mapping[str, Guest]
) -> socket.socket:
    try:
        return listener.accept()[0]
    except OSError as error:
        missing = ", ".join(f"'{name}'" for name in roster.sites if name not in guests)
        why = "" if isinstance(error, TimeoutError) else ": nobody can be let in any more"
    raise SitesError(f"these sites did not come: {missing}{why}.")


def _held(guests: Mapping[str, Guest], tell: Tell) -> int:
    """Lead the fit; whatever ends it early is told to every site that still listens."""
    channels = {name: guest.channel for name, guest in guests.items()}
    try:
        _start(channels, {name: guest.joined for name, guest in guests.items()})
        tell("all sites want the same; the fit begins")
        rounds = 0
        while _round(channels):
            rounds += 1
            tell(f"sum {rounds} is known to all")
    except SitesError as error:
        _tell_all(channels.values(), error)
        raise
    return rounds


def _start(channels: Mapping[str, Channel], joined: Mapping[str, dict[str, Any]]) -> None:
    """Compare what the sites want, and tell everybody what all of them said."""
    said = {name: Statement.read(message.get("statement")) for name, message in joined.items()}
    agreed(said)
    for channel in channels.values():
        channel.send("start", statements=as_json(said))


def _round(channels: Mapping[str, Channel]) -> bool:
    """Add the numbers of all sites, modulo 2^128; return whether the fit goes on."""
    messages, bodies = {}, {}
    for name, channel in channels.items():
        messages[name], bodies[name] = channel.receive()
        if messages[name]["kind"] == "stop":
            raise SitesError(f"site '{name}' stopped.")
    first, *others = [(said["kind"], said.get("transcript")) for said in messages.values()]
    if any(other != first for other in others):
        raise SitesError("the sites went different ways; compare versions of dpgp and of NumPy.")
    kind = first[0]
    if kind == "done":
        return False
    lengths = {len(body) for body in bodies.values()}
    if kind != "sum" or len(lengths) > 1 or lengths.pop() % BYTES:
        raise SitesError("the sites do not follow the protocol; compare versions of dpgp.")
    total = to_bytes(reduce(np.add, map(from_bytes, bodies.values())))
    for channel in channels.values():
        channel.send("total", total)
    return True


def _message(channel: Channel, kind: str) -> dict[str, Any]:
    message, _ = channel.receive(LARGEST_JOIN)
    if message["kind"] != kind:
        raise SitesError(f"{channel.peer} does not follow the protocol; compare versions of dpgp.")
    return message


def _tell_all(channels: Collection[Channel], error: SitesError) -> None:
    for channel in channels:
        with suppress(SitesError):
            channel.send("refused", why=f"{error} The joint fit was ended.")
    for channel in channels:
        channel.end_gently()
