"""What the page asks for: a study in the words of a study file, about a table that was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpgp.ledger import Ledger
from dpgp.options import Options
from dpgp.report.guarantee import title_of
from dpgp.studio.desk import Desk, OpenedTable
from dpgp.study.errors import UsageError
from dpgp.study.file import study_of, study_text
from dpgp.study.study import Study
from dpgp.study.table import options_by_key

STUDY_FILE, MODEL_FILE = "study.yaml", "model.json"


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
