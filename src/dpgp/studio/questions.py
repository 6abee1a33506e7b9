"""What pages may ask of a studio, and what they are answered: public things, all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from dpgp.cli.failures import UsageError
from dpgp.ledger import Ledger
from dpgp.studio.asked import AskedStudy, read_asked
from dpgp.studio.consents import consent
from dpgp.studio.desk import Desk, OpenedTable
from dpgp.studio.forecasts import epsilon_for, forecasts, told_of
from dpgp.studio.jobs import Jobs
from dpgp.studio.knowledge import as_hint
from dpgp.studio.ledgers import chosen_ledger, ledger_values
from dpgp.studio.papers import PAPERS, Paper

Body = Mapping[str, Any]
Values = dict[str, Any]


class Studio:
    """Everything that pages may ask for."""

    def __init__(self, desk: Desk, jobs: Jobs, ledger: Ledger | None = None) -> None:
        self.desk, self.jobs, self.ledger = desk, jobs, ledger
        self._planning = Lock()

    def open_path(self, body: Body) -> Values:
        """Open a table of this machine by its path."""
        path = body.get("path")
        if not isinstance(path, str):
            raise UsageError("type the path of a file.")
        return table_values(self.desk.open_path(path))

    def forecast(self, body: Body) -> Values:
        """Return what ε buys."""
        with self._planning:
            return forecasts(self._asked(body), body)

    def epsilon(self, body: Body) -> Values:
        """Return the ε that an accuracy needs."""
        with self._planning:
            return epsilon_for(self._asked(body), body)

    def consent(self, body: Body) -> Values:
        """Return what will be public, and the key of a consent to it."""
        asked = self._asked(body)
        found = consent(asked, told_of(body), self.jobs.folder)
        before = self.jobs.ended_before(asked)
        return {**found, "key": self.jobs.key_of(asked), "before": before}

    def fit(self, body: Body) -> Values:
        """Start a fit, or return the one that was started with the same key."""
        return self.jobs.start(self._asked(body), str(body.get("key"))).values()

    def job(self, body: Body) -> Values:
        """Return how far a fit is."""
        return self.jobs.job(str(body.get("key"))).values()

    def cancel(self, body: Body) -> Values:
        """Stop a fit."""
        return self.jobs.cancel(str(body.get("key"))).values()

    def list_jobs(self, _: Body) -> Values:
        """Return all fits of this studio."""
        return {"jobs": [job.values() for job in self.jobs.all()], "folder": str(self.jobs.folder)}

    def show_ledger(self, _: Body) -> Values:
        """Return what the ledger says."""
        return ledger_values(self.ledger, self.jobs.folder)

    def choose_ledger(self, body: Body) -> Values:
        """Open or create the ledger that fits spend from."""
        self.ledger = chosen_ledger(body)
        return ledger_values(self.ledger, self.jobs.folder)

    def forget_ledger(self, _: Body) -> Values:
        """Spend from no ledger."""
        self.ledger = None
        return ledger_values(None, self.jobs.folder)

    def paper(self, key: str, name: str) -> tuple[Path, Paper]:
        """Return a file of a fit, and what it is."""
        job = self.jobs.job(key)
        paper = next((each for each in PAPERS if each.name == name), None)
        if paper is None or not job.saved or not (job.folder / name).is_file():
            raise UsageError("there is no such file.")
        return job.folder / name, paper

    def close(self) -> None:
        """Stop fits that run, and remove all copies of tables."""
        try:
            self.jobs.close()
        finally:
            self.desk.close()

    def _asked(self, body: Body) -> AskedStudy:
        return read_asked(body, self.desk, self.ledger)


def table_values(table: OpenedTable) -> Values:
    """Return what a page may know of a table: its name and its header."""
    columns = [{"name": name, "hint": as_hint(name)} for name in table.header.names]
    return {"table": table.key, "name": table.name, "columns": columns}
