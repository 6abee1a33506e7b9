"""Errors that every face says in its own words: a code, the rule, and the remedy of each face."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Face(StrEnum):
    """Where a user meets dpgp: in Python, on the command line, on the studio's page."""

    PYTHON = "python"
    COMMAND = "command"
    PAGE = "page"


class Words(NamedTuple):
    """A phrase as each face says it; one that has no words of its own says what Python says."""

    python: str
    command: str | None = None
    page: str | None = None

    def on(self, face: Face) -> str:
        """Return the phrase of a face."""
        own: str | None = getattr(self, face.value)
        return self.python if own is None else own

    def followed_by(self, between: str, other: Words) -> Words:
        """Return both phrases, as each face says them."""
        return Words(*(f"{self.on(face)}{between}{other.on(face)}" for face in Face))


class RefusedError(ValueError):
    """What cannot be done as it was asked: ``rule; remedy.``, or a rule that is a whole sentence.

    ``see`` is a document, which no page refers to. The text of the error is what Python says.
    """

    code = "refused"

    def __init__(
        self,
        rule: str | Words,
        remedy: str | Words | None = None,
        see: str | None = None,
        *,
        code: str | None = None,
    ) -> None:
        super().__init__(rule, remedy, see)  # what a copy in another process is made of
        self.rule, self.remedy, self.see = rule, remedy, see
        if code is not None:
            self.code = code

    def on(self, face: Face) -> str:
        """Return what a face says."""
        text = _on(self.rule, face)
        if self.remedy is not None:
            remedy = _on(self.remedy, face)
            text = f"{text}; {remedy}." if remedy else f"{text}."
        return text if self.see is None or face is Face.PAGE else f"{text} See {self.see}."

    def __str__(self) -> str:
        return self.on(Face.PYTHON)


class UsageError(RefusedError):
    """A question that cannot be meant."""

    code = "usage"


def said(error: BaseException, face: Face) -> str:
    """Return what a face says of any error."""
    return error.on(face) if isinstance(error, RefusedError) else str(error)


def _on(phrase: str | Words, face: Face) -> str:
    return phrase if isinstance(phrase, str) else phrase.on(face)
