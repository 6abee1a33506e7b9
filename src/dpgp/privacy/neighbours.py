"""What it means for two data sets to differ in one unit of privacy."""

from enum import Enum


class Neighbours(Enum):
    """The neighbouring relation: one unit is replaced, or one is added or removed."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"

    @property
    def change(self) -> str:
        """What may happen to one unit, in words: "one row, replaced by any other"."""
        return "replaced by any other" if self is Neighbours.REPLACE else "added or removed"
