"""One model from several releases about different people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpgp.features.inputs import UnitInputs
from dpgp.inference.conformal import Calibration
from dpgp.inference.frame import InputModel
from dpgp.inference.many.final import USUAL, posterior_of
from dpgp.inference.posterior import Posterior
from dpgp.inference.stage import StageRelease
from dpgp.model.fitted import FittedModel, fitted_model, model_class
from dpgp.model.input_model import InputDensity
from dpgp.model.log_odds import log_odds_of
from dpgp.packed import content_digest
from dpgp.planning.design import density_positions
from dpgp.planning.file_room import DENSITY_POINTS
from dpgp.pooling.agreement import ReleaseAgreement, compare, with_random_effect
from dpgp.pooling.common import (
    PoolingError,
    check_poolable,
    common_inputs,
    common_options,
    rows_of,
)
from dpgp.pooling.curve import CAREFUL, PooledFit, PooledState
from dpgp.pooling.spread import common_law, common_noise, common_scale
from dpgp.privacy.certificate import Certificate
from dpgp.study.errors import Words
from dpgp.types import Array

COMPARED = 1024
"""Places at which scales and laws of the releases are compared."""


def pool(
    models: Sequence[object],
    *,
    different_curves: bool = False,
    names: Sequence[str] | None = None,
) -> FittedModel:
    """Return one model from the records of several, each about people of its own; it is free.

    Raises :class:`PoolingError` where they are not of one study, and where they are about different
    functions beyond noise, naming the release and the place; ``different_curves=True`` pools them
    all the same, with a random effect between releases. ``names`` are what errors call the models.
    docs/how-to/pooling.md

    >>> both = pool([north, south])
    """
    if not isinstance(models, Sequence) or isinstance(models, str):
        raise TypeError(f"pass a list of models, not {type(models).__name__}.")
    given = [fitted_model(each) for each in models]
    names = [f"release {k}" for k in range(1, len(given) + 1)] if names is None else list(names)
    if len(names) != len(given):
        raise ValueError(f"`names` must have one name for each of {len(given)} models.")
    members, called = _flat(given, names)
    check_poolable(members, called)
    fit = PooledFit(tuple(members), common_inputs(members))
    state = fit.chosen()
    agreement = compare(fit, state, called)
    if agreement.odd and not different_curves:
        raise PoolingError(
            f"these releases are not about one function: {agreement.words[:-1]}",
            Words(
                "look at units and people, leave that release out, or pass different_curves=True",
                "look at units and people, leave that file out, or pass --different-curves",
            ),
            code="different-curves",
        )
    if agreement.odd or any(agreement.between):
        state = with_random_effect(fit, state)
    return assembled(fit, state, agreement)


def _flat(
    models: Sequence[FittedModel], names: Sequence[str]
) -> tuple[list[FittedModel], list[str]]:
    """Return the releases behind all models: those of a pooled one are its members."""
    members: list[FittedModel] = []
    called: list[str] = []
    for model, name in zip(models, names, strict=True):
        parts = model.members or (model,)
        members += parts
        called += (
            [f"{name}, release {k + 1}" for k in range(len(parts))] if model.members else [name]
        )
    return members, called


def assembled(fit: PooledFit, state: PooledState, agreement: ReleaseAgreement) -> FittedModel:
    """Return the model of a state: everything that follows from the releases."""
    models, inputs = fit.models, fit.inputs
    certificate = Certificate.of_pool([model.certificate for model in models])
    posteriors = tuple(posterior_of_target(fit, state, k) for k in range(len(fit.locations)))
    density = _density(fit, posteriors[0])
    X = inputs.invert(fit.synthetic[:COMPARED])
    scales = [
        common_scale(models, fit.shares, inputs, k, posterior, X)
        for k, posterior in enumerate(posteriors)
    ]
    options = common_options(models, certificate)
    laws = tuple(
        common_law(models, fit.shares, inputs, k, posterior, scales[k], X)
        if options.calibrate
        else Calibration.gaussian()
        for k, posterior in enumerate(posteriors)
    )
    model = model_class(options.outcome)(
        options=options,
        inputs=inputs,
        posteriors=posteriors,
        calibrations=laws,
        scales=tuple(scale for scale in scales if scale is not None),
        stages=_stages(models),
        density=density,
        certificate=certificate,
        findings={"pooled": _findings(fit, agreement)},
        members=tuple(models),
        records_digest=content_digest([model.id for model in models], "members"),
    )
    return replace(model, log_odds=log_odds_of(model))


def _findings(fit: PooledFit, agreement: ReleaseAgreement) -> dict[str, object]:
    """Return what was found of the releases, as plain values."""
    return {
        "rows": rows_of(fit.models).tolist(),
        "between": list(agreement.between),
        "agreement": agreement.words,
        "differences": [
            [each.release, each.target, each.z, each.p_value, each.difference, each.sd]
            for each in agreement.differences
        ],
        "along": [
            {"release": each.release, "target": each.target, **each.along.to_dict()}
            for each in agreement.told
        ],
    }


def posterior_of_target(fit: PooledFit, state: PooledState, target: int) -> Posterior:
    """Return the posterior of a target, in units of its bounds."""
    told, location = state.targets[target], fit.locations[target]
    noise = common_noise(fit.models, fit.shares, target) / location.scale
    effort = USUAL if fit.learns_metric else CAREFUL
    found = posterior_of(
        told.together.equations, state.dictionary, told.theta, location, lambda _: noise, effort
    ).posterior
    # a bias of clipping that no line follows may be the same in all releases
    biases = [release.recorded.biases[target].uneven for release in fit.releases]
    uneven = float(fit.shares @ np.square(biases))
    V = found.moments.V + uneven * np.eye(len(found.moments.V))
    return replace(found, moments=replace(found.moments, V=V))


def _density(fit: PooledFit, first: Posterior) -> InputDensity:
    """Return where all rows are: the mixture of the releases' input models."""
    places, inputs = fit.synthetic, fit.inputs
    weights = np.full(len(places), rows_of(fit.models).sum() / len(places))
    if not fit.learns_metric:
        found = _on_grid(places, weights, inputs)
    else:
        values = first.moments.w @ first.features.evaluate(places)
        found = InputModel(places, weights).thinned_along(values, DENSITY_POINTS)
    return InputDensity(inputs.invert(found.places), found.weights)


def _on_grid(places: Array, weights: Array, inputs: UnitInputs) -> InputModel:
    """Return the mass of every place at the nearest point of a grid."""
    grid = density_positions(inputs.dimension)
    nearest = np.array([np.argmin(((grid - place) ** 2).sum(axis=1)) for place in places])
    mass = np.bincount(nearest, weights, minlength=len(grid)).astype(np.float64)
    return InputModel(grid, mass)


def _stages(models: Sequence[FittedModel]) -> tuple[tuple[StageRelease, ...], ...]:
    """Return the last stage of every release, its sums as if they were over all rows.

    Features differ from release to release, so that only second moments are kept here.
    """
    rows = rows_of(models)
    return tuple(
        tuple(
            _standing_for(model.stages[k][-1], float(rows.sum()), float(rows.sum() / n))
            for model, n in zip(models, rows, strict=True)
        )
        for k in range(models[0].n_targets)
    )


def _standing_for(stage: StageRelease, n: float, times: float) -> StageRelease:
    return replace(
        stage,
        A=np.empty(0),
        B=np.empty((0, 0)),
        w0=np.empty(0),
        n=n,
        c=times * stage.c,
        sigma_a=times * stage.sigma_a,
        sigma_b=times * stage.sigma_b,
        sigma_c=times * stage.sigma_c,
    )
