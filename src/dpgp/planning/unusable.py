"""Where hardly a row can be used, as the first release of a fit tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from dpgp.study.errors import RefusedError, Words

if TYPE_CHECKING:
    from dpgp.categories import Category

FAR_FEWER = 0.2
"""Part of a table's rows below which hardly one can be used. By hand: who knows that four in five
are incomplete leaves them out, and a wrong spelling takes nearly all."""

CERTAIN = 3.0
"""Standard deviations of the noise by which the released number must be below it: one complete
table in 700 is refused at most, however few its rows."""


class CountedLevels(NamedTuple):
    """A column of levels, and the released number of its cells that are one of them."""

    name: str
    levels: str
    cells: float
    noise_std: float

    def __str__(self) -> str:
        return (
            f"{_about(self.cells, self.noise_std)} cells of column '{self.name}' are one of its "
            f"declared levels ({self.levels})"
        )


class UnusableRowsError(RefusedError):
    """Hardly a row can be used: a fit ends after its first release, which is all it spent."""

    code = "unusable-rows"

    @classmethod
    def of(
        cls,
        usable: float,
        noise_std: float,
        told: int | None,
        counted: Sequence[CountedLevels],
        classes: Sequence[tuple[str, Category]] = (),
        weight_bound: float | None = None,
    ) -> Self:
        """Say how many rows can be used, and which columns have other cells than was declared.

        All numbers are public or released. Where ``classes`` are given, rows are unusable by them
        alone.
        """
        about = _about(usable, noise_std)
        rows = f"{about} rows" if told is None else f"of {told:,} rows {about}"
        found = [f"{rows} can be used"]
        if weight_bound is not None:
            found = [f"weights add up to {about} times {weight_bound:g}, their bound"]
        found += map(str, sorted(counted, key=lambda column: column.cells))
        found += [
            f"all others have none of the declared levels ({category.words}) in column '{name}'"
            for name, category in classes
        ]
        rule = "; ".join(found) + ": the fit ended before it asked or spent anything else"
        remedy = _EMPTY if weight_bound is None else _LIGHT
        return cls(rule, _SPELLING if counted or classes else remedy)


_SPELLING = Words(
    "give `categories` and `classes` in the spelling of the cells, upper and lower case included, "
    "and leave out columns that are mostly empty",
    command="give --category and --classes in the spelling of the cells, upper and lower case "
    "included, and leave out columns that are mostly empty",
    page="write levels and classes in the spelling of the cells, upper and lower case included, "
    "and leave out columns that are mostly empty",
)
_LIGHT = "lower the bound of weights to what few of them exceed, and leave out empty columns"
_EMPTY = "all others are incomplete: leave out columns that are mostly empty"


def are_unusable(usable: float, noise_std: float, told: int | None, needed: float) -> bool:
    """Return whether a released number of usable rows is far below what was told, or needed.

    ``told`` is the public number of all rows, if there is one; ``needed`` what any model needs.
    """
    is_vain = usable < max(needed, 2.0)
    if told is None:
        return is_vain
    most = usable + CERTAIN * noise_std
    return most < FAR_FEWER * told or (is_vain and most < told)


def _about(count: float, noise_std: float) -> str:
    return f"about {max(count, 0.0):,.0f} (± {2.0 * noise_std:,.0f})"
