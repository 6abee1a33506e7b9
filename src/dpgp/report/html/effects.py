"""What matters: importance with bars, interactions, and curves along the important inputs."""

from __future__ import annotations

from collections.abc import Sequence

from dpgp.effects.records import AnswerTable, Importance, Share
from dpgp.effects.summary import ImportantInput, WhatMatters
from dpgp.model.marginals import densities
from dpgp.report.html.curve_panel import Frame, curve_panel, frame_of
from dpgp.report.html.markup import Markup, element, join, paragraph, table
from dpgp.report.html.svg import share_bar


def effects(found: Sequence[WhatMatters]) -> Markup:
    """Return the section with what matters for every target; nothing where there is one input."""
    if not found or found[0].model.options.columns == 1:
        return Markup("")
    heading = element("h2", "What matters", id="matters")
    parts = join(_of_target(each, alone=len(found) == 1) for each in found)
    introduction = join([paragraph(INTRODUCTION), parts, paragraph(HOW_TO_READ, class_="quiet")])
    return element("section", heading, introduction, aria_labelledby="matters")


INTRODUCTION = (
    "How much of the variance of the function is due to an input: in total, with all that it does "
    "together with others, and alone. Inputs are taken to be independent, each as its private "
    "marginal says."
)

HOW_TO_READ = (
    "Curves are averages of the function along one input, over the private model of all others, "
    "with 95\u00a0% bands; the grey strip shows where the data are. All of it follows from numbers "
    "that were released, and is about the function before it is cut to the bounds of the target. "
    "It says what the model does, not what causes what."
)


def _of_target(found: WhatMatters, alone: bool) -> Markup:
    name = found.importance.target
    return join(
        [
            Markup("") if alone else element("h3", name),
            _importance(found.importance),
            _interactions(found),
            _curves(found),
        ]
    )


def _importance(importance: Importance) -> Markup:
    rows = [
        (name, _bar(name, total), total.percent, total.interval, first.percent, first.interval)
        for name, total, first in zip(
            importance.inputs, importance.total, importance.first, strict=True
        )
    ]
    headings = ("input", "from 0 to 100 %", "in total", "95 % interval", "alone", "95 % interval")
    shares = table(f"Share of the variance of {importance.target}", headings, rows)
    return join([paragraph(importance.to_be_explained), shares])


def _bar(name: str, share: Share) -> Markup:
    label = f"{name}: {share.percent}, between {share.interval}"
    return Markup(share_bar(share.value, share.low, share.high, label))


def _interactions(found: WhatMatters) -> Markup:
    answer: AnswerTable = found.sensitivity.interactions()
    headings, cells = answer.text_table()
    if not cells:
        return paragraph(answer.note)
    rows = [(f"{first} with {second}", *rest) for first, second, *rest in cells]
    caption = "Inputs that act together: share of the variance that changes with both"
    return table(caption, ("inputs", *headings[2:]), rows)


def _curves(found: WhatMatters) -> Markup:
    known, frame = densities(found.model), frame_of([curve.along for curve in found.curves])
    panels = join(
        element(
            "figure",
            curve_panel(
                curve.along,
                frame,
                found.importance.target,
                None if known is None else known[curve.column],
            ),
            _numbers(curve, frame),
        )
        for curve in found.curves
    )
    others = paragraph(found.others, class_="quiet") if found.others else Markup("")
    return join([element("div", panels, class_="panels"), others])


def _numbers(curve: ImportantInput, frame: Frame) -> Markup:
    headings, cells = curve.along.text_table()
    content = table(curve.along.title, headings, cells[:: frame.table_every])
    return element("details", element("summary", "The numbers of this plot"), content)
