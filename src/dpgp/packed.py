"""Arrays and documents inside a model file: bytes, compressed, as text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpgp.checked_values import ModelFileError, as_choice, as_fields, as_items, as_whole
from dpgp.json_document import LARGEST_FILE, check_size, digest, parsed
from dpgp.types import Array

MOST_BYTES = 2**28
"""Bytes that one packed value may become: some text of a stranger's file becomes a thousand times
as many."""

MOST_UNPACKED = 2**25
"""Numbers that all packed arrays of a file may hold: as doubles, a quarter of a gigabyte."""

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


def content_digest(value: Any, where: str) -> str:
    """Return SHA-256 of values and of what their packed arrays hold, however it is compressed."""
    check_room(value)
    return digest({where: _with_digests(value, where)})


def _with_digests(value: Any, where: str) -> Any:
    if isinstance(value, list):
        return [_with_digests(part, where) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == set(_ARRAY):
        sizes = as_items(value["shape"], where)
        numbers = unpack(value, where, *[None] * len(sizes)).astype(DOUBLE)
        return [value["type"], sizes, hashlib.sha256(numbers.tobytes()).hexdigest()]
    return {name: _with_digests(part, where) for name, part in value.items()}


def pack_document(document: dict[str, Any]) -> str:
    """Return a document as text."""
    return pack_bytes(json.dumps(document, allow_nan=False, separators=(",", ":")).encode())


def unpack_documents(values: Sequence[Any], where: str) -> list[Any]:
    """Return the documents that texts hold; all of them together are no larger than a file."""
    contents: list[bytes] = []
    for value in values:
        left = LARGEST_FILE - sum(map(len, contents))
        contents.append(unpack_bytes(value, where, left))
    check_size(*contents)
    documents = [parsed(content) for content in contents]
    check_room(documents)
    return documents


def check_room(document: Any) -> None:
    """Refuse values whose packed arrays would take more memory together than any model's."""
    if _numbers_in(document) > MOST_UNPACKED:
        raise ModelFileError("the file packs more numbers than any model has.")


def _numbers_in(value: Any) -> int:
    """Return how many numbers the shapes of packed arrays promise, wherever they are."""
    if isinstance(value, list):
        return sum(_numbers_in(part) for part in value if isinstance(part, list | dict))
    if not isinstance(value, dict):
        return 0
    shape = value.get("shape")
    if isinstance(shape, list) and all(type(size) is int for size in shape):
        return math.prod(map(abs, shape))
    return sum(map(_numbers_in, value.values()))


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
