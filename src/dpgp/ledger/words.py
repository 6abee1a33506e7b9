"""A ledger in plain values for machines, and in words for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpgp.ledger.account import Account, Cap, Cost, epsilon_that_fits
from dpgp.ledger.ledger import Ledger
from dpgp.ledger.storage import LedgerEntry
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import text_down, text_up

ENTRY_HEADINGS = ("entry", "written", "what", "about", "ε", "δ", "link")
GROUP_HEADINGS = ("group", "spent ε", "a fit that fits, ε")
SIMULATIONS = (
    "{count} simulation(s) with seeded noise are entered: NOT PRIVATE, and not counted. This "
    "ledger promises nothing about what they showed."
)
MIXED = (
    "Other mechanisms than Gaussian ones are booked: the total holds if their ε and δ were not "
    "chosen after looking at earlier results."
)
UNFINISHED = "{count} fit(s) never ended: all that they had reserved counts as spent."


def state(ledger: Ledger) -> dict[str, Any]:
    """Return cap, what is spent of it, and what would still fit."""
    account = ledger.account()
    opened = account.opened
    return {
        "path": str(ledger.path),
        "epsilon": opened.epsilon,
        "delta": opened.delta,
        "neighbours": opened.neighbours.value,
        "protects": opened.protects,
        "spent_epsilon": account.cap.spent(account.worst()),
        "spent_mu": account.worst().mu,
        "fits_epsilon": epsilon_that_fits(account.mu_left(), opened.delta),
        "groups": {name: _group(account, name) for name in opened.disjoint},
        "unfinished": sum(not fit.simulation for fit in account.running.values()),
        "simulations": account.simulations,
        "warnings": _warnings(account),
        "head": ledger.head,
    }


def _group(account: Account, name: str) -> dict[str, float]:
    return {
        "spent_epsilon": account.cap.spent(account.worst(name)),
        "fits_epsilon": epsilon_that_fits(account.mu_left(name), account.opened.delta),
    }


def _warnings(account: Account) -> list[str]:
    unfinished = sum(not fit.simulation for fit in account.running.values())
    mixed = any(cost.others for cost in account.costs())
    found = [
        SIMULATIONS.format(count=account.simulations) if account.simulations else None,
        UNFINISHED.format(count=unfinished) if unfinished else None,
        MIXED if mixed else None,
    ]
    return [warning for warning in found if warning is not None]


def state_pairs(about: dict[str, Any]) -> list[list[str]]:
    """Return words and values of a ledger."""
    cap = f"ε = {text_up(about['epsilon'])} at δ = {text_up(about['delta'])}"
    fits = text_down(about["fits_epsilon"], 3)
    return [
        ["cap", cap],
        ["protects", f"one {about['protects']}, {Neighbours(about['neighbours']).change}"],
        ["spent", f"ε = {text_up(about['spent_epsilon'])}"],
        ["adds up", _adds_up(Cap(about["epsilon"], about["delta"]))],
        ["one more fit", f"ε = {fits} at the same δ" if about["fits_epsilon"] else "none fits"],
    ]


def _adds_up(cap: Cap) -> str:
    """Say why more fits than the cap holds by their ε: of two that have half of it each."""
    half = Cost.gaussian(mu_of_guarantee(cap.epsilon / 2, cap.delta), 0.0)
    return (
        f"by squares of μ, not by ε: two fits of ε = {text_up(cap.epsilon / 2)} spend "
        f"{text_up(cap.spent(half + half), 3)} of it together"
    )


def group_rows(about: dict[str, Any]) -> list[list[str]]:
    """Return a line for every group, under ``GROUP_HEADINGS``."""
    return [
        [name, text_up(group["spent_epsilon"]), text_down(group["fits_epsilon"], 3)]
        for name, group in about["groups"].items()
    ]


def ledger_line(ledger: Ledger) -> str:
    """Say in a line what is left of a ledger, before a fit spends from it."""
    account = ledger.account()
    spent, cap = account.cap.spent(account.worst(ledger.group)), account.cap
    return (
        f"{ledger.path.name}: ε = {text_up(spent)} of {text_up(cap.epsilon)} is spent at "
        f"δ = {text_up(cap.delta)}"
    )


def entry_values(entry: LedgerEntry) -> dict[str, Any]:
    """Return an entry in plain values."""
    return {"number": entry.number, "link": entry.link, **entry.body}


def entry_rows(entries: Sequence[LedgerEntry]) -> list[list[str]]:
    """Return a line for every entry, under ``ENTRY_HEADINGS``."""
    return [_entry_row(entry) for entry in entries]


def _entry_row(entry: LedgerEntry) -> list[str]:
    record = entry.body["record"]
    budget = [_number(record.get(name)) for name in ("epsilon", "delta")]
    return [
        str(entry.number),
        str(entry.body["written"]),
        _what(record),
        (record["partition"] or "everybody") if "partition" in record else "",
        *budget,
        entry.link[:12],
    ]


def _number(value: Any) -> str:
    return "" if value is None else text_up(float(value))


def _what(record: dict[str, Any]) -> str:
    match record["kind"]:
        case "opened":
            return "opened"
        case "reserved":
            kind = "SIMULATION, NOT PRIVATE, of a fit" if record["simulation"] else "fit"
            return f"{kind} {record['fit'][:6]} reserved, {len(record['planned'])} releases"
        case "closed":
            released = len(record["releases"])
            return f"fit {record['fit'][:6]} {record['outcome']}, {released} releases"
    return str(record["label"])
