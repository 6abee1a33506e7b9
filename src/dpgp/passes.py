"""How often a fit of many inputs goes through all rows."""

from __future__ import annotations

from enum import StrEnum


class Passes(StrEnum):
    """A few times, where parts of the rows are enough for some steps; or in every step."""

    FEW = "few"
    ALL = "all"

    @classmethod
    def parse(cls, value: str) -> Passes:
        """Return the rule called ``value``."""
        try:
            return cls(value)
        except ValueError:
            names = " or ".join(repr(rule.value) for rule in cls)
            raise ValueError(f"`passes` must be {names}, got {value!r}.") from None
