"""The golden figures that were kept, and how far two trees of figures are apart."""

import json
from pathlib import Path


def kept_file(name):
    """Return where the figures of a case are kept."""
    return Path(__file__).parent / f"{name.replace(' ', '-')}.json"


def kept_figures(name):
    """Return the figures that were kept of a case."""
    return json.loads(kept_file(name).read_text(encoding="utf-8"))


def differences(ours, theirs, rel, where=""):
    """Return what differs by more than ``rel``, of the largest of a list, one line each."""
    if isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return [f"{where}: {sorted(ours)} and {sorted(theirs)}"]
        pairs = [(f"{where}/{key}", ours[key], theirs[key]) for key in theirs]
        return [line for at, a, b in pairs for line in differences(a, b, rel, at)]
    numbers = _numbers(theirs)
    if not numbers or _shape(ours) != _shape(theirs) or isinstance(theirs, int):
        return [] if ours == theirs else [f"{where}: {ours} is not {theirs}"]
    scale = max(abs(value) for value in numbers)
    apart = [abs(a - b) for a, b in zip(_numbers(ours), numbers, strict=True)]
    if all(distance <= rel * scale for distance in apart):
        return []
    return [f"{where}: {max(apart) / (scale or 1.0):.2g} of {scale:.4g}"]


def _numbers(tree):
    if isinstance(tree, list):
        return [number for part in tree for number in _numbers(part)]
    return [tree] if isinstance(tree, int | float) else []


def _shape(tree):
    return [_shape(part) for part in tree] if isinstance(tree, list) else None
