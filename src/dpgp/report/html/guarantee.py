"""What is promised and what it rests on: guarantee, public choices, releases."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpgp.markup import Markup, element, join, paragraph
from dpgp.model.fitted import COLUMN_HEADINGS
from dpgp.privacy.rounding import text_up
from dpgp.report.guarantee import guarantee_in_words
from dpgp.report.html.tables import facts, table

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.privacy.certificate import Certificate


def banner(certificate: Certificate) -> Markup:
    """Return a warning that nobody overlooks where a model is not private, else nothing."""
    if certificate.is_private:
        return Markup("")
    return element(
        "aside",
        paragraph("NOT private", class_="shout"),
        paragraph(guarantee_in_words(certificate)),
        paragraph("Treat the model and this page like the data themselves: do not publish them."),
        class_="banner",
        role="note",
        aria_label="Warning",
    )


def guarantee(certificate: Certificate) -> Markup:
    """Return ε, δ, whom they protect, and what that means in words."""
    delta, noiseless = certificate.delta, math.isinf(certificate.epsilon)
    one_in = element("small", f" one in {math.floor(1 / Fraction(repr(delta))):,}")
    known = facts(
        [
            ("ε", "∞" if noiseless else text_up(certificate.epsilon)),
            ("δ", join([text_up(delta), one_in])),
            ("protects", f"{certificate.unit}, {certificate.neighbours.change}"),
        ]
    )
    if certificate.is_private:
        words = paragraph(guarantee_in_words(certificate), class_="lead")
        return join([known, words, paragraph(CAVEAT, class_="quiet")])
    return join([known, paragraph(NO_NOISE if noiseless else NO_SECRET)])


NO_NOISE = "No noise was added, so nothing is promised."
NO_SECRET = "What a fit with a secret source of noise would have promised. This one does not."
CAVEAT = (
    "The smaller ε and δ, the stronger the protection. The guarantee is about this model alone: "
    "budgets of other models of the same people add to it."
)


def bounds(model: FittedModel) -> Markup:
    """Return the bounds that were public before any row was seen."""
    return Markup(
        table("Columns and their public bounds", COLUMN_HEADINGS, model.column_rows())
        + paragraph(
            "Bounds and levels are public knowledge, never read from the data. An input beyond its "
            "bounds counts as at the nearest one.",
            class_="quiet",
        )
    )


def releases(model: FittedModel) -> Markup:
    """Return everything that was computed from rows, with the noise it carries, and whose it is."""
    certificate = model.certificate
    rows = certificate.rows()
    if certificate.mu is not None:
        rows.append(["together", "", "", "", text_up(certificate.mu, 4)])
    parts = [
        paragraph(
            "Everything that was computed from the rows, each with Gaussian noise in proportion to "
            "its sensitivity: how far one person could move it. μ is the price of a release in "
            "Gaussian differential privacy; the squares of the prices add up."
        ),
        table("What was released", certificate.HEADINGS, rows),
        paragraph("Model ", element("code", model.id), ".", class_="quiet"),
    ]
    if certificate.study is not None:
        words = f"The fit was told what to do by: {certificate.study}."
        parts.append(paragraph(words, class_="quiet"))
    return join(parts)


def contents(certificate: Certificate) -> str:
    """Say what is in the page and the model."""
    if not certificate.is_private:
        return (
            "This page and the model hold numbers computed from rows without secret noise: a "
            "simulation, for tests and teaching."
        )
    return (
        "This page and the model hold released values and public choices only: no row of the data, "
        "and no number computed from rows without noise."
    )
