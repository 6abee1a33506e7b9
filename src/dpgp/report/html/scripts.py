"""The page's scripts; formulas of kernels and feature maps come from where these are written.

A kernel's formula g(s) is run on placeholders, and its trace written as JavaScript. What kernels
are made of is no formula but a structure, with short cuts that a page needs: kernels.js.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from dpgp.features.base import map_scripts
from dpgp.kernels.base import fields_of
from dpgp.kernels.known import FORMULAS
from dpgp.kernels.parameters import Parameter
from dpgp.kernels.stationary import Stationary
from dpgp.trace import TRACE, Placeholder

DRAWING = ("scales.js", "drawing.js", "curve.js", "heatmap.js", "controls.js", "page.js")


def page_script() -> str:
    """Return all scripts of the page in a scope of their own."""
    return '"use strict";\n{\n' + "\n".join([posterior_script(), *map(asset, DRAWING)]) + "}\n"


def posterior_script() -> str:
    """Return what computes predictions, without a document."""
    formulas, maps = _table("FORMULAS", kernel_formulas()), _table("MAPS", map_scripts())
    return "\n".join([formulas, asset("kernels.js"), asset("posterior.js"), maps])


def kernel_formulas() -> dict[str, str]:
    """Return g(s) for row t of a tree, for every type of tree of a stationary kernel."""
    return {
        tree_type: f"(s, tree, t) => {written(_traced(known, tree_type))}"
        for tree_type, known in FORMULAS.items()
        if issubclass(known, Stationary)
    }


def _traced(known: type[Stationary], tree_type: str) -> Any:
    """Return the trace of g(s)."""
    names = fields_of(known, Parameter)
    rows = {n: Placeholder("Input", [], np.ones((1, 1)), name=f"tree.{n}[t][0]") for n in names}
    s = Placeholder("Input", [], np.ones((1, 1, 1)), name="s")
    return known.value({"type": tree_type, **rows}, s, TRACE)


JAVASCRIPT = {
    "Add": "({} + {})",
    "Sub": "({} - {})",
    "Mul": "({} * {})",
    "Div": "({} / {})",
    "Pow": "({} ** {})",
    "Exp": "Math.exp({})",
    "Sqrt": "Math.sqrt({})",
    "Sin": "Math.sin({})",
    "Max": "Math.max({}, {})",
    "Min": "Math.min({}, {})",
}


def written(value: Any) -> str:
    """Return a trace of single numbers as an expression."""
    if not isinstance(value, Placeholder):
        return f"({float(value)!r})"
    if value.operation == "Input":
        return str(value.options["name"])
    if value.operation == "Unsqueeze":
        return written(value.inputs[0])
    return JAVASCRIPT[value.operation].format(*map(written, value.inputs))


def asset(name: str) -> str:
    """Return a file of the page."""
    return (files("dpgp.report.html") / name).read_text(encoding="utf-8")


def _table(name: str, entries: dict[str, str]) -> str:
    lines = "".join(f'  "{key}": {script},\n' for key, script in entries.items())
    return f"const {name} = {{\n{lines}}};\n"
