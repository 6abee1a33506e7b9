"""The mark before the decimals of numbers that are written as text."""

from __future__ import annotations

from enum import StrEnum


class DecimalMark(StrEnum):
    """A point, or the comma of much of the world."""

    POINT = "."
    COMMA = ","
