"""Texts become HTML here and nowhere else, escaped unless they are markup; cards for notebooks.

Colours of cards are the notebook's own, so that they can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

GOOD, BAD, PLAIN = "#009E73", "#D55E00", "#8A8A8A"


class Markup(str):
    """HTML that is safe as it is."""

    __slots__ = ()


def html(text: str) -> Markup:
    """Return markup as it is, and any other text escaped."""
    return text if isinstance(text, Markup) else Markup(escape(text))


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """Return ``<tag>content</tag>``; underscores in names are hyphens, a last one is dropped."""
    names = (name.rstrip("_").replace("_", "-") for name in attributes)
    values = zip(names, attributes.values(), strict=True)
    named = "".join(f' {name}="{escape(value)}"' for name, value in values)
    return Markup(f"<{tag}{named}>{join(content)}</{tag}>")


def paragraph(*content: str, **attributes: str) -> Markup:
    """Return a paragraph."""
    return element("p", *content, **attributes)


def join(parts: Iterable[str]) -> Markup:
    """Return parts one after another."""
    return Markup("".join(html(part) for part in parts))


_STYLE = Markup("""<style>
.dpgp-card{color:inherit;border:1px solid rgba(128,128,128,.35);border-left:4px solid;
border-radius:4px;padding:.6em 1em;max-width:52em;line-height:1.45}
.dpgp-card p{margin:.35em 0}
.dpgp-card table{border-collapse:collapse;margin:.5em 0;color:inherit;font-size:inherit}
.dpgp-card tr{background:transparent!important;color:inherit}
.dpgp-card th,.dpgp-card td{text-align:left;padding:.15em 1.4em .15em 0;vertical-align:top;
border:0;color:inherit;font-variant-numeric:tabular-nums}
.dpgp-card th{font-weight:600}
.dpgp-card thead th{border-bottom:1px solid rgba(128,128,128,.5)}
.dpgp-card ul{margin:.4em 0;padding-left:1.3em}
.dpgp-card code{background:rgba(128,128,128,.15);color:inherit;padding:0 .3em;border-radius:3px}
</style>""")


def card(title: str, parts: Iterable[str], colour: str = PLAIN) -> Markup:
    """Return a card of HTML parts under a title, with a coloured edge."""
    edge = f"border-left-color:{colour}"
    heading = paragraph(element("b", title))
    return join([_STYLE, element("div", heading, *parts, class_="dpgp-card", style=edge)])


def pairs(rows: Iterable[tuple[str, str]]) -> Markup:
    """Return a table of names and values."""
    cells = (element("tr", element("th", name), element("td", value)) for name, value in rows)
    return element("table", element("tbody", *cells))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table with headings."""
    body = (_row("td", row) for row in rows)
    return element("table", element("thead", _row("th", headings)), element("tbody", *body))


def _row(tag: str, cells: Iterable[str]) -> Markup:
    return element("tr", *(element(tag, cell) for cell in cells))


def bullets(lines: Iterable[str]) -> Markup:
    """Return a list."""
    return element("ul", *(element("li", line) for line in lines))


def calls(words: str, code: Iterable[str]) -> Markup:
    """Return a line of calls to try next."""
    listed = " ".join(element("code", call) for call in code)
    return paragraph(f"{words} ", Markup(listed))
