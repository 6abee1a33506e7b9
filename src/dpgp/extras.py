"""How to get what only some need: dpgp is installed from a checkout, and so are its extras."""

from __future__ import annotations


def install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '.[{extra}]' in a checkout of dpgp"
