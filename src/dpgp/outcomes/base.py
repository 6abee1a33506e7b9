"""What a kind of outcome decides, from how it is asked for to the words of a report.

A fit of a target scaled to [−1, 1] is the same for all kinds, and asks here where they differ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from dpgp.outcomes.log_odds import AS_BELIEVED, LogOdds
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.categories import Level
    from dpgp.domain import Box
    from dpgp.inference.conformal import Calibration

Ends = tuple[float, float]


class Location(NamedTuple):
    """Where a target scaled to [−1, 1] lies, and how far it spreads.

    That it ``has_two_values`` is known of its kind, or for all that its histogram tells; they are
    one to either side of the ``middle``. ``norm`` bounds the residuals of all targets together
    about their centres, where a row decides on all of them.
    """

    centre: float
    scale: float
    has_two_values: bool = False
    middle: float = 0.0
    norm: float | None = None

    @property
    def reach(self) -> float:
        """Largest residual about the centre that the bounds allow."""
        return 1.0 + abs(self.centre) if self.norm is None else self.norm

    @property
    def sd_of_two(self) -> float:
        """The standard deviation of two values whose mean is the centre."""
        return math.sqrt(1.0 - (self.centre - self.middle) ** 2)

    @property
    def is_clipped(self) -> bool:
        """Whether residuals are clipped: not those of two values, which are skewed at every x.

        Whoever predicts one half too large cuts more of the ones.
        """
        return not self.has_two_values


class ObservationLaw(Protocol):
    """The law of new observations of one target at some inputs, in its units."""

    @property
    def mean(self) -> Array:
        """Its mean at each input, within the bounds."""

    @property
    def std(self) -> Array:
        """Its standard deviation at each input."""

    def quantile(self, level: float) -> Array:
        """Return the values that observations stay below with this probability."""

    def ends(self, coverage: float) -> tuple[Array, Array]:
        """Return the ends of central intervals."""

    def draw(self, normal: Array) -> Array:
        """Return observations with the given normal scores as columns."""


@dataclass(frozen=True)
class OutcomeKind(ABC):
    """A kind of outcome: how it is asked for, what a fit and a model do with it, and its words.

    Means, standard deviations and bounds of predictions are in units of the target.
    """

    estimated: ClassVar[str] = "mean"
    """What f is, in one word."""

    scale_of_errors: ClassVar[str] = "in units of the target"
    """On which scale errors of f are told."""

    option: ClassVar[str | None] = None
    """The option that asks for it, True or False; of a kind that has one."""

    file_format: ClassVar[int] = 4
    """The oldest format of a model file that can hold it."""

    unreadable_is_error: ClassVar[bool] = True
    """Whether a target that cannot be read is an error where missing values are; else its row is
    not counted, and the number of rows is private."""

    is_clipped: ClassVar[bool] = True
    """Whether stages clip residuals; else their clip is the largest residual there is."""

    location: ClassVar[Location | None] = None
    """Where it lies, whatever the data; None where that is to be found out."""

    law_is_known: ClassVar[bool] = False
    """Whether the law of an observation follows from its mean. Then noise, scale and intervals are
    not learned, and the second moment of residuals tells nothing beyond their sums with features.
    """

    is_joint: ClassVar[bool] = False
    """Whether a row's targets are one class of several: residuals are bounded by their norm, which
    costs what one target does, and add up to nothing."""

    has_order: ClassVar[bool] = False
    """Whether these classes have an order, so that one function and thresholds predict them."""

    log_noise: ClassVar[tuple[float, float]]
    """Prior mean and sd of log σ, the noise of an observation in half-widths."""

    function_is_bounded: ClassVar[bool] = False
    """Whether f itself keeps the bounds, as a probability does; else only observations do."""

    link_is_fitted: ClassVar[bool] = False
    """Whether what is believed over the inputs decides on :meth:`link`."""

    shows_observations: ClassVar[bool] = True
    """Whether intervals for new observations say something; else those for f are shown alone."""

    explainable: ClassVar[tuple[float, float]]
    """Smallest and largest share of its variance that a forecast takes inputs to explain."""

    cannot_be_told: ClassVar[Mapping[str, str]]
    """What a forecast cannot be told of it: the argument, and why."""

    why_no_export: ClassVar[str | None] = None
    """Why libraries of Gaussian processes cannot predict it; None where they can."""

    in_browser: ClassVar[Mapping[str, str | bool]] = {"link": "bounds", "whole": False}
    """How report/html/posterior.js and ONNX predict it: its mean is cut to "bounds" or a "chance",
    and observations are whole numbers or not."""

    little_known_is: ClassVar[str] = ""
    """What :meth:`little_known` is, in words."""

    title: ClassVar[str] = "A regression model under differential privacy"
    """What a report is called."""

    mean_word: ClassVar[str] = "mean"
    """What its mean is called."""

    may_be_classes: ClassVar[bool] = False
    """Whether observations may be two classes, written 0 and 1, that nobody called so."""

    aside: ClassVar[str] = ""
    """What is added to the name of a target that is asked for."""

    prediction_columns: ClassVar[tuple[str, ...]] = ("mean", "std", "lower", "upper")
    """What columns of predictions end in."""

    how_to_predict: ClassVar[tuple[str, ...]] = (
        "mean, std = model.predict(new, return_std=True)",
        "lower, upper = model.predict_interval(new, coverage=0.95)",
    )
    """Lines of Python that predict with a ``model`` at ``new`` inputs."""

    about_intervals: ClassVar[str] = (
        "Intervals are calibrated to hold new observations as often as they say, on average over "
        "the training rows, not for each input. Far from the data they are wide, and they should "
        "be: the plots are pale there."
    )
    """What a report says of intervals."""

    @classmethod
    def is_asked(cls, target_box: Box, wishes: Mapping[str, bool]) -> bool:
        """Return whether public options ask for this kind."""
        return cls.option is not None and wishes.get(cls.option, False)

    @classmethod
    def of(cls, target_box: Box) -> Self:
        """Return the outcome of targets with these bounds; an error where they cannot be meant."""
        return cls()

    @property
    def settings(self) -> dict[str, bool]:
        """The options that ask for it, as a model file keeps them."""
        return {} if self.option is None else {self.option: True}

    @property
    def labels(self) -> tuple[Level, ...]:
        """The public labels that an observation is one of; none of numbers."""
        return ()

    def functions(self, target_box: Box) -> Box:
        """Return the scale of every function that is learned: one for each target."""
        return target_box

    def function_targets(self, targets: Array) -> Array:
        """Return what every function is learned from, one a row, of readable targets."""
        return targets

    def bounds(self, functions: Box, target: int) -> Ends:
        """Return what predictions of a function are cut to."""
        return float(functions.low[target]), float(functions.high[target])

    def prediction_names(self, target_box: Box) -> list[str]:
        """Return what columns of predictions start with, one for each function."""
        if target_box.names is not None:
            return list(target_box.names)
        count = len(target_box.low)
        return ["prediction"] if count == 1 else [f"prediction_{k + 1}" for k in range(count)]

    @property
    def largest_residual(self) -> float:
        """Largest residual, or norm of them, from functions within the bounds."""
        return 2.0

    def joint_clip(self, values: Array) -> float:
        """Return the largest norm of a row's residuals from functions of these values.

        Values are scaled as targets are, (functions, places).
        """
        raise NotImplementedError  # of kinds that are joint

    def adding_up(self, own: Array, shares: Array, odds: Sequence[LogOdds]) -> tuple[LogOdds, ...]:
        """Return links by which :meth:`together` keeps averages, over ``shares`` of people.

        ``own`` is what every function predicts for them by itself.
        """
        return tuple(odds)

    def together(self, own: Array, odds: Sequence[LogOdds]) -> Array:
        """Return what all functions predict (functions, rows), from what each does by itself."""
        return own

    def variance(self, prevalence: float | None) -> float | None:
        """Return the variance of observations in squared half-widths, where the kind tells it."""
        return None

    def few_events(self, rows: float, mu: float, prevalence: float | None) -> str:
        """Say where outcomes are too rare for so many rows and this budget; else nothing."""
        return ""

    def located(self, average: float, error: float) -> Location | None:
        """Return where it lies by a noisy average of it, scaled; None where that says too little.

        Its ``scale`` is then the unit of likely functions.
        """
        return None

    def assumed(self, prevalence: float | None) -> str:
        """Say what a forecast takes for granted where the kind tells the variance."""
        return ""

    def link(
        self, mean: Array, std: Array, latent: bool, odds: LogOdds = AS_BELIEVED
    ) -> tuple[Array, Array]:
        """Return mean and sd of what is predicted, f or a new observation, from N(mean, std²).

        That is the belief in f where ``latent`` or the law is known, else in an observation.
        ``odds`` are what :meth:`log_odds` says of the model, where that was asked.
        """
        return mean, std

    def log_odds(self, mean: Array, std: Array, shares: Array, covariance: Array) -> LogOdds:
        """Return the link that beliefs N(mean, covariance), each of ``shares`` of people, ask for.

        ``std`` is that of each belief.
        """
        return AS_BELIEVED

    @abstractmethod
    def observations(
        self, mean: Array, std: Array, law: Calibration, bounds: Ends
    ) -> ObservationLaw:
        """Return the law of new observations, from what :meth:`link` says of them.

        ``law`` is that of (y − mean)/std where it was learned.
        """

    @abstractmethod
    def function_interval(
        self,
        mean: Array,
        half_width: Array,
        coverage: float,
        bounds: Ends,
        odds: LogOdds = AS_BELIEVED,
    ) -> tuple[Array, Array]:
        """Return the interval for f within its bounds, from that of the Gaussian belief."""

    @abstractmethod
    def log_density(self, y: Any, mean: Array, std: Array) -> Array:
        """Return the log density, or probability, of observations with these means and sds."""

    def mean_of(self, name: str) -> str:
        """Return what a mean is of, in words."""
        return name

    def mean_in_words(self, name: str) -> str:
        """Return what a mean is called in a title: "Mean of height", or a name of its own."""
        said = self.mean_of(name)
        return f"Mean of {name}" if said == name else said

    @abstractmethod
    def decimals(self, noise: float) -> int:
        """Return how many decimals of a prediction say something, at this noise."""

    @abstractmethod
    def little_known(self, noise: float) -> float:
        """Return the sd of f beyond which little is known of it, at this noise."""
