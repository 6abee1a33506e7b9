"""Bounds and levels that are public knowledge, offered by the name of a column.

Never read from a table: what is written here was known before anybody was measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """Bounds of a quantity of people, and how everybody knows."""

    low: float
    high: float
    why: str


@dataclass(frozen=True)
class Levels:
    """Levels of a category, and how everybody knows."""

    levels: tuple[str, ...]
    why: str


KNOWN: tuple[tuple[str, Extent | Levels], ...] = (
    (r"age months|months old", Extent(0, 240, "months from birth to 20 years")),
    (r"age|alter|ikä", Extent(0, 110, "years; hardly anybody is older")),
    (r"height.*m\b|height|stature|size cm|groesse|größe|pituus",
     Extent(40, 220, "cm, from newborns to very tall adults")),
    (r"weight|mass kg|gewicht|paino", Extent(0, 250, "kg; most scales end there")),
    (r"bmi|body mass", Extent(10, 70, "kg/m², the range of clinical tables")),
    (r"waist|hip", Extent(30, 200, "cm; the length of a measuring tape")),
    (r"systolic|sbp", Extent(60, 260, "mmHg; the scale of a cuff")),
    (r"diastolic|dbp", Extent(30, 160, "mmHg; the scale of a cuff")),
    (r"pulse|heart rate", Extent(30, 220, "beats a minute")),
    (r"temperature|temp", Extent(34, 43, "°C, the scale of a clinical thermometer")),
    (r"hba1c", Extent(3, 18, "%, what laboratories report")),
    (r"glucose", Extent(0, 600, "mg/dl, the scale of a home meter")),
    (r"cholesterol|ldl|hdl|triglyceride", Extent(0, 600, "mg/dl, what laboratories report")),
    (r"percent|pct|share|proportion of", Extent(0, 100, "per cent")),
    (r"fraction|probability", Extent(0, 1, "a fraction")),
    (r"month", Extent(1, 12, "months of a year")),
    (r"weekday|day of week", Extent(1, 7, "days of a week")),
    (r"hour", Extent(0, 24, "hours of a day")),
    (r"year", Extent(1900, 2030, "years in which somebody alive was born or measured")),
    (r"latitude|lat", Extent(-90, 90, "degrees")),
    (r"longitude|lon|lng", Extent(-180, 180, "degrees")),
    (r"sex|gender|geschlecht|sukupuoli", Levels(("F", "M"), "as many questionnaires code it")),
    (r"smoker|smoking|diabetic|treated|insured|employed|.*yes no",
     Levels(("no", "yes"), "as many questionnaires code it")),
)  # fmt: skip


def known_of(name: str) -> Extent | Levels | None:
    """Return what is public knowledge of a column that is called so, if anything is."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = re.sub(r"[\W_]+", " ", words).strip().casefold()
    return next((what for pattern, what in KNOWN if re.search(rf"\b(?:{pattern})\b", words)), None)


def as_hint(name: str) -> dict[str, object] | None:
    """Return the same for a page."""
    known = known_of(name)
    if known is None:
        return None
    if isinstance(known, Levels):
        return {"levels": list(known.levels), "why": known.why}
    return {"low": known.low, "high": known.high, "why": known.why}
