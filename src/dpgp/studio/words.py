"""What the command line says, in the words of the page: remedies name what is on the screen."""

from __future__ import annotations

import re

from dpgp.plain_text import made_plain

REMEDIES = (
    (r"pass --missing ignore(, in Python missing=\"ignore\",)? to let",
     "choose “contribute nothing” under incomplete rows to let"),
    (r"; name people who have several with --unit", ""),
    (r"pass a public guess with --rows", "type a public guess"),
    (r"add -?-?\S.*, or `(\w+)` to a study file", r"say it under “Columns”"),
    (r"--max-rows-per-unit needs --unit, the column that says whose a row is; add it",
     "rows of one person can be counted only where a column says whose a row is; choose it"),
    (r"`(\w+)` belongs on the command line, as --\w+; remove it", r"`\1` is no part of a study"),
    (r"--partition needs --ledger, whose group of people it names; add it",
     "a group of people needs the ledger that names it; open the ledger"),
    (r" ?See docs/\S+?\.md\.?", ""),
    (r"; see docs/\S+?\.md", ""),
    (r"'[^']*study\.yaml': (`\w+`:? )?", ""),
    (r", or - for standard input", ""),
)  # fmt: skip


def in_page_words(message: str) -> str:
    """Return a message of the command line as the page says it."""
    for pattern, words in REMEDIES:
        message = re.sub(pattern, words, message)
    return made_plain(message).strip()


def as_sentence(message: str) -> str:
    """Return a message in the words of the page, with a capital letter."""
    text = in_page_words(message)
    return text[:1].upper() + text[1:]
