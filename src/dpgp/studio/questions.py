"""What pages may ask of a studio, and what they are answered: public things, all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from dpgp.ledger import Ledger
from dpgp.studio.asked import PAPERS, AskedStudy, Paper, read_asked
from dpgp.studio.consents import consent, epsilon_for, forecasts, told_of
from dpgp.studio.desk import Desk, OpenedTable
from dpgp.studio.jobs import GONE, Jobs
from dpgp.studio.ledgers import chosen_ledger, ledger_values
from dpgp.study.errors import UsageError

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
        if paper is None or not job.saved:
            raise UsageError("there is no such file; choose one of the fit's page.")
        if not (job.folder / name).is_file():
            raise UsageError(f"'{name}' {GONE.format(folder=job.folder)}")
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
    columns = [{"name": name, "hint": known_of(name)} for name in table.header.names]
    return {"table": table.key, "name": table.name, "columns": columns}


def _bounds(low: float, high: float, why: str) -> Values:
    return {"low": low, "high": high, "why": why}


def _levels(levels: tuple[str, str], why: str) -> Values:
    return {"levels": list(levels), "why": why}


KNOWN: tuple[tuple[str, Values], ...] = (
    (r"age months|months old", _bounds(0, 240, "months from birth to 20 years")),
    (r"age|alter|ikä", _bounds(0, 110, "years; hardly anybody is older")),
    (r"height.*m\b|height|stature|size cm|groesse|größe|pituus",
     _bounds(40, 220, "cm, from newborns to very tall adults")),
    (r"weight|mass kg|gewicht|paino", _bounds(0, 250, "kg; most scales end there")),
    (r"bmi|body mass", _bounds(10, 70, "kg/m², the range of clinical tables")),
    (r"waist|hip", _bounds(30, 200, "cm; the length of a measuring tape")),
    (r"systolic|sbp", _bounds(60, 260, "mmHg; the scale of a cuff")),
    (r"diastolic|dbp", _bounds(30, 160, "mmHg; the scale of a cuff")),
    (r"pulse|heart rate", _bounds(30, 220, "beats a minute")),
    (r"temperature|temp", _bounds(34, 43, "°C, the scale of a clinical thermometer")),
    (r"hba1c", _bounds(3, 18, "%, what laboratories report")),
    (r"glucose", _bounds(0, 600, "mg/dl, the scale of a home meter")),
    (r"cholesterol|ldl|hdl|triglyceride", _bounds(0, 600, "mg/dl, what laboratories report")),
    (r"percent|pct|share|proportion of", _bounds(0, 100, "per cent")),
    (r"fraction|probability", _bounds(0, 1, "a fraction")),
    (r"month", _bounds(1, 12, "months of a year")),
    (r"weekday|day of week", _bounds(1, 7, "days of a week")),
    (r"hour", _bounds(0, 24, "hours of a day")),
    (r"year", _bounds(1900, 2030, "years in which somebody alive was born or measured")),
    (r"latitude|lat", _bounds(-90, 90, "degrees")),
    (r"longitude|lon|lng", _bounds(-180, 180, "degrees")),
    (r"sex|gender|geschlecht|sukupuoli", _levels(("F", "M"), "as many questionnaires code it")),
    (r"smoker|smoking|diabetic|treated|insured|employed|.*yes no",
     _levels(("no", "yes"), "as many questionnaires code it")),
)  # fmt: skip
"""Bounds and levels that everybody knows, by the name of a column; never read from a table: what is
written here was known before anybody was measured."""


def known_of(name: str) -> Values | None:
    """Return what is public knowledge of a column that is called so, if anything is."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = re.sub(r"[\W_]+", " ", words).strip().casefold()
    return next((what for pattern, what in KNOWN if re.search(rf"\b(?:{pattern})\b", words)), None)
