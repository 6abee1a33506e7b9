"""Recompute what a model file claims, with dp-accounting and none of our own calibration."""

from dpgp.verify.file import Finding, verify

__all__ = ["Finding", "verify"]
