"""A pooled model: each of its releases by itself, and what they cost somebody who is in all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpgp.checked_values import ModelFileError, as_items
from dpgp.packed import unpack_document
from dpgp.verify.claim import ROUNDING, Claim, are_close, delta_of, read_claim, recomputed_mu

MOST_MEMBERS = 1000


def members_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the documents of the releases that were pooled."""
    packed = as_items(document.get("members"), "members", MOST_MEMBERS)
    members = [unpack_document(each, "members") for each in packed]
    if len(members) < 2 or not all(isinstance(member, dict) for member in members):
        raise ModelFileError("`members` must hold two models or more.")
    if any("members" in member for member in members):
        raise ModelFileError("`members` must be releases, not pooled models.")
    return members


def wrong_composition(document: dict[str, Any], members: Sequence[dict[str, Any]]) -> list[str]:
    """Return what contradicts that all μ² add up: docs/proofs/pooled_releases.md."""
    claim = read_claim(document.get("guarantee"))
    claims = [read_claim(member.get("guarantee")) for member in members]
    factor = _factors(claims)
    mu = math.hypot(*(k * recomputed_mu(each) for k, each in zip(factor, claims, strict=True)))
    wrong = [] if are_close(claim.mu, mu) else [f"μ is {claim.mu:g}, and {mu:g} recomputed"]
    if any(each.seeded for each in claims) != claim.seeded:
        wrong.append("whether noise is secret is not that of all releases")
    if claim.promises_nothing:
        return wrong
    if claim.delta < max(each.delta for each in claims):
        wrong.append("δ is smaller than that of a release")
    eta = max(factor) * math.fsum(r.discretisation for each in claims for r in each.releases)
    if delta_of(mu, eta, claim.epsilon) > claim.delta * (1.0 + ROUNDING):
        wrong.append(f"ε = {claim.epsilon:g} is smaller than what all releases cost together")
    return wrong


def _factors(claims: Sequence[Claim]) -> list[float]:
    """Return 2 for what is added or removed where elsewhere units are replaced, 1 otherwise."""
    mixed = len({claim.neighbours for claim in claims}) > 1
    return [2.0 if mixed and claim.neighbours != "replace" else 1.0 for claim in claims]
