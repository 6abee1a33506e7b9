"""Text that prints as it reads, on any screen: what may stand in names and labels."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Collection, Iterable

LONGEST_NAME = 1000
_NOT_PLAIN = ("Cc", "Cs", "Zl", "Zp")  # controls, halves of characters, ends of lines
_DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def is_plain(text: str) -> bool:
    """Return whether no character moves the cursor, ends the line or turns the direction."""
    return all(_is_plain(character) for character in text)


def made_plain(text: str) -> str:
    """Return text with a replacement character in place of every one that is not plain."""
    return "".join(c if _is_plain(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def is_name(text: str) -> bool:
    """Return whether text can name a column: it is published with a model, and printed."""
    return len(text) <= LONGEST_NAME and is_plain(text)


def clean_name(name: str) -> str:
    """Return a column's name in one spelling: composed characters, no blanks around."""
    return unicodedata.normalize("NFC", name).strip()


def as_sentence(text: str) -> str:
    """Return plain text that begins with a capital letter."""
    plain = made_plain(text).strip()
    return plain[:1].upper() + plain[1:]


def in_a_line(texts: Iterable[str]) -> str:
    """Return texts with commas between them, in quotes where they hold one or begin with a quote.

    :func:`of_a_line` reads it, and so do options of the command line.
    """
    return ", ".join(_quoted(text) if "," in text or text[:1] == '"' else text for text in texts)


def of_a_line(line: str) -> list[str]:
    """Return texts that have commas between them; a ValueError where a quote is not closed."""
    try:
        return next(csv.reader([line], skipinitialspace=True, strict=True)) or [""]
    except csv.Error:
        raise ValueError("a text in quotes must end in one, before a comma or the end.") from None


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


NAME_RULE = (
    f"must have at most {LONGEST_NAME} characters, and no line breaks, control characters or marks "
    "of writing direction; rename it"
)


def check_names(names: Collection[str] | None) -> None:
    """Raise, in fixed words, where a name of a column could not be published."""
    if not all(is_name(name) for name in (() if names is None else names)):
        raise ValueError(f"every column name {NAME_RULE}.")


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in _NOT_PLAIN and character not in _DIRECTIONS
