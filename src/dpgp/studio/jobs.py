"""Fits of a studio, each in a process of its own, and none of them twice."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from dpgp.plain_text import as_sentence
from dpgp.privacy.rounding import text_up
from dpgp.progress import duration
from dpgp.studio.asked import MODEL_FILE, PAPERS, SCRIPT, STUDY_FILE, AskedStudy
from dpgp.studio.consents import planned_releases
from dpgp.study.errors import UsageError
from dpgp.study.script import script_of

WORKER = (sys.executable, "-P", "-m", "dpgp.studio.worker")  # -P: no module of the folder it is in
NOTHING_SPENT = "Nothing was spent."
UNKNOWN = "It did not say what it had spent:"
UNENDED = "This fit did not say how it ended. Where there is no model beside this file,"
ALL_OF_IT = "count all of it, ε = {epsilon} at δ = {delta}, against the budget of these people."
SPENT = "spent.txt"
NO_WORD = {
    "ended": "failed",
    "message": "The fit ended without a word, perhaps for want of memory.",
}
WITH_LEDGER = " The ledger counts it."
GONE = "is no longer in {folder}; bring it back from a copy."
ITS_FILES_ARE_GONE = "The model {gone} What it spent stays spent: {all_of_it}"
NOT_KEPT = "This could not be written to {folder}: keep these words."


@dataclass
class FitJob:
    """One fit: what it is about, how far it is, and how it ended."""

    key: str
    asked: AskedStudy
    folder: Path
    releases: int
    status: str = "running"
    step: str = "Starting"
    released: int = 0
    share: float | None = None
    left: float | None = None
    saved: bool = False
    message: str = ""
    health: list[str] = field(default_factory=list)
    last_words: Mapping[str, Any] = field(default_factory=lambda: NO_WORD)
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the fit goes on, also where it was told to stop."""
        return self.status in ("running", "stopping")

    def values(self) -> dict[str, Any]:
        """Return what a page shows."""
        if self.is_running:
            self.seconds = time.monotonic() - self.started
        epsilon, delta = map(text_up, (self.asked.options.epsilon, self.asked.options.delta))
        return {
            "key": self.key,
            "title": self.asked.title,
            "status": self.status,
            "step": self.step,
            "released": self.released,
            "releases": self.releases,
            "share": self.share,
            "left": None if self.left is None else duration(self.left),
            "seconds": round(self.seconds, 1),
            "message": " ".join(filter(None, [as_sentence(self.message), self.loss])),
            "health": self.health,
            "guarantee": f"({epsilon}, {delta})-differential privacy",
            "folder": str(self.folder),
            "papers": [
                {"name": paper.name, "what": paper.what}
                for paper in PAPERS
                if self.saved and (self.folder / paper.name).is_file()
            ],
        }

    @property
    def loss(self) -> str:
        """What to say of a fit whose model somebody has removed since."""
        if not self.saved or self.is_running or (self.folder / MODEL_FILE).is_file():
            return ""
        gone = GONE.format(folder=self.folder)
        return ITS_FILES_ARE_GONE.format(gone=gone, all_of_it=_all_of_it(self.asked))

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take in what the worker says."""
        self.step = event.get("step", self.step)
        self.share, self.left = event.get("share", self.share), event.get("left", self.left)
        self.saved = self.saved or "saved" in event
        if "spends" in event:
            self.released += 1
        if "ended" in event:
            self.last_words = event

    def words(self) -> str:
        """Say how it ended, and what was spent if there is no model to show for it."""
        unknown = f"{UNKNOWN} {_all_of_it(self.asked)}"
        spent = unknown if self.may_have_spent else NOTHING_SPENT
        notes = list(self.last_words.get("notes", ())) or [spent]
        said = self.last_words.get("message", "")
        text = " ".join([said, *([] if self.saved else notes)]).strip()
        return text.replace(str(self.asked.table.path), self.asked.table.name)

    def end(self, is_kept: bool) -> None:
        """Take what the worker said last for the end; the only record where no file keeps it."""
        self.seconds = time.monotonic() - self.started
        not_kept = "" if is_kept else NOT_KEPT.format(folder=self.folder)
        self.message = f"{self.words()} {not_kept}".strip()
        self.health = self.last_words.get("health", [])
        self.status = "done" if self.saved else self.last_words["ended"]

    @property
    def may_have_spent(self) -> bool:
        """Whether anything can have been booked.

        A step is named before it is booked: one that is named second means that the first was. Who
        dies without a word may have booked the first.
        """
        spoke = self.last_words is not NO_WORD
        booked = self.released > (1 if spoke and self.releases > 1 else 0)
        return booked or bool(self.last_words.get("notes"))


class Jobs:
    """All fits of a studio, one at a time, by a key that is the same for one consent."""

    def __init__(self, folder: Path, worker: Sequence[str] = WORKER) -> None:
        self.folder = folder
        self._worker = worker
        self._jobs: dict[str, FitJob] = {}
        self._running: dict[str, tuple[subprocess.Popen[str], Thread]] = {}
        self._lock = Lock()

    def all(self) -> list[FitJob]:
        """Return all fits, the newest first."""
        return list(self._jobs.values())[::-1]

    def job(self, key: str) -> FitJob:
        """Return a fit."""
        if key not in self._jobs:
            raise UsageError("there is no such fit; start again.")
        return self._jobs[key]

    def key_of(self, asked: AskedStudy) -> str:
        """Return the key that a consent to a study has until the fit has ended."""
        return asked.key(self.ended_before(asked))

    def ended_before(self, asked: AskedStudy) -> int:
        """Return how often the same study was fitted here, and ended."""
        return sum(not job.is_running and job.asked == asked for job in self.all())

    def start(self, asked: AskedStudy, key: str) -> FitJob:
        """Start a fit that was consented to; where it was started already, return that."""
        with self._lock:
            if key in self._jobs:
                return self._jobs[key]
            if key != self.key_of(asked):
                raise UsageError(
                    "this is not what was consented to: the study, the file or the ledger has "
                    "changed since. Read the consent again."
                )
            if self._running:
                raise UsageError("another fit is running; wait for its end, or cancel it.")
            releases = len(planned_releases(asked.options, asked.rows))
            job = FitJob(key, asked, self._new_folder(asked), releases)
            self._start_process(job)
            self._jobs[key] = job
            return job

    def cancel(self, key: str) -> FitJob:
        """Tell a fit to stop; it ends with what it has spent."""
        job = self.job(key)
        with self._lock:
            if key in self._running and job.status == "running":
                job.status = "stopping"
                stdin = self._running[key][0].stdin
                if stdin is not None:
                    stdin.close()
        return job

    def stop(self) -> list[FitJob]:
        """Tell all fits that run to stop, and return them."""
        running = [job for job in self.all() if job.is_running]
        for job in running:
            self.cancel(job.key)
        return running

    def close(self) -> None:
        """Stop what runs, and wait for it."""
        self.stop()
        with self._lock:
            threads = [thread for _, thread in self._running.values()]
        for thread in threads:
            thread.join()

    def _new_folder(self, asked: AskedStudy) -> Path:
        """Make the folder of a study, before anything is spent."""
        day = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
        slug = re.sub(r"[\W_]+", "-", asked.title.casefold()).strip("-")[:40] or "study"
        folder = self.folder / f"{day}-{slug}"
        folder.mkdir(parents=True)
        _write_study(asked, folder)
        # what is true of a fit whose studio is killed, written before anything is spent
        (folder / SPENT).write_text(f"{UNENDED} {_all_of_it(asked)}\n", encoding="utf-8")
        return folder

    def _start_process(self, job: FitJob) -> None:
        process = subprocess.Popen(
            [*self._worker, str(job.folder), str(job.asked.table.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C in the terminal reaches it through the studio alone
        )
        thread = Thread(target=self._listen, args=(job, process), daemon=True)
        self._running[job.key] = (process, thread)
        thread.start()

    def _listen(self, job: FitJob, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process:
            for line in process.stdout:
                with suppress(ValueError):  # a worker that is killed leaves half a line
                    job.hear(json.loads(line))
        with self._lock:
            del self._running[job.key]
            self._end(job)

    def _end(self, job: FitJob) -> None:
        """End a fit, whatever has become of its folder."""
        try:
            _leave(job)
        except OSError:
            job.end(is_kept=False)
        else:
            job.end(is_kept=True)


def _leave(job: FitJob) -> None:
    """Leave model or words about what was spent beside the study, or nothing of a fit that is free.

    A folder that somebody removed is made again.
    """
    spent = job.folder / SPENT
    if not job.saved and not job.may_have_spent:
        shutil.rmtree(job.folder, ignore_errors=True)
        return
    if not (job.folder / STUDY_FILE).exists():
        job.folder.mkdir(parents=True, exist_ok=True)
        _write_study(job.asked, job.folder)
    if job.saved:
        spent.unlink(missing_ok=True)
    else:
        spent.write_text(f"{job.words()}\n", encoding="utf-8")


def _write_study(asked: AskedStudy, folder: Path) -> None:
    """Write what is fitted, as a study file and as a script."""
    script = script_of(asked.study, asked.title, MODEL_FILE)
    for name, text in ((STUDY_FILE, asked.text), (SCRIPT, script)):
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _all_of_it(asked: AskedStudy) -> str:
    options = asked.options
    words = ALL_OF_IT.format(epsilon=text_up(options.epsilon), delta=text_up(options.delta))
    return words + (WITH_LEDGER if asked.study.ledger is not None else "")
