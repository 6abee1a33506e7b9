"""Small pieces of HTML that notebooks show: cards, sentences, tables. All text is escaped.

Colours are the notebook's own, so that cards can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

GOOD, BAD, PLAIN = "#009E73", "#D55E00", "#8A8A8A"

_STYLE = """<style>
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
</style>"""


def card(title: str, parts: Iterable[str], colour: str = PLAIN) -> str:
    """Return a card of HTML parts under a title, with a coloured edge."""
    body = f"<p><b>{escape(title)}</b></p>{''.join(parts)}"
    return f'{_STYLE}<div class="dpgp-card" style="border-left-color:{colour}">{body}</div>'


def sentence(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table><tbody>{''.join(cells)}</tbody></table>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with headings."""
    head, body = _cells("th", headings), "".join(_cells("td", row) for row in rows)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def bullets(lines: Iterable[str]) -> str:
    """Return a list."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def calls(words: str, code: Iterable[str]) -> str:
    """Return a line of calls to try next."""
    return f"<p>{escape(words)} {' '.join(f'<code>{escape(call)}</code>' for call in code)}</p>"


def _cells(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
