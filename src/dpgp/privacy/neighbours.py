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

    @classmethod
    def parse(cls, value: "str | Neighbours") -> "Neighbours":
        """Return the relation called `value`; a relation is returned as it is."""
        try:
            return cls(value)
        except ValueError:
            names = " or ".join(repr(relation.value) for relation in cls)
            raise ValueError(f"`neighbours` must be {names}, got {value!r}.") from None
