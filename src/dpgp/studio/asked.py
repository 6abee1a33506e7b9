"""What the page asks for: a study in the words of a study file, about a table that was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpgp.cli.failures import UsageError
from dpgp.cli.fit import ledger_of
from dpgp.cli.plan import with_usual_budget
from dpgp.cli.request import Request, request_of
from dpgp.cli.study import Study
from dpgp.cli.study_file import study_of
from dpgp.cli.study_text import study_text
from dpgp.ledger import Ledger
from dpgp.report.guarantee import title_of
from dpgp.studio.desk import Desk, OpenedTable

STUDY_FILE, MODEL_FILE = "study.yaml", "model.json"
OURS = ("data", "output", "ledger")
"""What the studio says itself, and no page."""


@dataclass(frozen=True)
class AskedStudy:
    """A study and its table; public, but for the place of the table."""

    table: OpenedTable
    study: Study

    @property
    def request(self) -> Request:
        """What a fit would be asked for."""
        request = request_of(self.study)
        self._check_columns(request)
        return request

    @property
    def request_to_plan(self) -> Request:
        """The same where no budget was chosen yet."""
        return request_of(with_usual_budget(self.study))

    @property
    def rows(self) -> int:
        """The number of rows, or a public guess."""
        if self.study.rows is None:
            raise UsageError("type how many rows the table has, or a public guess.")
        return self.study.rows

    @property
    def ledger(self) -> Ledger | None:
        """The budget that the fit spends from."""
        return ledger_of(self.study)

    @property
    def text(self) -> str:
        """The study file."""
        return study_text(self.study)

    @property
    def title(self) -> str:
        """What the study is called."""
        study = self.study
        features = [column.name for column in study.features or ()]
        categories = [column.name for column in study.categories or ()]
        targets = [column.name for column in study.targets or ()]
        targets += [] if study.classes is None else [study.classes.name]
        return study.title or title_of(targets, features + categories)

    def key(self, attempt: int) -> str:
        """Return what is the same for one fit, however many tabs ask for it."""
        parts = "\0".join([self.text, self.table.state, str(attempt)])
        return sha256(parts.encode()).hexdigest()

    def _check_columns(self, request: Request) -> None:
        absent = [name for name in request.names if name not in self.table.header.names]
        if absent:
            raise UsageError(f"'{self.table.name}' has no column '{absent[0]}'; choose another.")


def read_asked(body: Mapping[str, Any], desk: Desk, ledger: Ledger | None) -> AskedStudy:
    """Read what a page sends; an error with a remedy where it cannot be meant."""
    table, entries = desk.table(body.get("table")), body.get("study")
    if not isinstance(entries, dict):
        raise UsageError("the page sent no study; load it again.")
    said = {key: value for key, value in entries.items() if value not in ("", {}, None)}
    if set(OURS) & set(said):
        raise UsageError("the page asks for what the studio does not do; load it again.")
    study = study_of(Path(STUDY_FILE), said)
    return AskedStudy(
        table,
        replace(
            study,
            data=table.name if table.is_copy else str(table.path),
            output=Path(MODEL_FILE),
            ledger=None if ledger is None else ledger.path,
        ),
    )
