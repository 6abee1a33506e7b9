"""Texts become HTML here and nowhere else: everything is escaped unless it is markup of ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """HTML that is safe as it is."""

    __slots__ = ()


def html(text: str) -> Markup:
    """Return markup as it is, and any other text escaped."""
    return text if isinstance(text, Markup) else Markup(escape(text))


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """Return ``<tag>content</tag>``; underscores in names are hyphens, a last one is dropped."""
    named = "".join(f' {_attribute(name)}="{escape(v)}"' for name, v in attributes.items())
    return Markup(f"<{tag}{named}>{''.join(html(part) for part in content)}</{tag}>")


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def paragraph(*content: str, **attributes: str) -> Markup:
    """Return a paragraph."""
    return element("p", *content, **attributes)


def join(parts: Iterable[str]) -> Markup:
    """Return parts one after another."""
    return Markup("".join(html(part) for part in parts))


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table whose first column names the row."""
    head = join(element("th", heading, scope="col") for heading in headings)
    content = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head)),
        element("tbody", join(_row(row) for row in rows)),
    )
    return element("div", content, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _row(cells: Sequence[str]) -> Markup:
    first, *others = cells
    return element("tr", element("th", first, scope="row"), *(element("td", c) for c in others))


def number(value: float, digits: int = 3) -> str:
    """Return a number for people: some digits, thousands apart, infinity as one sign."""
    if math.isinf(value):
        return "∞"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}"
