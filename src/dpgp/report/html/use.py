"""How to load the model and predict with it, in Python and at the command line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from dpgp.report.html.markup import Markup, element, paragraph

if TYPE_CHECKING:
    from dpgp.categories import Level
    from dpgp.domain import Box
    from dpgp.model.fitted import FittedModel


def use(model: FittedModel, model_file: str) -> Markup:
    """Return examples with the model's own columns."""
    return Markup(
        paragraph("The model is a file of plain JSON. Predictions spend no budget, however many.")
        + element("h3", "In Python")
        + element("pre", element("code", _python(model, model_file)), tabindex="0")
        + element("h3", "At the command line")
        + element("pre", element("code", _shell(model_file)), tabindex="0")
        + paragraph(model.outcome.about_intervals)
    )


def _python(model: FittedModel, model_file: str) -> str:
    box = model.inputs.box
    middles = [_middle(box, k) for k in range(len(box.low))]
    if box.names is None:
        new = f"new = [{middles!r}]"
    else:
        columns = ", ".join(
            f"{name!r}: [{value!r}]" for name, value in zip(model.input_names, middles, strict=True)
        )
        new = f"new = pandas.DataFrame({{{columns}}})"
    lines = [
        "import dpgp",
        *(["import pandas"] if box.names is not None else []),
        "",
        f"model = dpgp.load({model_file!r})",
        new,
        *model.outcome.how_to_predict,
        "print(model.certificate)",
    ]
    return "\n".join(lines)


def _middle(box: Box, column: int) -> float | Level:
    """Return a value of a column that a prediction may be asked for."""
    category = box.category(column)
    return float(f"{box.centre[column]:.4g}") if category is None else category.levels[0]


def _shell(model_file: str) -> str:
    file = shlex.quote(model_file)
    return f"dpgp show {file}\ndpgp predict {file} new.csv -o predictions.csv"
