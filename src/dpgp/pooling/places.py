r"""Where the rows of every release are, by the histograms of all of them together.

A stage measured an average over rows, which a release takes over places that stand for them. Of few
rows at a small ε those are spread too widely, by noise in its own histograms, and every release is
wrong in the same way. k histograms together have noise smaller by :math:`\sqrt k`: marginals are
believed of their sum, as a fit believes its own, and a release keeps as much of its own marginal as
its histogram lies beyond noise from that of the others, :math:`\lambda = (1 - b/\chi^2)_+` for b
bins (James & Stein 1961). Its places are drawn anew with weights that have these marginals
(raking).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpgp.domain import Box
from dpgp.inference.many.marginals import estimate_marginals
from dpgp.inference.recorded import MetricRecords
from dpgp.model.fitted import FittedModel
from dpgp.steps import HISTOGRAMS_OF_INPUTS
from dpgp.types import Array

SWEEPS = 10
"""Times that every marginal is made right in turn. By hand: places depend little on each other's
columns, and later sweeps change nothing."""

LEAST_MASS = 1e-6
"""Mass of places in a bin that has hardly any: none is drawn there."""


def moved_together(models: Sequence[FittedModel]) -> list[FittedModel]:
    """Return the models with the places of their records where all histograms say that rows are."""
    known = [k for k, model in enumerate(models) if _has_histograms(model)]
    moved = list(models)
    if len(known) > 1:
        for k, model in zip(known, _moved([models[k] for k in known]), strict=True):
            moved[k] = model
    return moved


def _has_histograms(model: FittedModel) -> bool:
    is_told = HISTOGRAMS_OF_INPUTS in model.findings and any(model.options.box.is_numeric)
    return isinstance(model.recorded, MetricRecords) and is_told


def _moved(models: Sequence[FittedModel]) -> list[FittedModel]:
    shares, noises = _histograms(models)
    precisions = noises**-2.0
    together = np.tensordot(precisions / precisions.sum(), shares, axes=1)
    box = models[0].options.box
    numeric = Box(box.low[box.is_numeric], box.high[box.is_numeric])
    noise, rows = precisions.sum() ** -0.5, sum(float(m.stages[0][0].n) for m in models)
    masses = estimate_marginals(rows * together, rows * noise, rows, numeric).masses
    masses = masses / masses.sum(axis=1, keepdims=True)
    found = []
    for model, own, precision in zip(models, shares, precisions, strict=True):
        rest = precisions.sum() - precision
        others = (precisions.sum() * together - precision * own) / rest
        apart = ((own - others) ** 2).sum(axis=1) / (1.0 / precision + 1.0 / rest)
        kept = np.maximum(1.0 - own.shape[1] / np.maximum(apart, LEAST_MASS), 0.0)
        found.append(_drawn_anew(model, masses, kept[:, None]))
    return found


def _histograms(models: Sequence[FittedModel]) -> tuple[Array, Array]:
    """Return shares of rows by model, input of numbers and bin, and the noise of every model's.

    Bins are those of the coarsest: numbers of bins are powers of two.
    """
    told = [model.findings[HISTOGRAMS_OF_INPUTS] for model in models]
    tables = [np.array([row for row in each["shares"] if row is not None]) for each in told]
    bins = min(table.shape[1] for table in tables)
    widths = [table.shape[1] // bins for table in tables]
    shares = [t.reshape(len(t), bins, w).sum(axis=2) for t, w in zip(tables, widths, strict=True)]
    noises = [each["noise"] * np.sqrt(w) for each, w in zip(told, widths, strict=True)]
    return np.array(shares), np.array(noises)


def _drawn_anew(model: FittedModel, masses: Array, kept: Array) -> FittedModel:
    """Return the model whose places have these marginals, but for what is kept of its own."""
    recorded = model.recorded
    if not isinstance(recorded, MetricRecords):
        raise ValueError("only places of synthetic rows are drawn anew.")
    box, count, bins = model.options.box, len(recorded.places), masses.shape[1]
    X = model.inputs.invert(recorded.places)
    share = ((X - box.low) / (box.high - box.low)).T[box.is_numeric]
    within = np.clip((share * bins).astype(np.int64), 0, bins - 1)
    own = np.array([np.bincount(each, minlength=bins) / count for each in within])
    goals = (1.0 - kept) * masses + kept * own
    weights = np.ones(count)
    for _ in range(SWEEPS):
        for each, goal in zip(within, goals, strict=True):
            have = np.bincount(each, weights, minlength=bins) / count
            weights *= (goal / np.maximum(have, LEAST_MASS))[each]
    steps = np.cumsum(weights)
    chosen = np.searchsorted(steps / steps[-1], (np.arange(count) + 0.5) / count)
    return replace(model, recorded=recorded.at(np.minimum(chosen, count - 1)))
