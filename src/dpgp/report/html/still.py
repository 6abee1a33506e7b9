"""A still picture of the fitted function, for pages that cannot compute one."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import TYPE_CHECKING

from dpgp.report.html.markup import Markup, element, join, paragraph
from dpgp.report.model_plot import draw_model
from dpgp.report.style import panels, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpgp.model.fitted import FittedModel

SIZE, DOTS = (6.4, 4.2), 110
MOST_TARGETS = 4
"""Targets that have a picture: each takes some 40 kB of the page."""
ELSEWHERE = "Curves along the inputs are further down, under “What matters”."


def still_figures(model: FittedModel) -> Markup:
    """Return a curve of one input or a map of two, or say where the curves of more are."""
    if model.options.columns > 2 or model.options.box.categories:
        return paragraph(ELSEWHERE)
    return join(_figure(model, k) for k in range(min(model.n_targets, MOST_TARGETS)))


def _figure(model: FittedModel, target: int) -> Markup:
    name, inputs = model.target_in_words(target), " and ".join(model.input_names)
    content = BytesIO()
    _drawn(model, target).savefig(content, format="png", dpi=DOTS)
    picture = element(
        "img",
        src=f"data:image/png;base64,{b64encode(content.getvalue()).decode()}",
        alt=f"{name} by {inputs}: the mean, how well it is known, and where the data are",
    )
    return element("figure", Markup(picture.removesuffix("</img>")), class_="still")


@styled
def _drawn(model: FittedModel, target: int) -> Figure:
    figure, axes = panels(1, 1, SIZE, share=False)
    draw_model(model, axes[0][0], target)
    return figure
