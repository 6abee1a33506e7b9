"""What a step of a fit asks, what it may spend, and what every step can do.

A query is a public function of one row, and how it is summed: the wall evaluates it, adds noise for
its sensitivity, and answers with released values. A fit is a loop over steps, and so is a forecast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from dpgp.choices import Passes
from dpgp.features.base import FeatureMap
from dpgp.features.inputs import RowValues
from dpgp.inference.many.plan import Deal, deal_of, parts_of_calibration
from dpgp.options import STAGES, Options
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.mechanism import GramNoise, gram_noise
from dpgp.privacy.parts import RowPart, dearest
from dpgp.privacy.sensitivity import histogram_sensitivity
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.steps.known import Known


Values = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class CountQuery:
    """How many rows can be used, and how many cells of columns of levels are one of them.

    ``columns`` is how many such columns there are, those of the inputs first; none are asked by
    default. ``squares`` asks, next to the rows, for the sum of their squared weights.
    """

    columns: int = 0
    squares: bool = False

    @property
    def numbers(self) -> int:
        """How many numbers are asked for; of each a row adds one at most."""
        return 1 + self.squares + self.columns


@dataclass(frozen=True)
class HistogramQuery:
    """Histograms side by side, in each of which a row falls into one bin.

    ``values_of`` maps the inputs (rows, columns) and scaled targets (targets, rows) of a block to
    values (histograms, rows), which are counted between the inner ``edges``; rows that cannot be
    used fall into no bin. ``filler`` is a public row that stands in for padding.
    """

    values_of: Values
    histograms: int
    edges: Array
    filler: Array


@dataclass(frozen=True)
class GramQuery:
    r""":math:`\sum\psi\psi^\top` of features and values in [−1, 1], :math:`\psi = (\phi, s\,r)`.

    Of the products of features only those of the ``leading`` ones are wanted, where it is said:
    what nobody reads needs no noise. Values that are ``joint`` have a norm of at most one together,
    and add up to nothing.
    """

    features: FeatureMap
    residuals: RowValues
    leading: int | None = None
    joint: bool = False


Query = CountQuery | HistogramQuery | GramQuery


SHARE_DIGITS = 4  # of the rows in a bin, which a model keeps to tell whether bounds are right


def count_noise(options: Options, histograms: int, mu: float) -> float:
    """Return the standard deviation of the noise on a count of so many histograms together."""
    sensitivity = histogram_sensitivity(histograms, options.neighbours, options.max_rows_per_unit)
    return gaussian_sigma(sensitivity, mu)


def noise_of_gram(options: Options, mu: float) -> GramNoise:
    """Return the noise on a Gram matrix of features and all targets, of weight one together.

    At this weight the noise on the sums with the targets is that of releasing them alone. Classes
    of one target have a norm of at most one together, as if they were one.
    """
    targets = options.bounded_targets
    return gram_noise(
        mu,
        1.0 / math.sqrt(targets),
        targets,
        options.neighbours,
        options.max_rows_per_unit,
    )


def gram_noise_stds(options: Options, mu: float) -> list[float]:
    """Return all standard deviations of a Gram matrix."""
    return noise_of_gram(options, mu).matrix(1, 1).ravel().tolist()


TYPICAL_ROWS = 2000  # stands in for a number of rows that is private: that of a survey


@dataclass(frozen=True)
class Purse:
    """A budget μ for a fit of ``public_rows`` rows, None where their number is private.

    ``left`` is the part of μ² that steps with a price of their own leave to the stages.
    """

    options: Options
    mu: float
    public_rows: float | None
    left: float = 1.0

    @property
    def rows(self) -> float:
        """The number of rows that shares are chosen for: a fixed one where it is private."""
        return TYPICAL_ROWS if self.public_rows is None else self.public_rows

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return self.options.columns

    @property
    def signal(self) -> float:
        """nμ over the rows of a unit: how many rows stand out of the noise of a count."""
        return self.rows * self.mu / self.options.max_rows_per_unit

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing has a price (ε = ∞)."""
        return math.isinf(self.mu)

    @property
    def deal(self) -> Deal | None:
        """How many stages ask all rows, where the others ask parts; None where all do.

        Parts pay where rows are many, so their number must be public.
        """
        is_default = self.options.stages == STAGES
        return deal_of(self.signal) if self._may_deal and is_default else None

    @property
    def calibration_part(self) -> RowPart | None:
        """The part of the rows that is enough for the law of scaled residuals; None for all."""
        parts = parts_of_calibration(self.signal) if self._may_deal else 1
        return RowPart(1, parts) if parts > 1 else None

    @property
    def _may_deal(self) -> bool:
        options = self.options
        has_many = self.public_rows is not None and options.learns_metric
        return has_many and not self.is_unlimited and options.passes is Passes.FEW

    @property
    def clips_residuals(self) -> bool:
        """Whether stages clip residuals: nowhere without noise, and not of every outcome."""
        return self.options.outcome.is_clipped and not self.is_unlimited


class Purpose(StrEnum):
    """What a share of the budget buys; a plan adds them up by it."""

    COUNT = "count"
    PLACES = "places"  # where inputs and targets lie
    FUNCTION = "function"
    LAW = "law"
    GUARD = "guard"
    SCALE = "scale"
    CALIBRATION = "calibration"
    OTHER = "other"


def paid(steps: Iterable[Step], purpose: Purpose) -> float:
    """Return the part of μ² that a row pays at most for this: of disjoint parts it is in one."""
    shares = ((step.part, Fraction(step.share)) for step in steps if step.purpose is purpose)
    return float(dearest(shares))


class StageOutlook(Protocol):
    """What is expected to be known, before any data is seen; stages are what changes it."""

    def after_stage(self, share: float, fraction: float = 1.0) -> Self:
        """Return what is expected after a stage of a fraction of the rows with a share of μ²."""
        ...


AnyOutlook = TypeVar("AnyOutlook", bound=StageOutlook)


class Step(Protocol):
    """One release of a fit: what it costs, what it asks, what is made of the answer.

    A step is a frozen record of public numbers. ``share`` is its part of μ², ``label`` its name in
    the certificate, ``activity`` what is said while it runs, ``effort`` how long that takes.
    ``part`` is the part of the rows that it asks, None where it asks all of them.
    """

    @property
    def share(self) -> float:
        """Part of μ² that the step spends."""
        ...

    @property
    def part(self) -> RowPart | None:
        """Part of the rows that the step asks; None for all of them."""
        ...

    @property
    def purpose(self) -> Purpose:
        """What the share buys."""
        ...

    @property
    def label(self) -> str:
        """Name in the certificate."""
        ...

    @property
    def activity(self) -> str:
        """What is said while the step runs: public, the same for any data."""
        ...

    @property
    def effort(self) -> float:
        """How long it takes, relative to a stage."""
        ...

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Self, ...]:
        """Return the steps of this kind that a fit takes, by the kind's own share rule."""
        ...

    def noise_stds(self, options: Options, mu: float) -> Sequence[float]:
        """Return the standard deviations of the noise that the step will draw with a budget μ."""
        ...

    def query(self, known: Known) -> Query:
        """Return what to ask of the rows, from what is known so far."""
        ...

    def learn(self, known: Known, release: Any) -> None:
        """Take the released answer into what is known."""
        ...

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be known after this step, before any data."""
        ...

    @classmethod
    def why(cls, planned: Sequence[Self]) -> str:
        """Explain in a line why there are these steps of the kind, or none."""
        ...
