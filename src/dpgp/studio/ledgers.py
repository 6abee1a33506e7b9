"""The ledger of a studio: opened or created once, shown with its history; and files verified."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpgp.ledger import Ledger
from dpgp.ledger.words import (
    ENTRY_HEADINGS,
    GROUP_HEADINGS,
    entry_rows,
    group_rows,
    state,
    state_pairs,
)
from dpgp.plain_text import as_sentence
from dpgp.privacy.rounding import text_down
from dpgp.study.errors import UsageError
from dpgp.verify import verify
from dpgp.verify.file import ONLY_THE_SIGNER, PROVES

LOST = (
    "the ledger '{path}' is no longer there; bring it back from a copy, or choose another under "
    "“Ledger and checks”. What it has counted stays spent."
)
_SQLITE = b"SQLite format 3\0"


def ledger_values(ledger: Ledger | None, folder: Path) -> dict[str, Any]:
    """Return what a ledger says, newest entry first; of none or a lost one, where one could be."""
    lost = loss_of(ledger)
    if ledger is None or lost:
        return {"ledger": None, "suggested": str(folder / "study.ledger"), "lost": lost}
    about = state(ledger)
    return {
        "ledger": {
            "path": about["path"],
            "name": ledger.path.name,
            "pairs": state_pairs(about),
            "cap": about["epsilon"],
            "delta": about["delta"],
            "spent": about["spent_epsilon"],
            "left": about["fits_epsilon"],
            "left_in_words": text_down(about["fits_epsilon"], 3),
            "protects": about["protects"],
            "neighbours": about["neighbours"],
            "groups": list(about["groups"]),
            "group_table": {"headings": GROUP_HEADINGS, "rows": group_rows(about)},
            "history": {"headings": ENTRY_HEADINGS, "rows": entry_rows(ledger.entries())[::-1]},
            "head": about["head"],
            "warnings": about["warnings"],
        }
    }


def loss_of(ledger: Ledger | None) -> str:
    """Say that the file of a ledger is gone, if it is."""
    if ledger is None or ledger.path.is_file():
        return ""
    return as_sentence(LOST.format(path=ledger.path))


def chosen_ledger(body: Mapping[str, Any]) -> Ledger:
    """Open the ledger that a page names, or create it where a cap is given."""
    path = Path(_text(body, "path")).expanduser()
    if not body.get("create"):
        if not path.is_file():
            raise UsageError(f"there is no ledger '{path}'; type its whole path, or create one.")
        return Ledger(path)
    if path.exists():
        raise UsageError(f"'{path}' exists; open it, or name another file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    return Ledger(
        path,
        _number(body, "epsilon"),
        _number(body, "delta"),
        neighbours=_text(body, "neighbours"),
        protects=_text(body, "protects"),
    )


def verified(path: Path) -> dict[str, Any]:
    """Check a model or a ledger that was dropped on the page."""
    with path.open("rb") as file:
        is_ledger = file.read(len(_SQLITE)) == _SQLITE
    return _verified_ledger(path) if is_ledger else _verified_model(path)


def _verified_model(path: Path) -> dict[str, Any]:
    findings = verify(path)
    return {
        "kind": "model",
        "holds": all(finding.holds for finding in findings),
        "checks": [vars(finding) for finding in findings],
        "proves": PROVES,
        "not": ONLY_THE_SIGNER,
    }


def _verified_ledger(path: Path) -> dict[str, Any]:
    ledger = Ledger(path)
    ledger.check()
    pairs = state_pairs(state(ledger))
    checks = [
        {"question": "its chain of entries and their totals are right", "holds": True, "detail": ""}
    ]
    return {"kind": "ledger", "holds": True, "checks": checks, "pairs": pairs, "head": ledger.head}


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"`{name}` must be given.")
    return value.strip()


def _number(body: Mapping[str, Any], name: str) -> float:
    try:
        return float(_text(body, name))
    except ValueError:
        raise UsageError(f"`{name}` must be a number.") from None
