"""Arrays and documents inside a model file: bytes, compressed, as text."""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from typing import Any

import numpy as np

from dpgp.checked_values import ModelFileError, as_choice, as_fields, as_items, as_whole
from dpgp.types import Array

MOST_BYTES = 2**28
"""Bytes that one packed value may become: some text of a stranger's file becomes a thousand times
as many."""

LEVEL = 6  # of zlib; released sums are noise, which higher levels compress no better
SINGLE, DOUBLE = "<f4", "<f8"
_ARRAY = ("type", "shape", "zlib")


def pack(values: Array, type_: str = DOUBLE) -> dict[str, Any]:
    """Return an array as text, in single or double precision."""
    content = np.ascontiguousarray(values, dtype=type_)
    if not np.isfinite(content).all():
        raise ModelFileError("the model's records hold numbers that are not finite.")
    return {"type": type_, "shape": list(content.shape), "zlib": pack_bytes(content.tobytes())}


def unpack(value: Any, where: str, *shape: int | None) -> Array:
    """Return an array of doubles; of a ``shape``, where None stands for any length."""
    fields = as_fields(value, where, _ARRAY)
    kind = as_choice(fields["type"], f"{where}.type", (SINGLE, DOUBLE))
    sizes = [as_whole(size, f"{where}.shape", 0) for size in as_items(fields["shape"], where)]
    fits = len(sizes) == len(shape) and all(
        want in (None, got) for want, got in zip(shape, sizes, strict=True)
    )
    count = math.prod(sizes) * np.dtype(kind).itemsize
    if not fits or count > MOST_BYTES:
        raise ModelFileError(f"`{where}` has another shape than its model.")
    content = unpack_bytes(fields["zlib"], where, count)
    if len(content) != count:
        raise ModelFileError(f"`{where}` has another length than its shape says.")
    found = np.frombuffer(content, dtype=kind).reshape(sizes).astype(np.float64)
    if not np.isfinite(found).all():
        raise ModelFileError(f"`{where}` must hold finite numbers.")
    return np.asarray(found)


def pack_document(document: dict[str, Any]) -> str:
    """Return a document as text."""
    return pack_bytes(json.dumps(document, allow_nan=False, separators=(",", ":")).encode())


def unpack_document(value: Any, where: str) -> Any:
    """Return the document that a text holds."""
    try:
        return json.loads(unpack_bytes(value, where, MOST_BYTES))
    except (ValueError, RecursionError):
        raise ModelFileError(f"`{where}` does not hold a document.") from None


def pack_bytes(content: bytes) -> str:
    """Return bytes, compressed, as text."""
    return base64.b64encode(zlib.compress(content, LEVEL)).decode("ascii")


def unpack_bytes(value: Any, where: str, most: int) -> bytes:
    """Return the bytes of a text, ``most`` of them at most."""
    if not isinstance(value, str):
        raise ModelFileError(f"`{where}` must be packed as text.")
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(base64.b64decode(value, validate=True), most + 1)
    except (binascii.Error, zlib.error):
        raise ModelFileError(f"`{where}` is damaged.") from None
    if len(content) > most:
        raise ModelFileError(f"`{where}` holds more than any model.")
    return content
