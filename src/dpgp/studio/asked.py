"""What the page asks for, a study of a table that was opened, and the papers that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpgp.ledger import Ledger
from dpgp.options import Options
from dpgp.report.guarantee import title_of
from dpgp.studio.desk import Desk, OpenedTable
from dpgp.studio.ledgers import loss_of
from dpgp.study.errors import UsageError
from dpgp.study.file import study_of, study_text
from dpgp.study.study import Study
from dpgp.study.table import options_by_key

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

STUDY_FILE, MODEL_FILE = "study.yaml", "model.json"


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


@dataclass(frozen=True)
class AskedStudy:
    """A study and its table; public, but for the place of the table."""

    table: OpenedTable
    study: Study

    @property
    def options(self) -> Options:
        """What a fit would be asked for."""
        options = self.study.options
        absent = [name for name in self.study.names if name not in self.table.header.names]
        if absent:
            raise UsageError(f"'{self.table.name}' has no column '{absent[0]}'; choose another.")
        return options

    @property
    def rows(self) -> int:
        """The number of rows, or a public guess."""
        return int(self.study.needed("n"))

    @property
    def text(self) -> str:
        """The study file."""
        return study_text(self.study)

    @property
    def title(self) -> str:
        """What the study is called."""
        targets, inputs = (
            [column.name for column in columns]
            for columns in (self.study.predicted, self.study.inputs)
        )
        return self.study.title or title_of(targets, inputs)

    def key(self, attempt: int) -> str:
        """Return what is the same for one fit, however many tabs ask for it."""
        parts = "\0".join([self.text, self.table.state, str(attempt)])
        return sha256(parts.encode()).hexdigest()


def read_asked(body: Mapping[str, Any], desk: Desk, ledger: Ledger | None) -> AskedStudy:
    """Read what a page sends; an error with a remedy where it cannot be meant."""
    if loss_of(ledger):
        raise UsageError(loss_of(ledger))
    table, entries = desk.table(body.get("table")), body.get("study")
    if not isinstance(entries, dict):
        raise UsageError("the page sent no study; load it again.")
    said = {key: value for key, value in entries.items() if value not in ("", {}, None)}
    # what has no field, the studio says itself
    if any(each.field is None for key, each in options_by_key().items() if key in said):
        raise UsageError("the page asks for what the studio does not do; load it again.")
    study = study_of(Path(STUDY_FILE), said).but(
        data=table.name if table.is_copy else str(table.path),
        output=Path(MODEL_FILE),
        ledger=None if ledger is None else ledger.path,
    )
    return AskedStudy(table, study)


def refused_by_system(error: OSError) -> str:
    """Say which file the system refuses, why, and what can be done about it."""
    file = "a file" if error.filename is None else f"'{error.filename}'"
    return (
        f"{file} cannot be read or written: {(error.strerror or 'it failed').lower()}; make room "
        "or give access to it, or start the studio with another folder: dpgp studio -o FOLDER."
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
    if model.weights is not None:
        parts.append(f"Rows counted by their weights: {model.weights}.")
    provenance = certificate.provenance
    if provenance is not None:
        versions = ", ".join(f"{name} {version}" for name, version in provenance.versions)
        parts.append(f"Noise: {provenance.random_source}.\nSoftware: {versions}.")
        if provenance.ledger is not None:
            parts.append(f"Entry of the ledger: {provenance.ledger}")
    return "\n\n".join(parts) + "\n"
