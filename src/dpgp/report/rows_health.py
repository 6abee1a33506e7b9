"""Whether rows are enough and usable, by the counts that were released: free.

Levels that are misspelt or forgotten, cells that are empty, and outcomes that are rare all leave
fewer rows to learn from than a table has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpgp.choices import Missing
from dpgp.model.input_model import weighted_rows
from dpgp.planning.setting import are_few, nothing_better
from dpgp.planning.unusable import CERTAIN, CountedLevels
from dpgp.privacy.books import mu_of_guarantee
from dpgp.steps import Count
from dpgp.steps.count import counted_columns

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

# Thresholds are set by hand: who has a table knows that a tenth of its cells is empty
LEAST_USABLE = 0.75
"""Part of a table's rows below which it is said how many can be used."""

AT_THEIR_BOUND = 0.92
"""Σv²/Σv of weights in parts of their bound from which on they count alike: it is one where each is
zero or at the bound, and 0.9 where they are even between 0.8 and 1."""

LEAST_READABLE = 0.9
"""Part of the cells of a column that are one of its levels, below which the column is named."""


def too_little(model: FittedModel) -> Iterator[str]:
    """Say where many rows cannot be used, or rows or events are too few, a sentence each."""
    for found in (unusable_rows(model), cut_weights(model), few_rows(model), few_events(model)):
        if found is not None:
            yield found


def unusable_rows(model: FittedModel) -> str | None:
    """Far fewer rows can be used, or cells be read, than the table has, by the released counts."""
    found = model.findings.get(Count.label)
    if found is None or model.weights is not None:
        return None
    told, columns = found["told"], counted_columns(model.options)
    counted = [
        CountedLevels(name, category.words, cells, found["noise of cells"])
        for (name, category), cells in zip(columns, found["cells"], strict=False)
    ]
    odd = [each for each in counted if _is_below(each.cells, each.noise_std, LEAST_READABLE * told)]
    if not odd and not _is_below(found["usable"], found["noise"], LEAST_USABLE * told):
        return None
    share = f"About {max(found['usable'], 0.0) / told:.0%} of the {told:,.0f} rows can be used"
    if odd:
        which = "; ".join(map(str, odd))
        return f"{share}; {which}: name all levels, and in the spelling of the cells."
    if model.options.missing is Missing.MODEL:
        return f"{share}, as the others lack a target, or all inputs."
    if model.options.missing is Missing.IGNORE:
        return f"{share}, as the others are incomplete: leave out columns that are mostly empty."
    which = " and ".join(
        f"'{name}' ({category.words})"
        for name, category in model.options.target_box.level_columns("target")
    )
    return f"{share}; the others have none of the classes of {which}: check their spelling."


def cut_weights(model: FittedModel) -> str | None:
    """Nearly all weights are cut to their bound, by their released sum and that of squares."""
    weights = model.weights
    if weights is None:
        return None
    noise = np.hypot(weights.squares_std, AT_THEIR_BOUND * weights.noise_std)
    if weights.squares - AT_THEIR_BOUND * weights.total < noise:
        return None
    bound = model.options.weight_bound
    return (
        f"Nearly all rows that weigh anything weigh about {bound:g}, the bound of weights, or "
        "more, and count alike: where their weights differ, take a bound that few of them exceed."
    )


def _is_below(count: float, noise_std: float, enough: float) -> bool:
    return count + CERTAIN * noise_std < enough


def few_rows(model: FittedModel) -> str | None:
    """So few rows that nothing beats the mean; where their number is public a fit says it first."""
    if model.options.row_count_is_public or not rows_are_few(model):
        return None
    words = str(nothing_better(_whole_rows(model), model.options.epsilon))
    return f"{words[0].upper()}{words[1:]}"


def rows_are_few(model: FittedModel) -> bool:
    """Return whether nothing but the mean of the target can be learned from so many rows."""
    return are_few(_whole_rows(model), model.options.epsilon, model.options.delta)


def _whole_rows(model: FittedModel) -> int:
    return round(model.row_weight * model.stages[0][0].n)


def few_events(model: FittedModel) -> str | None:
    """The rarest class is too rare, by the averages of the probabilities."""
    if not model.outcome.law_is_known:
        return None
    options, (X, shares) = model.options, weighted_rows(model)
    averages = [shares @ mean for mean, _ in model.means_and_stds(model.inputs(X))]
    prevalence = float(np.clip(min(averages), 0.0, 1.0))
    mu = model.row_weight * mu_of_guarantee(options.epsilon, options.delta)
    words = model.outcome.few_events(model.stages[0][0].n, mu, prevalence)
    return f"{words[0].upper()}{words[1:]}." if words else None
