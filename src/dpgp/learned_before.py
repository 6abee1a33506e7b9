"""Whether something was fitted to the rows before a private fit saw them: then no guarantee holds.

A scaler that has seen all rows puts their mean into everybody's inputs, so that one person changes
every row. Nothing tells an estimator what was done to its rows; but where scikit-learn's
``Pipeline`` or ``TransformedTargetRegressor`` calls its ``fit``, that object is among the callers.
What a user did by hand, or another library, or a worker process was handed, cannot be seen.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from sklearn.utils import get_tags

NOTHING_LEARNED = {"n_features_in_", "feature_names_in_", "n_output_features_"}
"""What a transformer may remember of a table that is no number computed from its cells."""


class VoidCertificateWarning(UserWarning):
    """Something was fitted to the same rows without noise: the certificate cannot hold."""


def learned_before() -> list[str]:
    """Return the classes of what callers have fitted to the rows before, as far as it is seen."""
    found = [each for caller in _callers() for each in _transformers(caller) if _has_learned(each)]
    return list(dict.fromkeys(type(each).__name__ for each in found))


def in_words(names: list[str]) -> str:
    """Say why the certificate cannot hold, and what to do."""
    return (
        f"{', '.join(names)} was fitted to the same rows without noise, so that every row "
        "depends on everybody: the certificate cannot hold. Leave it out: public `bounds` and "
        "`target_bounds` scale inputs and targets already."
    )


def _callers() -> Iterator[Any]:
    """Yield the objects whose methods are among the callers."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn."):
            yield frame.f_locals.get("self")
        frame = frame.f_back


def _transformers(caller: Any) -> list[Any]:
    """Return what a caller has fitted before: it cannot be one whose module nobody has imported."""
    pipelines, targets = (sys.modules.get(f"sklearn.{name}") for name in ("pipeline", "compose"))
    if pipelines is not None and isinstance(caller, pipelines.Pipeline):
        return [step for _, step in caller.steps[:-1]]
    if targets is not None and isinstance(caller, targets.TransformedTargetRegressor):
        return [getattr(caller, "transformer_", None)]
    return []


def _has_learned(transformer: Any) -> bool:
    if (
        transformer is None
        or isinstance(transformer, str)
        or not get_tags(transformer).requires_fit
    ):
        return False
    kept = {name for name in vars(transformer) if name.endswith("_") and name[0] != "_"}
    return bool(kept - NOTHING_LEARNED)
