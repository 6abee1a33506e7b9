"""Checks of a model file, each with its outcome in words."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from dpgp.checked_values import ModelFileError
from dpgp.json_document import digest, read_document
from dpgp.verify.claim import (
    ROUNDING,
    Claim,
    composed_epsilon,
    read_claim,
    recomputed_delta,
    recomputed_mu,
    scales_follow,
    sensitivities_follow,
    stated_mu,
)

PROVES = (
    "That its guarantee follows from the releases it lists: their sensitivities, noise and number, "
    "recomputed by dp-accounting.",
    "That the values in it are those over which its digest was taken, so that it was not damaged.",
)
ONLY_THE_SIGNER = (
    "That the noise was drawn as stated, from a secret source, and is not known to anybody.",
    "That the list of releases is complete, and that nothing else was published of these people.",
    "That bounds, columns and options were not read from the data.",
    "That rows are people, and one person's rows carry one identifier, where people are protected.",
)


LARGEST_MU, MOST_COMPOSED = 2.5, 200
"""Beyond these, distributions of the privacy loss take minutes; the closed form decides anyway."""


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
    claim = read_claim(document.get("guarantee"))
    return (
        _integrity(document),
        _privacy(claim),
        _sensitivities(claim),
        _noise(claim),
        _mu(claim, stated_mu(document["guarantee"])),
        _epsilon(claim),
    )


def _integrity(document: dict[str, object]) -> Finding:
    stated = document.pop("digest", None)
    computed = digest(document)
    return Finding("the file is undamaged", stated == computed, f"SHA-256 {computed}")


def _privacy(claim: Claim) -> Finding:
    holds = not claim.seeded and math.isfinite(claim.epsilon)
    words = "noise from a secret source" if holds else "simulation, not private"
    return Finding("it claims to be private", holds, words)


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
        scales_follow(claim),
        f"discrete Gaussian on a grid of 2^-{claim.grid_bits}",
    )


def _mu(claim: Claim, stated: float) -> Finding:
    mu = recomputed_mu(claim)
    holds = mu == stated or abs(mu - stated) <= ROUNDING * stated
    return Finding("μ is the root of the sum of squares", holds, f"μ = {mu:.6g}")


def _epsilon(claim: Claim) -> Finding:
    """δ at the claimed ε in closed form decides; composed distributions round up by design."""
    question = "ε and δ follow from the noise"
    if math.isinf(claim.epsilon):
        return Finding(question, True, "ε is infinite: nothing is promised")
    delta = recomputed_delta(claim)
    detail = f"claimed ({claim.epsilon:g}, {claim.delta:g}); recomputed δ = {delta:.6g} at this ε"
    if recomputed_mu(claim) <= LARGEST_MU and len(claim.releases) <= MOST_COMPOSED:
        epsilon = composed_epsilon(claim.releases, claim.delta)
        detail += f", and ε = {epsilon:.4f} at this δ by composed privacy loss distributions"
    return Finding(question, delta <= claim.delta * (1.0 + ROUNDING), detail)
