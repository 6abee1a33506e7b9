"""The certificate: what was released and what it guarantees, to be published with a model."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar

from dpgp import __version__
from dpgp import markup as cards
from dpgp.choices import RowsOfUnit
from dpgp.privacy.books import ApproximateRelease, Books, Event, GaussianRelease, Spent
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.rounding import sqrt_up, sum_up, text_down, text_up

if TYPE_CHECKING:
    from dpgp.privacy.noise import NoiseSource
    from dpgp.privacy.selection import SelectionBudget


@dataclass(frozen=True)
class Certificate:
    """The guarantee of a model, with every release behind it.

    ``mu`` is None where the guarantee is not one of Gaussian DP. ``rows_per_unit`` is how many rows
    of one person count, ``per_person`` whether rows were told apart by person at all, and
    ``rows_of_unit`` which of them count; the guarantee is about all rows of a person together,
    whichever count. ``members`` are the certificates of the releases that were pooled, if any.
    """

    HEADINGS: ClassVar = ("release", "numbers", "sensitivity", "noise sd", "μ")

    epsilon: float
    delta: float
    neighbours: Neighbours
    mu: float | None
    releases: tuple[Event, ...]
    seeded: bool
    rows_per_unit: int = 1
    per_person: bool = False
    rows_of_unit: RowsOfUnit = RowsOfUnit.FIRST
    provenance: Provenance | None = None
    members: tuple[Certificate, ...] = ()

    @classmethod
    def of_pool(cls, members: Sequence[Certificate]) -> Certificate:
        """Say what holds for somebody who is in all of several releases: their μ² add up.

        Whoever is in one of them has its own guarantee, since reading several together is
        post-processing of each. Where relations differ all is said of replaced units, which are
        removed and added: twice the μ. docs/proofs/pooled_releases.md
        """
        relations = {member.neighbours for member in members}
        twice = len(relations) > 1
        mus = [
            (2.0 if twice and member.neighbours is Neighbours.ADD_REMOVE else 1.0)
            * (math.inf if member.mu is None else member.mu)
            for member in members
        ]
        finite = all(map(math.isfinite, mus))
        mu = sqrt_up(sum((Fraction(mu) ** 2 for mu in mus), Fraction(0))) if finite else math.inf
        eta = sum_up((2.0 if twice else 1.0) * Spent.by(member.releases).eta for member in members)
        delta = max(member.delta for member in members)
        persons = all(member.protects_persons for member in members)
        return cls(
            epsilon=Spent(mu, eta, 0.0, 0.0).epsilon_at(delta),
            delta=delta,
            neighbours=Neighbours.REPLACE if twice else relations.pop(),
            mu=mu,
            releases=tuple(
                replace(release, label=f"release {k}: {release.label}")
                for k, member in enumerate(members, start=1)
                for release in member.releases
                if isinstance(release, GaussianRelease)
            ),
            seeded=any(member.seeded for member in members),
            rows_per_unit=max(member.rows_per_unit for member in members) if persons else 1,
            per_person=persons,
            rows_of_unit=members[0].rows_of_unit if persons else RowsOfUnit.FIRST,
            provenance=members[0].provenance,
            members=tuple(members),
        )

    @classmethod
    def from_books(
        cls,
        books: Books,
        source: NoiseSource,
        rows_per_unit: int = 1,
        per_person: bool = False,
        rows_of_unit: RowsOfUnit = RowsOfUnit.FIRST,
        ledger: str | None = None,
    ) -> Certificate:
        """Close the books: the budget that was asked for, and what was spent of it."""
        return cls(
            epsilon=books.epsilon,
            delta=books.delta,
            neighbours=books.neighbours,
            mu=books.spent_mu,
            releases=tuple(books.releases),
            seeded=not source.is_private,
            rows_per_unit=rows_per_unit,
            per_person=per_person,
            rows_of_unit=rows_of_unit,
            provenance=Provenance.of(source, ledger),
        )

    def of_failure(self, books: Books) -> Certificate:
        """Tell what was spent until a fit failed: the ε of what was booked, not of the budget."""
        return replace(self, epsilon=books.spent_epsilon())

    @classmethod
    def of_selection(
        cls, budget: SelectionBudget, neighbours: Neighbours, source: NoiseSource
    ) -> Certificate:
        """Charge one event for a selection, whatever the secret number of its runs."""
        epsilon, delta = budget.total
        return cls(
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            mu=None,
            releases=(ApproximateRelease(budget.statement, epsilon, delta),),
            seeded=not source.is_private,
            provenance=Provenance.of(source),
        )

    def of_study(self, study: StudyRecord | None) -> Certificate:
        """Return the certificate with the study file that the fit was told by, if there was one."""
        if study is None or self.provenance is None:
            return self
        return replace(self, provenance=replace(self.provenance, study=study))

    @property
    def study(self) -> StudyRecord | None:
        """The study file that the fit was told by."""
        return None if self.provenance is None else self.provenance.study

    @property
    def is_private(self) -> bool:
        """Whether the guarantee holds: noise was drawn, and from the secure generator."""
        return not self.seeded and math.isfinite(self.epsilon)

    def noise_of(self, label: str) -> float | None:
        """Return the largest noise of releases of this name, of sums over parts as over all rows.

        None where there were none.
        """
        found = (each for each in self.releases if isinstance(each, GaussianRelease))
        named = (each for each in found if each.label == label)
        return max(
            (each.noise_std * (1 if each.part is None else each.part.of) for each in named),
            default=None,
        )

    @property
    def title(self) -> str:
        """The guarantee in symbols, rounded up."""
        return f"({text_up(self.epsilon)}, {text_up(self.delta)})-differential privacy"

    @property
    def protects_persons(self) -> bool:
        """Whether a unit is a person with all of its rows, and not a single row."""
        return self.per_person or self.rows_per_unit > 1

    @property
    def unit(self) -> str:
        """What is protected."""
        if not self.protects_persons:
            return "one row"
        most = self.rows_per_unit
        counted = "one row counts" if most == 1 else f"at most {most} rows count"
        return f"one person, of whom {counted}"

    @property
    def relation(self) -> str:
        """The neighbouring relation and its unit, as a sentence."""
        neighbours = f"Neighbours: {self.neighbours.value} {self.unit}."
        return f"{neighbours} {self.rows_of_unit.words}" if self.protects_persons else neighbours

    @property
    def note(self) -> str:
        """What was spent, as a sentence for who has nothing else to show for it."""
        what = ", ".join(getattr(release, "label", str(release)) for release in self.releases)
        return (
            f"Spent by then: {self._statement()} Booked: {what}. It counts against the budget of "
            "these people, though there is no model."
        )

    def __str__(self) -> str:
        lines = [self._statement(), self.relation, *self.of_members]
        lines += [f"  {release}" for release in self.releases]
        lines += [] if self.study is None else [f"Study: {self.study}."]
        return "\n".join(lines)

    @property
    def of_members(self) -> list[str]:
        """What every release of a pooled model promises its own people, a line each."""
        return [
            f"Release {k} promises its own people: {member._statement()}"
            for k, member in enumerate(self.members, start=1)
        ]

    def _repr_html_(self) -> str:
        parts = [
            cards.paragraph(self._statement()),
            *map(cards.paragraph, self.of_members),
            cards.paragraph(self.relation),
            cards.table(self.HEADINGS, self.rows()),
        ]
        colour = cards.GOOD if self.is_private else cards.BAD
        return cards.card("Certificate", parts, colour)

    def rows(self) -> list[list[str]]:
        """Return the releases as text, under ``HEADINGS``."""
        return [
            [
                release.about,
                f"{release.coordinates:,}",
                text_up(release.sensitivity, 4),
                text_down(release.noise_std, 4),
                text_up(release.mu, 4),
            ]
            if isinstance(release, GaussianRelease)
            else [str(release), "", "", "", ""]
            for release in self.releases
        ]

    def _statement(self) -> str:
        if not math.isfinite(self.epsilon):
            return "NOT PRIVATE: no noise was added (epsilon is infinite)."
        guarantee = self.title
        if self.mu is not None:
            guarantee += f", mu = {text_up(self.mu)}"
        if self.members:
            guarantee += f", for somebody who is in all {len(self.members)} releases"
        if self.seeded:
            return f"NOT PRIVATE: a seeded simulation of {guarantee}."
        return f"{guarantee}."


@contextmanager
def spending_noted(books: Callable[[], Certificate]) -> Iterator[None]:
    """Add to whatever fails inside a note of what was spent by then, if anything was."""
    try:
        yield
    except BaseException as error:
        spent = books()
        if spent.releases:
            error.add_note(spent.note)
            error.spent = spent  # type: ignore[attr-defined]
        raise


PACKAGES = ("numpy", "scipy", "opendp")
"""Packages whose arithmetic or noise a release rests on."""


@dataclass(frozen=True)
class StudyRecord:
    """The study file that a fit was told by: SHA-256 of its bytes, and its own words for itself."""

    sha256: str
    title: str | None = None
    id: str | None = None

    @classmethod
    def of(cls, content: bytes, title: str | None = None, id: str | None = None) -> StudyRecord:
        """Describe a file by what was read of it."""
        return cls(sha256(content).hexdigest(), title, id)

    def __str__(self) -> str:
        names = [name for name in (self.title, self.id) if name is not None]
        return ", ".join([*names, f"study file with SHA-256 {self.sha256}"])


@dataclass(frozen=True)
class Provenance:
    """What a stranger must know to trust a release, besides its numbers.

    ``ledger`` is the link of the entry in a ledger that the fit was reserved by, if it was,
    and ``study`` the file that it was told by.
    """

    random_source: str
    versions: tuple[tuple[str, str], ...]
    ledger: str | None = None
    study: StudyRecord | None = None

    @classmethod
    def of(cls, source: NoiseSource, ledger: str | None = None) -> Provenance:
        """Describe this process."""
        packages = tuple((name, version(name)) for name in PACKAGES)
        return cls(
            random_source=source.name,
            versions=(("dpgp", __version__), ("python", platform.python_version()), *packages),
            ledger=ledger,
        )
