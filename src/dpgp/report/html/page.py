"""The report of a fitted model: one HTML file that works offline and asks nobody for anything."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from string import Template
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.colors import to_hex

from dpgp import __version__
from dpgp.effects.summary import WhatMatters, what_matters
from dpgp.report import style
from dpgp.report.guarantee import title_of
from dpgp.report.html import guarantee, knowledge
from dpgp.report.html.effects import effects
from dpgp.report.html.markup import Markup, element, html, join, paragraph
from dpgp.report.html.payload import payload
from dpgp.report.html.scripts import asset, page_script
from dpgp.report.html.still import still_figures
from dpgp.report.html.summary import summary
from dpgp.report.html.use import use

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

MEAN_COLOURS, UNCERTAINTY_COLOURS, STEPS = style.SEQUENTIAL, "magma_r", 33


def report_html(
    model: FittedModel, title: str | None = None, model_file: str = "model.json"
) -> str:
    """Return the report as a page; ``model_file`` is what the model is called in its examples."""
    certificate = model.certificate
    heading = title_of(model.target_names, model.input_names) if title is None else title
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
        accuracy=knowledge.accuracy(model),
        learned=knowledge.learned(model),
        bounds=guarantee.bounds(model),
        releases=guarantee.releases(model),
        use=use(model, model_file),
        contents=html(guarantee.contents(certificate)),
        version=html(__version__),
        created=html(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    )


def _plots(model: FittedModel, matters: WhatMatters) -> Markup:
    """Return the place of the plots with the numbers they are drawn from, or why there are none.

    Inputs are offered in the order of their importance.
    """
    still = still_figures(model)
    try:
        numbers = payload(model)
    except ValueError as error:
        return join([paragraph("There are no plots that answer: ", str(error)), still])
    numbers["order"] = matters.sensitivity.order
    numbers["colours"] = {"mean": _colours(MEAN_COLOURS), "std": _colours(UNCERTAINTY_COLOURS)}
    data = f'<script type="application/json" id="model">{strict_json(numbers)}</script>'
    noscript = join([paragraph("Plots that answer to sliders need JavaScript."), still])
    return Markup(f'<div id="plots"></div>{element("noscript", noscript)}{data}')


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
