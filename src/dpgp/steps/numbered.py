"""What all stages share: which of how many they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NumberedStage:
    """One of several stages, with its part of μ²."""

    share: float
    number: int
    of: int

    @property
    def label(self) -> str:
        """Name in the certificate."""
        return f"stage {self.number}"

    @property
    def activity(self) -> str:
        """Say which of how many stages it is."""
        return f"{self.label} of {self.of}"
