"""A model read again from its own records, under another kernel; it costs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from dpgp.features.base import WrittenMap
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.families import KernelFamily
from dpgp.kernels.known import as_kernel
from dpgp.model.fitted import FittedModel, fitted_model
from dpgp.model.log_odds import log_odds_of
from dpgp.pooling.common import PoolingError
from dpgp.pooling.curve import PooledFit
from dpgp.pooling.pooled import posterior_of_target
from dpgp.pooling.spread import common_law, common_scale
from dpgp.steps import LABELS_BY_PREDICTION

COMPARED = 1024  # places at which the law of observations is told anew


def reread(model: object, kernel: Any = None) -> FittedModel:
    """Return what the records of a model say under another kernel, or under its own again.

    ``posteriors[k].log_evidence`` of two readings of the same records can be compared: the larger
    one is the likelier kernel. The guarantee is that of the model: nothing more is released.
    """
    given = fitted_model(model)
    if given.members:
        raise PoolingError(
            "a pooled model has no records of its own",
            "read its `members` again, and pool what comes back",
            code="no-records",
        )
    if given.recorded is None:
        raise PoolingError(
            "the model has no records to be read again",
            "save it with `records=True`",
            code="no-records",
        )
    if kernel is not None and not given.options.box.is_numeric.all():
        raise PoolingError(
            "a kernel cannot be given for inputs that are categories",
            "read it again without one",
            code="kernel-of-categories",
        )
    fit = PooledFit((given,), given.inputs)
    if kernel is None:
        starts = list(fit.starts())
    else:
        family = KernelFamily.of([as_kernel(kernel)], given.options.columns)
        starts = [(family, [family.start] * given.n_targets)]
    beliefs = fit.own_beliefs()
    features = cast(WrittenMap, given.posteriors[0].features)
    states = [
        fit.learn(Dictionary(family, features.anchors, fit.synthetic, features), thetas, beliefs)
        for family, thetas in starts
    ]
    state = max(states, key=lambda each: each.evidence)
    posteriors = tuple(
        replace(posterior_of_target(fit, state, k), log_evidence=told.evidence)
        for k, told in enumerate(state.targets)
    )
    X = given.inputs.invert(fit.synthetic[:COMPARED])
    scales = [
        common_scale((given,), fit.shares, given.inputs, k, posterior, X)
        for k, posterior in enumerate(posteriors)
    ]
    laws = tuple(
        common_law((given,), fit.shares, given.inputs, k, posterior, scales[k], X)
        if given.options.calibrate
        else given.calibrations[k]
        for k, posterior in enumerate(posteriors)
    )
    own = given.options.own_kernels if kernel is None else (as_kernel(kernel),)
    again = replace(
        given,
        options=replace(given.options, own_kernels=own),
        posteriors=posteriors,
        calibrations=laws,
        scales=tuple(scale for scale in scales if scale is not None),
        findings={  # labels were counted by earlier predictions
            name: told for name, told in given.findings.items() if name != LABELS_BY_PREDICTION
        },
    )
    return replace(again, log_odds=log_odds_of(again))
