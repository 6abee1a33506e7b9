"""Whether what is read row by row has the same rows, by the labels that pandas gives them.

Rows are taken in the order in which they stand, as in scikit-learn: targets that were sorted
otherwise than the inputs would be paired with other people, and a fit would spend on nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dpgp.study.errors import RefusedError


def check_same_rows(X: Any, **others: Any) -> None:
    """Raise where another argument labels as many rows otherwise than ``X`` does.

    Labels 0, 1, 2, … are those of rows that nobody labelled: they may stand beside any, but not
    beside themselves in another order. Messages never repeat a label.
    """
    index = _index(X)
    for name, other in others.items():
        own = _index(other)
        if index is None or own is None or len(own) != len(index) or own.equals(index):
            continue
        labels, own_labels = index.tolist(), own.tolist()
        moved = Counter(labels) == Counter(own_labels)
        if moved or not (_are_none(labels) or _are_none(own_labels)):
            how = "the rows of `X` in another order" if moved else "other rows than `X`"
            raise RefusedError(
                f"`{name}` holds {how}, by their labels, and rows are taken as they stand",
                f"take both from one table, as {name}.loc[X.index], or pass {name}.to_numpy() if "
                "its rows are in the order of `X`",
                code="other-rows",
            )


def _index(table: Any) -> Any:
    """Return the index of what pandas made; None for all else: a list has a method of the name."""
    index = getattr(table, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "tolist") else None


def _are_none(labels: Sequence[Any]) -> bool:
    return list(labels) == list(range(len(labels)))
