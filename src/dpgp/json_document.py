"""Strict JSON that people can read, written in one step and read with limits."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from dpgp.checked_values import MOST_NUMBERS, MOST_ROWS, ModelFileError

LARGEST_FILE = 192 * 2**20  # of a stranger's file, which is held in memory as a whole
LONGEST_LINE = 100  # characters, as in the code
_MOST = {
    b",": MOST_NUMBERS,
    b"[": MOST_ROWS,
    b"{": MOST_ROWS,
    b'"': 2**21,
}
"""How often each sign may stand in a file, counted before it is parsed: items take memory."""
_MOST_FOREIGN = 2**25
_FOREIGN = re.compile(rb"[\x80-\xff]+")


def write_document(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write to a new file beside ``path``, then put it in place: never half a model."""
    text = layout(document) + "\n"
    content = text.encode()
    if len(content) > LARGEST_FILE:
        raise ModelFileError("the model is larger than 192 MB; fit one with fewer features.")
    path = Path(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:  # nobody knows the other file
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):
            beside.unlink()


def digest(document: dict[str, Any]) -> str:
    """Return SHA-256 of a document's values, however they are laid out in a file."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def layout(value: Any, indent: str = "") -> str:
    """Return JSON with one line for a list of numbers or a short object, indented otherwise."""
    inner = indent + "  "
    if isinstance(value, dict) and not _is_short(value):
        lines = [f"{inner}{_line(key)}: {layout(part, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(part, list | dict) for part in value):
        lines = [inner + layout(part, inner) for part in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return _line(value)


def _is_short(value: dict[str, Any]) -> bool:
    flat = not any(isinstance(part, dict) for part in value.values())
    return flat and len(_line(value)) <= LONGEST_LINE


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def read_document(path: str | os.PathLike[str]) -> Any:
    """Return the value of a JSON file, each name once in an object, and all numbers finite."""
    return parsed(_content(path))


def check_size(*contents: bytes) -> None:
    """Refuse texts that would take more memory than any model when all of them are parsed."""
    if sum(map(len, contents)) > LARGEST_FILE:
        raise ModelFileError("the file is larger than 192 MB, more than any model.")
    for sign, most in _MOST.items():
        if sum(content.count(sign) for content in contents) > most:
            raise ModelFileError("the file holds more values than any model.")


def parsed(content: bytes) -> Any:
    """Return the value of a text that is no larger than any model."""
    check_size(content)
    try:
        text = _ascii(content).decode("ascii")
        del content  # a text beside its values is as much as memory should hold
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError("the file is nested too deeply.") from None
    except ValueError:
        raise ModelFileError("the file is not JSON: damaged, or not a model of dpgp.") from None


def _content(path: str | os.PathLike[str]) -> bytes:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("a model is read from a file, not from a folder or a device.")
    with open(path, "rb") as file:
        # Python asks for as much memory as it is told to read
        return file.read(min(status.st_size, LARGEST_FILE) + 1)


def _ascii(content: bytes) -> bytes:
    """Return JSON with other characters escaped: one of them can make text four times as large."""
    if content.isascii():
        return content
    if sum(len(run) for run in _FOREIGN.findall(content)) > _MOST_FOREIGN:
        raise ModelFileError("the file holds more text than any model.")
    return _FOREIGN.sub(lambda run: json.dumps(run.group().decode())[1:-1].encode(), content)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ModelFileError("the file names a field twice.")
    return fields


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ModelFileError("the file holds a number that is larger than any float.")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ModelFileError(f"the file holds {name}, which is not JSON.")
