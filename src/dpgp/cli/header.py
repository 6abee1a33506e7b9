"""The names of a table's columns, for a page that offers them."""

from __future__ import annotations

from dpgp.private.files import Header, read_header

__all__ = ["Header", "read_header"]
