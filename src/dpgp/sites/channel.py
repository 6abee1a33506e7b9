"""Messages between a site and the coordinator: sealed, in order, and of bounded size.

A message is a line of JSON and bytes behind it, sealed by ChaCha20-Poly1305 under a key of the two
parties and this connection; its number is its nonce, so that none can be left out or repeated.
"""

from __future__ import annotations

import json
import math
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from dpgp.sites.roster import Key, SitesError

NONCE_BYTES = 32
LARGEST_MESSAGE = 2**28  # bytes: sixteen for each number of the largest Gram matrix
LARGEST_GREETING = 1000
LINGER_SECONDS = 2.0  # for last words to be read


class Channel:
    """One end of a connection on which both parties have shown that they have their keys."""

    def __init__(self, connection: socket.socket, peer: str, keys: tuple[bytes, bytes]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        self.peer = peer
        self._connection = connection
        self._out, self._in = map(ChaCha20Poly1305, keys)
        self._sent = self._received = 0

    def send(self, kind: str, body: bytes = b"", **fields: Any) -> None:
        """Send a message of a kind."""
        line = json.dumps({"kind": kind, **fields}).encode()
        sealed = self._out.encrypt(_nonce(self._sent), line + b"\n" + body, None)
        self._sent += 1
        with _lost(self.peer):
            _send_frame(self._connection, sealed)

    def receive(self, most: int = LARGEST_MESSAGE) -> tuple[dict[str, Any], bytes]:
        """Return the next message and the bytes behind it, ``most`` bytes in all."""
        with _lost(self.peer):
            sealed = _receive_frame(self._connection, most)
        line, _, body = self._opened(sealed).partition(b"\n")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
            raise SitesError(f"{self.peer} sent what is no message of a joint fit.")
        return message, body

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def end_gently(self) -> None:
        """Say nothing more, and listen until the other side has read what was said.

        Closed with unread messages, a connection would lose our last words on their way.
        """
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
            self._connection.settimeout(LINGER_SECONDS)
            _exactly(self._connection, LARGEST_MESSAGE)

    def _opened(self, sealed: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            content = self._in.decrypt(_nonce(self._received), sealed, None)
        except InvalidTag:
            raise SitesError(
                f"{self.peer} does not hold the key that the roster names for it, or somebody "
                "changed its messages; compare rosters and keys."
            ) from None
        self._received += 1
        return bytes(content)


def call(connection: socket.socket, name: str, key: Key, coordinator: str) -> Channel:
    """Greet the coordinator as a site, and return the channel to it."""
    ours = secrets.token_bytes(NONCE_BYTES)
    with _lost("the coordinator"):
        greeting = json.dumps({"site": name, "nonce": ours.hex()})
        _send_frame(connection, greeting.encode())
        theirs = _receive_frame(connection, NONCE_BYTES)
    keys = _keys(key, coordinator, name, ours + theirs)
    return Channel(connection, "the coordinator", keys)


def answer(connection: socket.socket, key: Key, sites: Mapping[str, str]) -> tuple[str, Channel]:
    """Answer a caller as the coordinator; an error where it names no site of the roster."""
    ours = secrets.token_bytes(NONCE_BYTES)
    with _lost("a caller"):
        greeting = _receive_frame(connection, LARGEST_GREETING)
        try:
            said = json.loads(greeting)
            name, theirs = said["site"], bytes.fromhex(said["nonce"])
            public = sites[name]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise SitesError("a caller named no site of the roster.") from None
        _send_frame(connection, ours)
    out, into = _keys(key, public, name, theirs + ours)
    return name, Channel(connection, f"site '{name}'", (into, out))


def _keys(key: Key, other: str, site: str, salt: bytes) -> tuple[bytes, bytes]:
    """Return the keys of messages from the site and to it."""
    ways = (f"dpgp from site\n{site}", f"dpgp to site\n{site}")
    return key.shared_with(other, salt, ways[0]), key.shared_with(other, salt, ways[1])


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "little")


def _send_frame(connection: socket.socket, content: bytes) -> None:
    connection.sendall(len(content).to_bytes(4, "little") + content)


def _receive_frame(connection: socket.socket, most: int) -> bytes:
    length = int.from_bytes(_exactly(connection, 4), "little")
    if length > most:
        raise ConnectionError
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    """Return so many bytes; the connection's time is for all of them, however they trickle."""
    patience = connection.gettimeout()
    end = math.inf if patience is None else time.monotonic() + patience
    content = bytearray()
    try:
        while len(content) < length:
            left = end - time.monotonic()
            if left <= 0.0:
                raise TimeoutError
            connection.settimeout(None if patience is None else left)
            part = connection.recv(min(length - len(content), 2**20))
            if not part:
                raise ConnectionError
            content += part
    finally:
        connection.settimeout(patience)
    return bytes(content)


@contextmanager
def _lost(peer: str) -> Iterator[None]:
    """A block in which a connection may break, which is said in words."""
    try:
        yield
    except TimeoutError:
        raise SitesError(f"{peer} did not answer in time.") from None
    except OSError:
        raise SitesError(f"the connection to {peer} was lost.") from None
