"""Papers about a private model, from its certificate and its public choices.

A statement for people who decide: what is protected, against whom, and what is not covered. And an
entry in the form of the public registry of deployments of differential privacy,
schemas/deployments-schema.yaml of github.com/opendp/deployments-registry-data, as of commit
057e5d81cf60.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dpgp.choices import Missing
from dpgp.plain_text import in_a_line
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import factor_text, text_up
from dpgp.report.guarantee import guarantee_in_words, listed, title_of

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.privacy.certificate import Certificate

NOT_COVERED = (
    "What is true of people in general, learned from many. That a habit harms whoever has it can "
    "be learned from such a model, and applies to somebody who has it and took no part.",
    "What was or will be published of the same people elsewhere. The numbers of all such "
    "publications add up.",
    "The raw data where they are kept: who has access to them, and how they are secured.",
    "Mistakes outside of the program: bounds that were read from the data, wrong identifiers, a "
    "model that was chosen among several after looking at the data.",
)

ADVERSARY = (
    "Anybody who sees the model, also with unlimited computing power, with any other data, and "
    "with the knowledge of every other record of the study.",
    "Not against those who hold the data: they see them anyway, and must be trusted.",
    "Not against somebody who measures how long the computation took.",
)

FORM = "opendp/deployments-registry-data, schemas/deployments-schema.yaml, commit 057e5d81cf60"
CURATOR_TYPES = ("Government", "Industry", "Nonprofit")

DEPLOYMENT = {
    "model_name": "Central",
    "trust_assumptions": "The curator holds the raw data and is trusted with them. Everybody who "
    "sees the model is not trusted, whatever else they know.",
    "release_type": "One release",
    "data_source_type": "Static",
    "access_type": "Non-interactive",
}


def statement(model: FittedModel, title: str | None = None) -> str:
    """Return a statement in plain language, as Markdown."""
    targets, inputs = _names(model)
    parts = [f"# Privacy statement: {title or title_of(targets, inputs)}"]
    if not model.certificate.is_private:
        parts.append(
            "**SIMULATION, NOT PRIVATE.** The noise of this model can be repeated or is absent. "
            "Nothing below is promised; do not publish the model."
        )
    parts += [
        _section("What is published", _published(model)),
        _section("What is protected", _protected(model.certificate)),
        _section("Against whom", ADVERSARY),
        _section("What is assumed to be public", _public(model)),
        _section("What is not covered", _not_covered(model.certificate)),
        _section("How it can be checked", _checks(model)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(title: str, sentences: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {sentence}" for sentence in sentences)])


def _names(model: FittedModel) -> tuple[list[str], list[str]]:
    """Return targets and inputs as a sentence can have them."""
    return [_plain(name) for name in model.predicted_names], [_plain(n) for n in model.input_names]


def _plain(name: str) -> str:
    """Return a name in one line, whatever blanks it has."""
    return " ".join(name.split()) or "(no name)"


def _published(model: FittedModel) -> list[str]:
    targets, inputs = _names(model)
    sums = "Everything in it was computed from sums over many people"
    is_noisy = math.isfinite(model.certificate.epsilon)
    return [
        f"A statistical model that predicts {listed(targets)} from {listed(inputs)}, with its "
        "uncertainty.",
        *([] if model.weights is None else [f"Rows counted by their weights: {model.weights}."]),
        "It contains no record of anybody.",
        f"{sums}, to which random noise was added." if is_noisy else f"{sums}, without any noise.",
    ]


def _protected(certificate: Certificate) -> list[str]:
    if not certificate.is_private:
        return [guarantee_in_words(certificate)]
    values = "all values, those that are predicted and those that are predicted from."
    if not certificate.protects_persons:
        whom = [f"One row of the table: {values}"]
    else:
        counted = certificate.rows_of_unit.counted(certificate.rows_per_unit)
        whom = [f"One person, with all of their rows: {values}", f"Of each person, {counted}."]
    return [*whom, guarantee_in_words(certificate), _risk(certificate)]


def _risk(certificate: Certificate) -> str:
    """Say what ε and δ mean for a risk of one in a thousand."""
    otherwise = {
        Neighbours.REPLACE: "with the data of somebody else in place of theirs",
        Neighbours.ADD_REMOVE: "without their data",
    }[certificate.neighbours]
    most = (
        "this guarantee sets no limit to it"
        if certificate.epsilon >= math.log(1000.0)
        else f"it is at most {factor_text(certificate.epsilon)} in 1,000, but for a chance of "
        f"{text_up(certificate.delta)}"
    )
    return (
        f"In other words: say that somebody's risk of a harm would be 1 in 1,000 {otherwise}. With "
        f"their data in the study, {most}."
    )


def _public(model: FittedModel) -> list[str]:
    columns = "".join(f"\n  - {name}: {extent}." for name, _, extent in _columns(model))
    return [
        f"The columns and their bounds, chosen without looking at the data:{columns}",
        "All other options of the fit, which stand in the model's file.",
        _size(model),
        *_codes(model),
        *_weight(model),
        *_complete(model),
    ]


def _columns(model: FittedModel) -> list[tuple[str, str, str]]:
    """Return name, role and extent of every column, in words."""
    options = model.options
    boxes = [("input", options.box, ""), ("target", options.target_box, model.outcome.aside)]
    return [
        (_plain(column["name"]), role, _extent(column, aside))
        for role, box, aside in boxes
        for column in box.named_bounds(role)
    ]


def _extent(column: dict[str, Any], aside: str) -> str:
    if "levels" in column:
        return "one of " + ", ".join(f"“{level}”" for level in column["levels"]) + aside
    if "unit" in column:
        return f"a date from {column['low']} to {column['high']}, counted in {column['unit']}"
    return f"a number from {column['low']:.12g} to {column['high']:.12g}{aside}"


def _size(model: FittedModel) -> str:
    """Say what neighbours have in common of the size of a table."""
    options = model.options
    if options.row_count_is_public:
        return "The number of rows."
    if options.table_size_is_public:
        secret = "what they weigh" if options.are_weighted else "how many of them could be used"
        return f"The number of rows, but not {secret}."
    if options.neighbours is Neighbours.REPLACE:
        return "The number of people, but not the number of their rows."
    whose = "The numbers of people and rows are" if options.per_person else "The number of rows is"
    return f"{whose} not assumed to be public, but protected too."


def _weight(model: FittedModel) -> list[str]:
    bound = model.options.weight_bound
    if bound is None:
        return []
    return [f"That a row of weight {bound:g} or more counts in full, and others by their weight."]


def _codes(model: FittedModel) -> list[str]:
    """Say which values stand for missing ones."""
    names = [name for name, *_ in _columns(model)]
    codes = model.options.missing_codes.in_order or []
    return [
        f"That {_plain(name)} is missing where the table says {in_a_line(map(str, own))}."
        for name, own in zip(names, codes, strict=False)
        if own
    ]


def _complete(model: FittedModel) -> list[str]:
    if model.options.missing is not Missing.ERROR:
        return []
    if model.options.rows_may_be_unusable:
        return ["That no row lacked an input: the fit would have stopped."]
    return ["That no row was incomplete: the fit would have stopped."]


def _not_covered(certificate: Certificate) -> tuple[str, ...]:
    several = "People with several rows, as people: the guarantee is about one row at a time."
    return NOT_COVERED if certificate.protects_persons else (several, *NOT_COVERED)


def _checks(model: FittedModel) -> list[str]:
    certificate = model.certificate
    sentences = [
        "`dpgp verify model.json` recomputes the guarantee from the model's file, with a program "
        "of other authors. It cannot prove that the noise was drawn as stated, nor that nothing "
        "else was published: for that, whoever signs the model is responsible.",
        "`dpgp audit` attacks the program that made it.",
        f"The model's id, in its file and its report, is {model.id}.",
    ]
    if certificate.study is not None:
        sentences.append(f"The fit was told what to do by: {certificate.study}.")
    if certificate.provenance is not None and certificate.provenance.ledger is not None:
        link = certificate.provenance.ledger
        sentences.append(f"The fit stands in a ledger of all spending, as entry {link}.")
    return sentences


def registry_entry(
    model: FittedModel,
    *,
    name: str,
    curator: str,
    curator_type: str,
    intended_use: str,
    region: str,
    author: str,
) -> dict[str, Any]:
    """Return the entry of a private model; what no file can know is asked for."""
    if not model.certificate.is_private:
        raise ValueError("a simulation is not private and belongs in no registry of deployments.")
    if curator_type not in CURATOR_TYPES:
        raise ValueError(f"`curator_type` must be one of {', '.join(CURATOR_TYPES)}.")
    targets, inputs = _names(model)
    description = (
        f"Gaussian-process regression of {listed(targets)} on {listed(inputs)}, with predictive "
        "uncertainty."
    )
    return {
        "url_slug": re.sub(r"\W+", "-", f"{name} {curator}".lower()).strip("-"),
        "deployment": {
            "basic": {
                "name": name,
                "data_curators": [
                    {"data_curator_name": curator, "data_curator_type": curator_type}
                ],
                "description": description,
                "intended_use": intended_use,
                "data_product_type": "Machine learning model",
                "data_product_region": region,
                "publication_date": datetime.now(UTC).strftime("%Y-%m-%d"),
            },
            "dp_variant": _variant(model),
            "privacy_loss": _loss(model.certificate),
            "deployment_model": dict(DEPLOYMENT),
            "implementation": _implementation(model.certificate),
            "administrative": {"status": "Draft", "registry_authors": [author], "tier": 3},
        },
    }


def _variant(model: FittedModel) -> dict[str, str]:
    columns = "; ".join(f"{name} ({role}), {extent}" for name, role, extent in _columns(model))
    options = model.options
    is_some = options.table_size_is_public or options.neighbours is Neighbours.REPLACE
    return {
        "variant_name": "Approximate DP",
        "data_domain": f"Tables with the columns {columns}. Numbers outside are clipped.",
        "unprotected_quantities": _size(model) if is_some else "None.",
    }


def _loss(certificate: Certificate) -> dict[str, Any]:
    details = "One event."
    if certificate.mu is not None:
        mu = text_up(certificate.mu)
        details = f"Gaussian differential privacy with mu = {mu}, converted once."
    return {
        "privacy_unit": "Person" if certificate.protects_persons else "Record",
        "privacy_unit_details": certificate.relation,
        "privacy_parameters": {
            "epsilon": float(certificate.epsilon),
            "delta": float(certificate.delta),
        },
        "privacy_parameters_details": details,
    }


def _implementation(certificate: Certificate) -> dict[str, str]:
    releases = "; ".join(str(release) for release in certificate.releases)
    made_by, provenance = "", certificate.provenance
    if provenance is not None:
        versions = ", ".join(f"{name} {version}" for name, version in provenance.versions)
        made_by = f"Noise: {provenance.random_source}. Software: {versions}."
    return {
        "preprocessing_and_hyperparameter_tuning": "Bounds are public and not read from the data. "
        "Hyperparameters are learned from the noisy releases, at no further privacy loss.",
        "mechanisms": f"Discrete Gaussian noise on exact integer sums. {made_by} "
        "Rows are rounded to a grid of integers, and sums are exact, so that no floating-point "
        f"number is released that was not an integer before. Releases: {releases}.",
        "composition": "Gaussian mechanisms compose adaptively to the root of the sum of squares.",
        "post_processing": "The model is computed from the noisy sums alone.",
    }
