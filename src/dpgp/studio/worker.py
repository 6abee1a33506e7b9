"""A fit in a process of its own: ``python -m dpgp.studio.worker FOLDER TABLE``.

Reads the study file of the folder and does what ``dpgp fit --study`` does. Says on standard output,
a line of JSON at a time, which step it is at and how it ended. Stops like at Ctrl-C when its
standard input ends: because the fit was cancelled, or because the studio is no more.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from dpgp.cli.fit import checked_source, fit_study, of_study, read_rows, save_model
from dpgp.cli.output import notes_of
from dpgp.privacy.books import BudgetError
from dpgp.progress import Journey, every, watching
from dpgp.report.guarantee import title_of
from dpgp.studio.asked import MODEL_FILE, STUDY_FILE, refused_by_system, write_papers
from dpgp.study.errors import Face, said
from dpgp.study.file import with_study_file
from dpgp.study.study import Study

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

READING, WRITING = "Reading the table", "Writing the report"
A_FAULT = "Something failed that should not have; a terminal shows where: dpgp fit --study."
PAUSE = 1.0  # seconds between two words about how far a fit is
IN_WORDS = (ValueError, TypeError, BudgetError)


class Voice:
    """Lines of JSON to whoever started this process."""

    def __init__(self) -> None:
        self.spends = False
        self._turn = Lock()
        self._lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def say(self, **event: Any) -> None:
        """Say one thing."""
        self.spends = self.spends or "spends" in event
        with self._turn:
            self._lines.write(json.dumps(event) + "\n")
            self._lines.flush()


@contextmanager
def interrupted_with_input() -> Iterator[None]:
    """Raise KeyboardInterrupt inside when standard input ends."""
    from _thread import interrupt_main

    over = Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        if not over.is_set():
            interrupt_main()

    Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def fitted(folder: Path, table: str, voice: Voice) -> tuple[FittedModel, str]:
    """Fit the study of a folder and save its model, as the command line does."""
    study = with_study_file(Study(data=table), folder / STUDY_FILE)
    ledger = study.purse
    study.check()
    voice.say(step=READING)
    rows = read_rows(checked_source(study), study)
    journey = Journey(lambda step: voice.say(step=step, spends=True))
    with watching(journey), every(PAUSE, lambda: voice.say(**_how_far(journey))):
        model = of_study(fit_study(study, rows, ledger), study)
    folder.mkdir(parents=True, exist_ok=True)  # who removed it did not get back what was spent
    save_model(model, folder / MODEL_FILE)
    return model, study.title or title_of(model.predicted_names, model.input_names)


def _how_far(journey: Journey) -> dict[str, float | None]:
    return {"share": journey.share, "left": journey.seconds_left}


def main(folder: Path, table: str) -> None:
    """Fit, write the papers, and say how it ended."""
    voice = Voice()
    try:
        with interrupted_with_input():
            model, title = fitted(folder, table, voice)
        voice.say(step=WRITING, saved=True)
        write_papers(model, title, folder)
        voice.say(health=list(model.health), ended="done")
    except KeyboardInterrupt as stopped:
        voice.say(ended="stopped", notes=notes_of(stopped))
    except BaseException as error:
        voice.say(ended="failed", message=_message(error, voice.spends), notes=notes_of(error))


def _message(error: BaseException, spends: bool) -> str:
    """Return what a user can mend; once rows were asked, a text may be about them."""
    if isinstance(error, OSError):
        return refused_by_system(error)
    return said(error, Face.PAGE) if isinstance(error, IN_WORDS) and not spends else A_FAULT


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
