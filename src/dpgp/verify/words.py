"""Whether the words of a file say what its numbers do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dpgp.checked_values import as_text
from dpgp.verify.claim import Claim

SECRET = "OpenDP's discrete Gaussian, from the operating system's secure generator"
SEEDED = "NumPy's generator with a seed: simulation, not private"
_OF_SITES = re.compile(r"(.+); a share of it by each of (\d{1,9}) sites, (\d{1,9}) of them trusted")

NOT_PRIVATE = "NOT PRIVATE"
_STATEMENT = "({}, {})-differential privacy, mu = {}."
_ABOUT = (
    "for any two data sets that differ in one unit {unit}, any outcome of the fit is at most "
    "exp({{}}) times as likely from one as from the other, plus {{}}."
)
_CHANGES = {"replace": "replaced by any other", "add-remove": "added or removed"}
PRINTED = 1e-5
"""Six digits are printed of a number, rounded up."""


def source_agrees(claim: Claim) -> bool:
    """Return whether noise comes from a source that is as secret as the file says."""
    named, joint = claim.random_source, _OF_SITES.fullmatch(claim.random_source)
    if joint:
        named, sites, trusted = joint[1], int(joint[2]), int(joint[3])
        if not 1 <= trusted <= sites:
            return False
    return named == (SEEDED if claim.seeded else SECRET)


def words_agree(claim: Claim, about: Any) -> bool:
    """Return whether ``statement`` and ``about`` promise what the guarantee does, and no more."""
    what, _, promise = as_text(about, "about").partition("Guarantee: ")
    if not claim.is_private:
        return NOT_PRIVATE in claim.statement and NOT_PRIVATE in what
    unit = f"{_CHANGES[claim.neighbours]} ({_unit(claim)})"
    numbers = (claim.epsilon, claim.delta)
    return (
        NOT_PRIVATE not in what
        and _says(claim.statement, _STATEMENT, (*numbers, claim.mu))
        and _says(promise, _ABOUT.format(unit=unit), numbers)
    )


def _says(text: str, sentence: str, numbers: Sequence[float]) -> bool:
    """Return whether a text is a sentence with these numbers, each as printed, for its braces."""
    pattern = r"(\S+)".join(re.escape(part) for part in sentence.split("{}"))
    found = re.fullmatch(pattern, text)
    return found is not None and all(map(_is_printed, found.groups(), numbers))


def _unit(claim: Claim) -> str:
    if not claim.per_person and claim.rows_per_unit == 1:
        return "one row"
    most = claim.rows_per_unit
    return f"one person, of whom {'one row counts' if most == 1 else f'at most {most} rows count'}"


def _is_printed(text: str, number: float) -> bool:
    try:
        printed = float(text)
    except ValueError:
        return False
    return number <= printed * (1.0 + 1e-12) and printed <= number * (1.0 + PRINTED)
