"""What a reader wants to know first: how much is explained, and by which inputs."""

from __future__ import annotations

from collections.abc import Sequence

from dpgp.effects.records import percent
from dpgp.effects.summary import WhatMatters
from dpgp.report.html.accuracy import explained
from dpgp.report.html.markup import Markup, element, join, paragraph

NAMED = 3
"""Inputs that are named."""


def summary(found: Sequence[WhatMatters]) -> Markup:
    """Return R² and the most important inputs of every target."""
    parts = (_of_target(each, alone=len(found) == 1) for each in found)
    several = found[0].model.options.columns > 1
    words = f"{EXPLAINED} {IMPORTANT}" if several else EXPLAINED
    return join([*parts, paragraph(words, class_="quiet")])


EXPLAINED = (
    "R² is the share of the variance of new observations that the mean explains, by the model's "
    "own account and over its private model of the inputs."
)
IMPORTANT = (
    "Behind an input stands the share of the function's variance that it has a part in; what "
    "inputs do together counts for each of them."
)


def _of_target(found: WhatMatters, alone: bool) -> Markup:
    name, share = found.importance.target, explained(found.model, found.target)
    facts = [("explained (R²)" if alone else f"{name}: explained (R²)", percent(share))]
    if found.model.options.columns > 1:
        pairs = zip(found.importance.inputs, found.importance.total, strict=True)
        named = [f"{each} ({total.percent})" for each, total in list(pairs)[:NAMED]]
        facts.append(("most important inputs", ", ".join(named)))
    items = join(element("div", element("dt", a), element("dd", b)) for a, b in facts)
    return element("dl", items, class_="facts")
