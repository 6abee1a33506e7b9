"""The mark before the decimals of numbers that are written as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Any


class DecimalMark(StrEnum):
    """A point, or the comma of much of the world."""

    POINT = "."
    COMMA = ","


def marked(files: Iterable[Any], decimal: Any) -> list[Any]:
    """Return tables whose numbers have that mark, where they are written as text."""
    if decimal not in tuple(DecimalMark):
        raise ValueError("`decimal` must be '.' or ',', the mark in numbers of CSV files.")
    return [replace(f, decimal=decimal) if hasattr(f, "decimal") else f for f in files]
