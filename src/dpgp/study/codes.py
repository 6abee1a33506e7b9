"""Which columns have codes for missing values, as they are named: inputs and targets alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.missing_codes import NO_CODES, NOWHERE, Codes, ColumnCodes
from dpgp.study.errors import UsageError, Words

if TYPE_CHECKING:
    from dpgp.domain import Box

Names = Sequence[str | None]


def read_codes(said: Any, inputs: Names, targets: Names) -> ColumnCodes:
    """Read a mapping from names, or from positions that count inputs and then targets, to codes.

    Columns without a name are called None.
    """
    if said is not None and not isinstance(said, Mapping):
        raise TypeError(
            "`missing_codes` must be a mapping from columns to lists of codes, got "
            f"{type(said).__name__}."
        )
    if not said:
        return NOWHERE
    names = [*inputs, *targets]
    found = [NO_CODES] * len(names)
    for key, codes in said.items():
        for position in _positions(key, names):
            if found[position]:
                raise UsageError(f"`missing_codes` has the column {key!r} twice; name it once.")
            found[position] = Codes.of(codes, key)
    return ColumnCodes(tuple(found[: len(inputs)]), tuple(found[len(inputs) :]))


def codes_of_boxes(said: Any, box: Box, target_box: Box) -> ColumnCodes:
    """Read codes of columns whose bounds and levels are known; an error for a code that is both."""
    read = read_codes(said, *(each.names or (None,) * len(each.low) for each in (box, target_box)))
    for kind, each, codes in (("input", box, read.inputs), ("target", target_box, read.targets)):
        for name, category, own in zip(
            each.column_names(kind), each.categories, codes, strict=False
        ):
            if category is not None and (both := own.keys.intersection(category.keys)):
                raise UsageError(
                    f"column '{name}' has '{min(both)}' as a code for missing values and as a "
                    "level; leave one of them out."
                )
    return read


def _positions(key: Any, names: Names) -> list[int]:
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
        return [int(key)]
    found = [k for k, name in enumerate(names) if isinstance(key, str) and name == key]
    if not found:
        raise _unknown(key, names)
    return found


def _unknown(key: Any, names: Names) -> UsageError:
    known = [name for name in names if name is not None]
    near = get_close_matches(key, known, n=1) if isinstance(key, str) else []
    if near:
        remedy = f"did you mean '{near[0]}'?"
    elif len(known) == len(names):
        remedy = "name an input or a target, as the table spells it."
    else:
        remedy = (
            f"columns without names have positions from 0 to {len(names) - 1}, inputs first, then "
            "targets."
        )
    rule = f"has a column {key!r} that is neither input nor target; {remedy}"
    words = (f"{name} {rule}" for name in ("`missing_codes`", "--missing-code", "a missing code"))
    return UsageError(Words(*words), code="unknown-column")
