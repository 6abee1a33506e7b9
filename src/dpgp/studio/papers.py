"""The papers of a fitted model, for the folder of its study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dpgp.studio.asked import MODEL_FILE, STUDY_FILE

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


class Paper(NamedTuple):
    """A file to download: its name, its kind, and what it is for."""

    name: str
    media_type: str
    what: str


REPORT, CERTIFICATE, STATEMENT, SCRIPT = (
    "report.html", "certificate.txt", "statement.md", "fit_in_python.py",
)  # fmt: skip

PAPERS = (
    Paper(MODEL_FILE, "application/json", "the model, to publish and to predict with"),
    Paper(REPORT, "text/html", "the report as one page that works offline"),
    Paper(CERTIFICATE, "text/plain", "what was released, and what it guarantees"),
    Paper(STATEMENT, "text/markdown", "a privacy statement for an ethics board"),
    Paper(STUDY_FILE, "text/yaml", "the study, to keep and to cite: dpgp fit --study"),
    Paper(SCRIPT, "text/x-python", "a Python script that does the same"),
)


def write_papers(model: FittedModel, title: str, folder: Path) -> None:
    """Write report, certificate and statement beside the model."""
    from dpgp.report.html import report_html
    from dpgp.report.papers import statement

    papers = {
        REPORT: report_html(model, title, MODEL_FILE),
        CERTIFICATE: certificate_text(model, title),
        STATEMENT: statement(model, title),
    }
    for name, text in papers.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def certificate_text(model: FittedModel, title: str) -> str:
    """Return the certificate of a model as plain text."""
    from dpgp.report.guarantee import guarantee_in_words

    certificate = model.certificate
    parts = [title, f"Model {model.id}", str(certificate), guarantee_in_words(certificate)]
    provenance = certificate.provenance
    if provenance is not None:
        versions = ", ".join(f"{name} {version}" for name, version in provenance.versions)
        parts.append(f"Noise: {provenance.random_source}.\nSoftware: {versions}.")
        if provenance.ledger is not None:
            parts.append(f"Entry of the ledger: {provenance.ledger}")
    return "\n\n".join(parts) + "\n"
