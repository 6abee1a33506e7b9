"""What happens to rows that are incomplete."""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """What happens to rows that are incomplete: they stop a fit, or contribute nothing."""

    ERROR = "error"
    IGNORE = "ignore"

    @classmethod
    def parse(cls, value: str) -> Missing:
        """Return the rule called ``value``."""
        try:
            return cls(value)
        except ValueError:
            names = " or ".join(repr(rule.value) for rule in cls)
            raise ValueError(f"`missing` must be {names}, got {value!r}.") from None
