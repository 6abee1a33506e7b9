"""What a ledger has of models that are read together: their entries, and what somebody has spent.

A model names the link of the entry that its fit was reserved by. Whose budgets add up is what the
entries are about: groups that were declared disjoint have nobody in common. A ledger is for its
curators, so that nothing of this is kept in a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpgp.ledger.ledger import Ledger
from dpgp.ledger.records import Reserved, record_from_json
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.rounding import text_up

EVERYBODY = "the people of this ledger"


@dataclass(frozen=True)
class Entered:
    """The entry of one release; ``number`` is None where it is in no entry."""

    number: int | None
    group: str | None = None
    simulation: bool = False

    def words(self, release: str) -> str:
        """Say where a release is."""
        if self.number is None:
            return f"{release} is not in it, and what it cost comes on top."
        about = "" if self.group is None else f", about {self.group}"
        uncounted = "; a simulation, which is not counted" if self.simulation else ""
        return f"{release} is its entry {self.number}{about}{uncounted}."


@dataclass(frozen=True)
class ToldOf:
    """Every release's entry, and the ε at the ledger's δ of all that was spent on whom.

    ``spent`` has one ε for every group that releases are about; all entries of the ledger count,
    also those of other models.
    """

    ledger: str
    cap: float
    delta: float
    releases: tuple[Entered, ...]
    spent: Mapping[str, float]

    @property
    def words(self) -> str:
        """All of it in sentences."""
        names = ["The release"]
        if len(self.releases) > 1:
            names = [f"Release {k}" for k in range(1, len(self.releases) + 1)]
        said = [each.words(name) for name, each in zip(names, self.releases, strict=True)]
        said += [
            f"Of {whom} somebody has spent at most ε = {text_up(epsilon)} of {text_up(self.cap)} "
            f"at δ = {text_up(self.delta)}, with all that stands there."
            for whom, epsilon in self.spent.items()
        ]
        if len(self.spent) > 1:
            said.append("Nobody is in two of these groups, as was declared.")
        return f"{self.ledger}: {' '.join(said)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "path": self.ledger,
            "entries": [each.number for each in self.releases],
            "groups": [each.group for each in self.releases],
            "spent_epsilon": dict(self.spent),
            "delta": self.delta,
        }


def told_of(ledger: Ledger, certificate: Certificate) -> ToldOf:
    """Look up the releases behind a certificate: its members, or itself."""
    entered = _entries(ledger, certificate.members or (certificate,))
    account = ledger.account()
    found = [each for each in entered if each.number is not None]
    groups = dict.fromkeys(each.group for each in found)
    # who is in a release about everybody may be in any group
    asked: Sequence[str | None] = (None,) if None in groups else tuple(groups)
    return ToldOf(
        ledger.path.name,
        account.cap.epsilon,
        account.cap.delta,
        entered,
        {group or EVERYBODY: account.cap.spent(account.worst(group)) for group in asked},
    )


def _entries(ledger: Ledger, releases: Sequence[Certificate]) -> tuple[Entered, ...]:
    """Return where every release is reserved: by the link that it names, for what it promises."""
    reserved: dict[str | None, tuple[int, Reserved]] = {}
    for entry in ledger.entries():
        record = record_from_json(entry.body["record"])
        if isinstance(record, Reserved):
            reserved[entry.link] = entry.number, record
    found = []
    for release in releases:
        link = None if release.provenance is None else release.provenance.ledger
        number, fit = reserved.get(link, (0, None))
        if fit is None or (fit.epsilon, fit.delta) != (release.epsilon, release.delta):
            found.append(Entered(None))
        else:
            found.append(Entered(number, fit.partition, fit.simulation))
    return tuple(found)
