"""Fitted models in one documented, human-readable JSON file: docs/model-file.md.

A file may come from anyone. It is data and never code: class names are looked up in fixed tables,
every number and shape is checked, and whatever is wrong ends in one :class:`ModelFileError`.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dpgp.checked_values import ModelFileError
from dpgp.json_document import digest, read_document, write_document
from dpgp.model.file.model import FORMAT, decode, encode
from dpgp.model.fitted import FittedModel

__all__ = ["FORMAT", "ModelFileError", "load", "save"]


def save(model: FittedModel, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a fitted model to ``path``: all of it or, if anything fails, nothing."""
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(
            f"'{os.fspath(path)}' exists; pass overwrite=True to replace it, or name another file."
        )
    document = encode(model)
    _decoded(document)  # what could not be read back is not written
    write_document({**document, "digest": digest(document)}, path)


def load(path: str | os.PathLike[str]) -> FittedModel:
    """Return the fitted model of a file that ``save`` wrote.

    It predicts what the saved one predicted, to the last bit on the same machine. Raises
    ModelFileError, a ValueError, where the file is not a model of a known format.

    >>> gp.save("model.json")
    >>> bool(load("model.json").predict([[10.0]])[0] == gp.predict([[10.0]])[0])
    True
    """
    document = read_document(path)
    if isinstance(document, dict):
        document.pop("digest", None)  # for `dpgp verify`
    return _decoded(document)


def _decoded(document: Any) -> FittedModel:
    try:
        with np.errstate(all="ignore"):
            return decode(document)
    except ModelFileError:
        raise
    except (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError):
        raise ModelFileError("the file's values contradict each other: no model of dpgp.") from None
