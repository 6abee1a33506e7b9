"""Checks of a model file, each with its outcome in words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpgp.checked_values import ModelFileError, as_text
from dpgp.json_document import digest, read_document
from dpgp.verify.claim import (
    GRID_BITS,
    LEAST_MU,
    MOST_MU,
    ROUNDING,
    Claim,
    are_close,
    composed_epsilon,
    noise_is_drawn,
    read_claim,
    recomputed_delta,
    recomputed_mu,
    sensitivities_follow,
)
from dpgp.verify.contents import (
    ClaimedFit,
    digest_of_records,
    name_of_sums,
    read_fit,
    settings_of,
)
from dpgp.verify.findings import wrong_findings, wrong_pooling
from dpgp.verify.pooled import members_of, wrong_composition
from dpgp.verify.steps import (
    expected_steps,
    wrong_order,
    wrong_queries,
    wrong_shares,
    wrong_stages,
    wrong_traces,
)

PROVES = (
    "That its guarantee follows from the releases it lists: their sensitivities, noise and number, "
    "recomputed by dp-accounting.",
    "That these releases, with this noise, are those that a fit with its settings makes, and that "
    "its stages, warp, laws, scale and findings can have come from them.",
    "That the values in it are those over which its digest was taken, so that it was not damaged.",
)
ONLY_THE_SIGNER = (
    "That the noise was drawn as stated, from a secret source, and is not known to anybody. "
    "Whoever rewrites all noise of a file for another budget leaves no contradiction.",
    "That nothing else was published of these people, and that what else the file holds, such as "
    "its posterior, records and density of the inputs, was computed from these releases alone.",
    "That bounds, columns and options were not read from the data.",
    "That rows are people, one person's rows carry one identifier, and no more of them count than "
    "stated, where people are protected.",
)

SPARED = 1e-6
"""Share of the noise without which a claim must break: a fit spends all of its budget."""
RULES_OF_ROWS = ("first", "random")
"""Which rows of a unit may count; sensitivities hold for both."""
MOST_SAID = 5
"""Contradictions that are spelled out."""


@dataclass(frozen=True)
class Finding:
    """One check: what was asked, whether it holds, and the figures behind it."""

    question: str
    holds: bool
    detail: str


def verify(path: str | os.PathLike[str]) -> tuple[Finding, ...]:
    """Recompute everything that a file can prove; a ModelFileError where it is no model."""
    document = read_document(path)
    if not isinstance(document, dict) or document.get("kind") != "dpgp model":
        raise ModelFileError("this is not a model of dpgp.")
    if "members" in document:
        return (_integrity(document), *_pooled(document))
    return (_integrity(document), *_verified(document))


def _pooled(document: dict[str, Any]) -> Iterator[Finding]:
    """Verify every release by itself, and their guarantee together."""
    members = members_of(document)
    for number, member in enumerate(members, start=1):
        found = _verified(member, compose=False)  # half a second each, and decides nothing
        wrong = [f"{each.question}: no, {each.detail}" for each in found if not each.holds]
        question = f"release {number} of {len(members)} holds by itself"
        yield _contradictions(question, wrong, f"{len(found)} checks, model {member.get('id')}")
    claim = read_claim(document.get("guarantee"))
    yield _privacy(claim)
    yield from _name(document, members)
    yield _words(
        claim, document.get("about"), f", for somebody who is in all {len(members)} releases"
    )
    yield _settings(claim, settings_of(document))
    question = "for somebody in all releases their μ² add up"
    said = f"claimed ({claim.epsilon:g}, {claim.delta:g}), μ = {claim.mu:.6g}"
    yield _contradictions(question, wrong_composition(document, members), said)
    question = "what pooling found is about its releases"
    yield _contradictions(question, wrong_pooling(document, members), "rows, sums and differences")


def _verified(document: dict[str, Any], *, compose: bool = True) -> tuple[Finding, ...]:
    """Check a release whose digest was checked."""
    claim = read_claim(document.get("guarantee"))
    fit = read_fit(document, claim)
    return (
        _privacy(claim),
        _source(claim),
        _words(claim, document.get("about")),
        _settings(claim, settings_of(document)),
        _sensitivities(claim),
        _noise(claim),
        _mu(claim),
        _epsilon(claim, compose=compose),
        *_name(document),
        *_steps(fit),
    )


def _integrity(document: dict[str, Any]) -> Finding:
    stated = document.pop("digest", None)
    try:
        computed = digest(document)
    except RecursionError:
        raise ModelFileError("the file is nested too deeply.") from None
    return Finding("the file is undamaged", stated == computed, f"SHA-256 {computed}")


def _privacy(claim: Claim) -> Finding:
    words = "noise from a secret source" if claim.is_private else "simulation, not private"
    return Finding("it claims to be private", claim.is_private, words)


def _source(claim: Claim) -> Finding:
    question = "its source of noise is as secret as it claims"
    return Finding(question, source_agrees(claim), claim.random_source)


def _words(claim: Claim, about: Any, whose: str = "") -> Finding:
    agree = words_agree(claim, about, whose)
    return Finding("its words say what its numbers do", agree, claim.statement)


def _settings(claim: Claim, settings: dict[str, Any]) -> Finding:
    """Compare what was asked for with what is promised."""
    promised = {
        "epsilon": "inf" if claim.promises_nothing else claim.epsilon,
        "delta": claim.delta,
        "neighbours": claim.neighbours,
        "max_rows_per_unit": claim.rows_per_unit,
    }
    wrong = [name for name, value in promised.items() if settings.get(name) != value]
    if claim.rows_per_unit > 1 and not claim.per_person:
        wrong.append("max_rows_per_unit, of nobody")
    if settings.get("rows_of_unit", "first") not in RULES_OF_ROWS:
        wrong.append("rows_of_unit")
    asked = ", ".join(f"{name} {value}" for name, value in promised.items())
    return _contradictions("what was asked for is what is promised", wrong, asked)


def _sensitivities(claim: Claim) -> Finding:
    count = len(claim.releases)
    return Finding(
        "sensitivities follow from the queries",
        sensitivities_follow(claim),
        f"{count} releases, neighbours {claim.neighbours}, rows of a unit: {claim.rows_per_unit}",
    )


def _noise(claim: Claim) -> Finding:
    return Finding(
        "the integer noise is as analysed",
        claim.promises_nothing or noise_is_drawn(claim),
        f"discrete Gaussian on a grid of 2^-{GRID_BITS}",
    )


def _mu(claim: Claim) -> Finding:
    mu = recomputed_mu(claim)
    return Finding("μ is the root of the sum of squares", are_close(claim.mu, mu), f"μ = {mu:.6g}")


def _epsilon(claim: Claim, *, compose: bool) -> Finding:
    """δ at the claimed ε in closed form decides; composed distributions round up by design."""
    question = "ε and δ follow from the noise, and all of them was spent"
    if claim.promises_nothing:
        return Finding(question, True, "ε is infinite: nothing is promised")
    delta = recomputed_delta(claim)
    detail = f"claimed ({claim.epsilon:g}, {claim.delta:g}); recomputed δ = {delta:.6g} at this ε"
    epsilon = composed_epsilon(claim) if compose else None
    if epsilon is not None:
        detail += f", and ε = {epsilon:.4f} at this δ by composed privacy loss distributions"
    is_spent = recomputed_delta(claim, SPARED) > claim.delta
    return Finding(question, delta <= claim.delta * (1.0 + ROUNDING) and is_spent, detail)


def _name(document: dict[str, Any], members: Sequence[dict[str, Any]] = ()) -> Iterator[Finding]:
    """Compare its name and what binds its records, which older files lack, with what gives them."""
    computed = name_of_sums(document)
    named = document.get("id", computed) == computed
    yield Finding("its name is that of its sums", named, computed)
    question = f"its {'members' if members else 'records'} are those that its name covers"
    stated, found = document.get("records_digest"), digest_of_records(document, members)
    if found is None:
        yield Finding(question, True, "the file has none")
    elif stated is None:
        yield Finding(question, True, "NOT CHECKED: an earlier version wrote it, and bound none")
    else:
        yield Finding(question, stated == found, f"SHA-256 {found}")


def _steps(fit: ClaimedFit) -> Iterator[Finding]:
    """Compare the releases with the steps that the rest of the file tells of."""
    stages, columns = len(fit.stages), f"{fit.columns} inputs, {fit.targets} targets"
    yield from _planned(fit, ", ".join(release.label for release in fit.claim.releases), columns)
    question = "its stages have the noise of their releases"
    yield _contradictions(question, wrong_stages(fit), f"{stages} stages")
    question = "what it holds came from its releases"
    yield _contradictions(question, wrong_traces(fit), "warp, laws, scale and findings")
    question = "its findings have the noise and the rows of their releases"
    yield _contradictions(question, wrong_findings(fit), ", ".join(fit.findings) or "none")


def _planned(fit: ClaimedFit, labels: str, columns: str) -> tuple[Finding, ...]:
    """Compare the releases with what public rules make of the settings."""
    names = (
        "the releases are those of its steps",
        "every release is its step's query",
        "every step has its share of the budget",
    )
    if not (fit.is_unlimited or LEAST_MU <= fit.mu <= MOST_MU):
        return tuple(
            _contradictions(name, ["the noise is none that is drawn"], "") for name in names
        )
    expected = expected_steps(fit)
    steps = {step.label: step for step in expected}
    pairs = [(steps[r.label], r) for r in fit.claim.releases if r.label in steps]
    return (
        _contradictions(names[0], wrong_order(fit, expected), labels),
        _contradictions(names[1], wrong_queries(fit, pairs), columns),
        _contradictions(names[2], wrong_shares(fit, pairs), f"for {fit.rows:.6g} rows"),
    )


def _contradictions(question: str, found: Iterable[str], otherwise: str) -> Finding:
    wrong = list(found)
    more = [f"and {len(wrong) - MOST_SAID} more"] if len(wrong) > MOST_SAID else []
    return Finding(question, not wrong, "; ".join([*wrong[:MOST_SAID], *more]) or otherwise)


# --- whether its words say what its numbers do ----------------------------------------------------


SECRET = "OpenDP's discrete Gaussian, from the operating system's secure generator"
SEEDED = "NumPy's generator with a seed: simulation, not private"
_OF_SITES = re.compile(r"(.+); a share of it by each of (\d{1,9}) sites, (\d{1,9}) of them trusted")

NOT_PRIVATE = "NOT PRIVATE"
_STATEMENT = "({{}}, {{}})-differential privacy, mu = {{}}{whose}."
_ABOUT = (
    "for any two data sets that differ in one unit {unit}, any outcome of the fit is at most "
    "exp({{}}) times as likely from one as from the other, plus {{}}."
)
_CHANGES = {"replace": "replaced by any other", "add-remove": "added or removed"}
PRINTED = 1e-5
"""Six digits are printed of a number, rounded up."""


def source_agrees(claim: Claim) -> bool:
    """Return whether noise comes from a source that is as secret as the file says."""
    named, joint = claim.random_source, _OF_SITES.fullmatch(claim.random_source)
    if joint:
        named, sites, trusted = joint[1], int(joint[2]), int(joint[3])
        if not 1 <= trusted <= sites:
            return False
    return named == (SEEDED if claim.seeded else SECRET)


def words_agree(claim: Claim, about: Any, whose: str = "") -> bool:
    """Return whether ``statement`` and ``about`` promise what the guarantee does, and no more.

    ``whose`` is what the statement ends with where it is not of everybody alike.
    """
    what, _, promise = as_text(about, "about").partition("Guarantee: ")
    if not claim.is_private:
        return NOT_PRIVATE in claim.statement and NOT_PRIVATE in what
    unit = f"{_CHANGES[claim.neighbours]} ({_unit(claim)})"
    numbers = (claim.epsilon, claim.delta)
    return (
        NOT_PRIVATE not in what
        and _says(claim.statement, _STATEMENT.format(whose=whose), (*numbers, claim.mu))
        and _says(promise, _ABOUT.format(unit=unit), numbers)
    )


def _says(text: str, sentence: str, numbers: Sequence[float]) -> bool:
    """Return whether a text is a sentence with these numbers, each as printed, for its braces."""
    pattern = r"(\S+)".join(re.escape(part) for part in sentence.split("{}"))
    found = re.fullmatch(pattern, text)
    return found is not None and all(map(_is_printed, found.groups(), numbers))


def _unit(claim: Claim) -> str:
    if not claim.per_person and claim.rows_per_unit == 1:
        return "one row"
    most = claim.rows_per_unit
    return f"one person, of whom {'one row counts' if most == 1 else f'at most {most} rows count'}"


def _is_printed(text: str, number: float) -> bool:
    try:
        printed = float(text)
    except ValueError:
        return False
    return number <= printed * (1.0 + 1e-12) and printed <= number * (1.0 + PRINTED)
