"""The package itself: names that are imported on first use, and how to get its extras."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names live in, or are, modules.

    They are imported on first use, so that one of them does not bring all others.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        return home if homes[name] == f"{package}.{name}" else getattr(home, name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, listed


def install(extra: str) -> str:
    """Return the command that installs an extra: dpgp is installed from a checkout."""
    return f"pip install '.[{extra}]' in a checkout of dpgp"
