"""Last year's model and this year's rows: where a fit starts, and what both say together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.metric import MetricFamily
from dpgp.inference.many.records import NormalEquations
from dpgp.model.fitted import FittedModel
from dpgp.options import Options
from dpgp.outcomes import Location
from dpgp.pooling.agreement import compare, with_random_effect
from dpgp.pooling.common import PoolingError, check_recorded, common_inputs, difference, signal_of
from dpgp.pooling.curve import PooledFit, metric_family
from dpgp.pooling.pooled import assembled
from dpgp.pooling.reread import reread
from dpgp.study.errors import Words
from dpgp.types import Array

THIS_FIT = "this fit"
KEPT = 32  # equations: those of the dictionaries that a fit compares, for all targets
UPDATE = "update"
"""Name of the finding of a fit that did not agree with the model that it started from."""


def releases_of(model: FittedModel) -> tuple[FittedModel, ...]:
    """Return the releases behind a model: itself, or those that were pooled."""
    return model.members or (model,)


def check_updatable(model: FittedModel, options: Options) -> None:
    """Raise where a fit cannot start from a model: no records, or another study."""
    members = releases_of(model)
    for k, member in enumerate(members, start=1):
        of = f"release {k} of " if len(members) > 1 else ""
        check_recorded(member, f"{of}the earlier model")
    different = difference(model.options, options)
    if different:
        raise PoolingError(
            f"this fit differs from the earlier model in {different}",
            Words(
                "only a fit of the same columns, bounds, levels and outcome starts from a model; "
                "leave `prior_model` out, or ask for the same",
                "only a fit of the same columns, bounds, levels and outcome starts from a model; "
                "leave --prior-model out, or ask for the same",
            ),
            code="different-studies",
        )


@dataclass(frozen=True)
class EarlierReleases:
    """What a model and the releases behind it told: an :class:`~dpgp.inference.earlier.Earlier`."""

    model: FittedModel

    @cached_property
    def _fit(self) -> PooledFit:
        return PooledFit(releases_of(self.model), self.model.inputs)

    @property
    def inputs(self) -> UnitInputs:
        """The cube of the model."""
        return self.model.inputs

    @property
    def synthetic(self) -> Array:
        """Places that stand for all earlier rows."""
        return self._fit.synthetic

    @property
    def locations(self) -> tuple[Location, ...]:
        """Where every target lies."""
        return self._fit.locations

    @property
    def family(self) -> MetricFamily | None:
        """The metric that the model ended with; None where a kernel was asked for."""
        asked = self.model.options.own_kernels
        return None if asked else metric_family(self.model, self.model.inputs)

    @property
    def rows(self) -> float:
        """How many rows it is about."""
        return signal_of(self._fit.models)[0]

    @property
    def signal(self) -> float:
        """nμ of one fit whose sums would have the noise of all of them."""
        n, mu = signal_of(self._fit.models)
        return n * mu

    @property
    def noises(self) -> tuple[float, ...]:
        """The sd of an observation of every target."""
        return tuple(posterior.moments.noise for posterior in self.model.posteriors)

    def equations(self, target: int, dictionary: Dictionary, location: Location) -> NormalEquations:
        """Return what all records say of the weights of a target about its location; read once."""
        key = id(dictionary), target, location
        if key not in self._read:
            # the dictionary is kept as well, so that no other one takes its place
            self._read[key] = dictionary, self._equations(target, dictionary, location)
            while len(self._read) > KEPT:
                del self._read[next(iter(self._read))]
        return self._read[key][1]

    def _equations(
        self, target: int, dictionary: Dictionary, location: Location
    ) -> NormalEquations:
        first, *others = (
            release.read(
                target,
                replace(dictionary, synthetic=release.places),
                dictionary.one,
                location,
                release.own_belief(target),
                self._fit.doubt,
            )
            for release in self._fit.releases
        )
        return sum(others, start=first).equations

    @cached_property
    def _read(self) -> dict[tuple[int, int, Location], tuple[Dictionary, NormalEquations]]:
        return {}


def updated(release: FittedModel) -> FittedModel:
    """Return what a fit and the model that it started from say together; it costs nothing.

    A fit that started from nothing is returned as it is. Where the curve has moved beyond noise the
    new rows alone are believed, and the ``health`` of the model says where.
    """
    prior = release.options.prior_model
    if prior is None or prior.model is None:
        return release
    release = replace(release, options=replace(release.options, prior_model=prior.named))
    earlier = releases_of(prior.model)
    members = (*earlier, release)
    called = ["the earlier model"] if len(earlier) == 1 else _numbered(len(earlier))
    fit = PooledFit(members, common_inputs(members))
    state = fit.chosen()
    agreement = compare(fit, state, [*called, THIS_FIT])
    moved = [each for each in agreement.odd if each.release == THIS_FIT]
    if moved:
        return _alone(release, "; ".join(each.words for each in moved))
    if agreement.odd or any(agreement.between):
        state = with_random_effect(fit, state)
    return assembled(fit, state, agreement)


def _numbered(count: int) -> list[str]:
    return [f"earlier release {k}" for k in range(1, count + 1)]


def _alone(release: FittedModel, words: str) -> FittedModel:
    """Return what the release says by itself, whose beliefs held what was known before."""
    again = reread(release)
    return replace(again, findings={**again.findings, UPDATE: words})
