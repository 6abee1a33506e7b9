"""The report of a fitted model: one HTML file that works offline and asks nobody for anything."""

from __future__ import annotations

import json
import shlex
import warnings
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from string import Template
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.colors import to_hex

from dpgp import __version__
from dpgp.domain import Box
from dpgp.effects.importance import WhatMatters, what_matters
from dpgp.markup import Markup, element, html, join, paragraph
from dpgp.report import style
from dpgp.report.class_plot import draw_classes
from dpgp.report.guarantee import title_of
from dpgp.report.html import guarantee, knowledge
from dpgp.report.html.agreement import agreement
from dpgp.report.html.browser import asset, page_script, payload
from dpgp.report.html.effects import effects, summary
from dpgp.report.html.reliability import reliability_plot
from dpgp.report.model_plot import draw_model
from dpgp.report.style import panels, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpgp.model.fitted import FittedModel

MEAN_COLOURS, UNCERTAINTY_COLOURS, STEPS = style.SEQUENTIAL, "magma_r", 33
STILL_SIZE, DOTS = (6.4, 4.2), 110
MOST_TARGETS = 4
"""Targets that have a picture: each takes some 40 kB of the page."""
ELSEWHERE = "Curves along the inputs are further down, under “What matters”."


def report_html(
    model: FittedModel, title: str | None = None, model_file: str = "model.json"
) -> str:
    """Return the report as a page; ``model_file`` is what the model is called in its examples."""
    certificate = model.certificate
    heading = title_of(model.predicted_names, model.input_names) if title is None else title
    css, script = _style(), page_script()
    matters = [what_matters(model, k) for k in range(model.n_targets)]
    return Template(asset("template.html")).substitute(
        policy=_policy(css, script),
        kind=html(model.outcome.title),
        window_title=html(heading if certificate.is_private else f"NOT private: {heading}"),
        title=html(heading),
        style=css,
        script=script,
        banner=guarantee.banner(certificate),
        health=knowledge.health(model),
        guarantee=guarantee.guarantee(certificate),
        summary=summary(matters),
        plots=_plots(model, matters[0]),
        matters=effects(matters),
        accuracy=join([knowledge.accuracy(model), reliability_plot(model), agreement(model)]),
        learned=knowledge.learned(model),
        bounds=guarantee.bounds(model),
        releases=guarantee.releases(model),
        use=_use(model, model_file),
        contents=html(guarantee.contents(certificate)),
        version=html(__version__),
        created=html(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    )


def _plots(model: FittedModel, matters: WhatMatters) -> Markup:
    """Return the place of the plots with the numbers they are drawn from, or why there are none.

    Inputs are offered in the order of their importance.
    """
    still = _still_figures(model)
    try:
        numbers = payload(model)
    except ValueError as error:
        return join([paragraph("There are no plots that answer: ", str(error)), still])
    numbers["order"] = matters.sensitivity.order
    numbers["colours"] = {"mean": _colours(MEAN_COLOURS), "std": _colours(UNCERTAINTY_COLOURS)}
    data = f'<script type="application/json" id="model">{strict_json(numbers)}</script>'
    noscript = join([paragraph("Plots that answer to sliders need JavaScript."), still])
    return Markup(f'<div id="plots"></div>{element("noscript", noscript)}{data}')


def _still_figures(model: FittedModel) -> Markup:
    """Return a curve of one input or a map of two, or say where the curves of more are."""
    if model.options.columns > 2 or model.options.box.categories:
        return paragraph(ELSEWHERE)
    pictures = 1 if model.outcome.is_joint else min(model.n_targets, MOST_TARGETS)
    return join(_still_figure(model, k) for k in range(pictures))


def _still_figure(model: FittedModel, target: int) -> Markup:
    name, inputs = model.target_in_words(target), " and ".join(model.input_names)
    if model.outcome.is_joint:
        name = f"probabilities of all classes of {model.predicted_names[0]}"
    content = BytesIO()
    with warnings.catch_warnings():
        # letters that the font of pictures lacks are in the text beside it
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        drawn = _drawn_classes(model) if model.outcome.is_joint else _drawn(model, target)
        drawn.savefig(content, format="png", dpi=DOTS)
    picture = element(
        "img",
        src=f"data:image/png;base64,{b64encode(content.getvalue()).decode()}",
        alt=f"{name} by {inputs}: the mean, how well it is known, and where the data are",
    )
    return element("figure", Markup(picture.removesuffix("</img>")), class_="still")


@styled
def _drawn(model: FittedModel, target: int) -> Figure:
    figure, axes = panels(1, 1, STILL_SIZE, share=False)
    draw_model(model, axes[0][0], target)
    return figure


@styled
def _drawn_classes(model: FittedModel) -> Figure:
    count = model.options.columns
    figure, axes = panels(
        1, count, (STILL_SIZE[0] * (1 + 0.4 * (count > 1)), STILL_SIZE[1]), share=False
    )
    draw_classes(model, axes[0])
    return figure


def _use(model: FittedModel, model_file: str) -> Markup:
    """Return how to load the model and predict with it, in examples with its own columns."""
    file = shlex.quote(model_file)
    commands = f"dpgp show {file}\ndpgp predict {file} new.csv -o predictions.csv"
    return Markup(
        paragraph("The model is a file of plain JSON. Predictions spend no budget, however many.")
        + element("h3", "In Python")
        + element("pre", element("code", _example(model, model_file)), tabindex="0")
        + element("h3", "At the command line")
        + element("pre", element("code", commands), tabindex="0")
        + paragraph(model.outcome.about_intervals)
    )


def _usual(box: Box, column: int) -> Any:
    category, centre = box.category(column), box.centre[column]
    if category is not None:
        return category.levels[0]
    return float(f"{centre:.4g}") if box.days(column) is None else box.in_words(column, centre)


def _example(model: FittedModel, model_file: str) -> str:
    box = model.inputs.box
    # values that a prediction may be asked for
    middles = [_usual(box, column) for column in range(len(box.low))]
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


def strict_json(value: Any) -> str:
    """Return JSON that cannot end the element it stands in."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _colours(name: str) -> list[str]:
    colour_map = mpl.colormaps[name].resampled(STEPS)
    return [to_hex(colour_map(k)) for k in range(STEPS)]


def _style() -> str:
    colours = {"blue": style.BLUE, "vermilion": style.VERMILION, "ink": style.INK}
    variables = "".join(f"--{name}:{colour};" for name, colour in colours.items())
    return f":root{{{variables}}}\n{asset('report.css')}"


def _policy(css: str, script: str) -> str:
    """Return a content security policy: nothing is loaded, and no other script or style runs."""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
