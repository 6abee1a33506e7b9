"""The transcript of a joint fit: one hash of all that a site has agreed to, asked and heard.

Masks come from it, so that those of two sites cancel only where both hold the same transcript.
"""

from __future__ import annotations

import hashlib


class Transcript:
    """A chain of hashes, of which every link commits to all that was added before."""

    def __init__(self, beginning: bytes) -> None:
        self.digest = _hash(beginning)

    def add(self, what: str, content: bytes) -> None:
        """Go on with what was asked or heard."""
        self.digest = _hash(self.digest + _hash(what.encode()) + _hash(content))


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
