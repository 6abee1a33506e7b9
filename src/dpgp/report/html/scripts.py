"""The page's scripts; formulas of kernels and feature maps come from where these are written."""

from __future__ import annotations

from importlib.resources import files

from dpgp.features.registry import map_scripts
from dpgp.kernels.registry import kernel_scripts

DRAWING = ("scales.js", "drawing.js", "curve.js", "heatmap.js", "controls.js", "page.js")


def page_script() -> str:
    """Return all scripts of the page in a scope of their own."""
    return '"use strict";\n{\n' + "\n".join([posterior_script(), *map(asset, DRAWING)]) + "}\n"


def posterior_script() -> str:
    """Return what computes predictions, without a document."""
    tables = [_table("KERNELS", kernel_scripts()), _table("MAPS", map_scripts())]
    return "\n".join([asset("posterior.js"), *tables])


def asset(name: str) -> str:
    """Return a file of the page."""
    return (files("dpgp.report.html") / name).read_text(encoding="utf-8")


def _table(name: str, entries: dict[str, str]) -> str:
    lines = "".join(f'  "{key}": {script},\n' for key, script in entries.items())
    return f"const {name} = {{\n{lines}}};\n"
