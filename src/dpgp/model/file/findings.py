"""What steps found beside a posterior: plain values, by their names in the certificate."""

from __future__ import annotations

from typing import Any

from dpgp.checked_values import ModelFileError, as_findings, as_items, as_number

LAWS = ("law of residuals", "target histograms")
"""Steps whose findings are read again: probabilities by the kinds of laws, one law a target."""


def findings_from_json(value: Any, targets: int) -> dict[str, Any]:
    """Read the findings of all steps."""
    findings = as_findings(value)
    if not isinstance(findings, dict):
        raise ModelFileError("`findings` must hold plain values by the names of steps.")
    for name in LAWS:
        if name in findings:
            _check_laws(findings[name], f"findings.{name}", targets)
    return findings


def _check_laws(value: Any, where: str, targets: int) -> None:
    laws = as_items(value, where)
    if len(laws) != targets or not all(isinstance(law, dict) for law in laws):
        raise ModelFileError(f"`{where}` must hold one law a target, by its kinds.")
    for law in laws:
        for probability in law.values():
            as_number(probability, where)
