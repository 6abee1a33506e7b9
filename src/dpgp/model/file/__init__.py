"""Fitted models in one documented, human-readable JSON file: docs/model-file.md.

A file may come from anyone. It is data and never code: class names are looked up in fixed tables,
every number and shape is checked, and whatever is wrong ends in one :class:`ModelFileError`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from dpgp.checked_values import ModelFileError
from dpgp.json_document import digest, read_document, write_document
from dpgp.model.file.model import FORMAT, decode, encode
from dpgp.model.fitted import FittedModel

__all__ = ["FORMAT", "ModelFileError", "load", "save"]


def save(
    model: FittedModel,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    records: bool = True,
) -> None:
    """Write a fitted model to ``path``: all of it or, if anything fails, nothing.

    With ``records`` it can be pooled with others (docs/how-to/pooling.md).

    Where a file is there and may not be replaced, a FileExistsError names a file beside it that the
    model was written to: a script that ends here must not lose what budget was spent on.
    """
    document = encode(model, records)
    _decoded(document)  # what could not be read back is not written
    document = {**document, "digest": digest(document)}
    if overwrite or not os.path.lexists(path):
        write_document(document, path)
        return
    path = Path(path)
    kept = path.with_name(f"{path.stem}-{model.id[:8]}{path.suffix}")  # no other model has it
    if not os.path.lexists(kept):
        write_document(document, kept)
    raise FileExistsError(
        f"'{path}' exists and was left as it is. The model is in '{kept}'; pass "
        "overwrite=True to replace a file."
    )


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
