"""Attacks on our own releases: what one person can change, and what an adversary can tell."""

from dpgp.audit.run import Attack, audit

__all__ = ["Attack", "audit"]
