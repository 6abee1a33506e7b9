"""Wrong ways to ask, each done for real: what was said, when, and what it spent.

A table of 8,000 simulated people, ε = 1, δ = 1e-6. A mistake is refused before anything is spent,
ends a fit early, is warned of before the fit, or spoken of after it; silence would be a fault.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from dpgp.cli.output import TextTable
from dpgp.ledger.tally import TALLY
from dpgp.model.fitted import OutsideBoundsWarning
from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.report.health import LOOKS_WRONG, HealthWarning
from dpgp.report.style import BLUE, panels, styled
from dpgp_experiments.mistake_list import (
    DELTA,
    EPSILON,
    MISTAKES,
    ROWS,
    SEED_LEFT_IN,
    Asking,
    Heard,
    Mistake,
    people,
)
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.tables import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERROR = "Error: "
STARTS = ("Yes or no?", "Read from the data?", "Weak guarantee:")
"""How lines of the command line start that warn before a fit."""

AFTERWARDS = (HealthWarning, OutsideBoundsWarning)
"""Warnings of a model, once it is there or is asked."""

FOLDER = rf"{re.escape(tempfile.gettempdir())}/[^/]+/"
"""What paths start with: nobody else has such a folder."""

LONGEST = 170
"""Characters of what was said that a table shows."""


class When(StrEnum):
    """When a mistake was spoken of."""

    REFUSED = "refused"
    ENDED = "ended early"
    BEFORE = "warned before"
    AFTER = "said after"
    SILENT = "SILENT"


@dataclass(frozen=True)
class WhatWasSaid:
    """A mistake, when it was spoken of, all that was said, and what was spent."""

    mistake: Mistake
    when: When
    said: tuple[str, ...]
    epsilon: float

    @property
    def first(self) -> str:
        """The first sentence, without what is said before every list of what looks wrong."""
        text = " ".join(" ".join(self.said[:1]).removeprefix(LOOKS_WRONG).split())
        sentence = re.split(r"(?<=[.]) (?=[A-Z])", text)[0]
        return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1].rstrip()}…"


def run(assignment: Assignment) -> Outcome:
    """Make every mistake once."""
    found = [made(mistake, assignment.seed) for mistake in assignment.track(MISTAKES)]
    return Outcome([_record(told) for told in found], _table(found), _draw(found))


def made(mistake: Mistake, seed: int) -> WhatWasSaid:
    """Make a mistake, and listen."""
    TALLY.forget()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        desk = Asking(people(seed), Path(folder), seed)
        try:
            mistake.do(desk)
        except Exception as error:
            ending: Exception | None = error
        else:
            ending = None
    if desk.heard:
        return _of_command(mistake, desk.heard[-1])
    heard = [each for each in caught if _counts(each.category, mistake)]
    after = [str(each.message) for each in heard if issubclass(each.category, AFTERWARDS)]
    before = [str(each.message) for each in heard if not issubclass(each.category, AFTERWARDS)]
    return _told(mistake, ending, before, after, _spent(desk, ending))


def _counts(category: type[Warning], mistake: Mistake) -> bool:
    """Return whether a warning is ours, and not about the seed that makes this repeatable."""
    if issubclass(category, SeededNoiseWarning):
        return mistake.what == SEED_LEFT_IN
    return category.__module__.startswith("dpgp.")


def _told(
    mistake: Mistake,
    ending: Exception | str | None,
    before: Sequence[str],
    after: Sequence[str],
    epsilon: float,
) -> WhatWasSaid:
    if ending is not None:
        when = When.ENDED if epsilon else When.REFUSED
    else:
        when = When.BEFORE if before else When.AFTER if after else When.SILENT
    said = ([] if ending is None else [str(ending)]) + [*before, *after]
    return WhatWasSaid(mistake, when, tuple(re.sub(FOLDER, "", text) for text in said), epsilon)


def _spent(desk: Asking, ending: Exception | None) -> float:
    """Return ε of what fits have released together."""
    if TALLY.fits:
        return TALLY.cost.epsilon_at(DELTA)
    booked = getattr(ending, "spent", None)
    if booked is not None:
        return float(booked.epsilon)
    fitted = [gp for gp in desk.fitted if hasattr(gp, "model_")]
    return float(fitted[-1].certificate_.epsilon) if fitted else 0.0


def _of_command(mistake: Mistake, heard: Heard) -> WhatWasSaid:
    """Return what a command said: an error, or lines before its forecast and below its model."""
    lines = heard.text.splitlines()
    if heard.failed:
        (error,) = (line.removeprefix(ERROR) for line in lines if line.startswith(ERROR))
        spent = re.search(r"Spent by then: \(([0-9.e-]+)", error)
        return _told(mistake, error, (), (), float(spent.group(1)) if spent else 0.0)
    before = [line.split(start)[1].strip() for line in lines for start in STARTS if start in line]
    after = () if heard.model is None else heard.model.health
    epsilon = 0.0 if heard.model is None else float(heard.model.certificate.epsilon)
    return _told(mistake, None, before, after, epsilon)


def _record(told: WhatWasSaid) -> Record:
    return {
        "kind": told.mistake.kind,
        "mistake": told.mistake.what,
        "when": told.when.value,
        "spent_epsilon": told.epsilon,
        "said": told.first,
    }


def _table(found: Sequence[WhatWasSaid]) -> TextTable:
    counts = ", ".join(f"{sum(told.when is when for told in found)} {when.value}" for when in When)
    return TextTable(
        title=f"{len(found)} wrong ways to ask",
        headings=("mistake", "when", "ε spent", "the first words"),
        rows=[
            [told.mistake.what, told.when.value, f"{told.epsilon:.2g}", told.first]
            for told in found
        ],
        caption=f"{ROWS:,} simulated people, ε = {EPSILON:g}, δ = {DELTA:g}: {counts}.",
    )


@styled
def _draw(found: Sequence[WhatWasSaid]) -> Figure:
    """Draw what mistakes spent, by when they were spoken of."""
    figure, [[axis]] = panels(1, 1, (6.0, 3.0))
    for place, when in enumerate(When):
        spent = [told.epsilon for told in found if told.when is when]
        axis.plot(spent, [place] * len(spent), "o", ms=4, alpha=0.5, color=BLUE)
    axis.set_yticks(range(len(When)), [when.value for when in When])
    axis.set(xlabel="ε spent", xscale="symlog")
    return figure
