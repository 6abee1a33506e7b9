"""The options of a fit as plain values, as their table says. The seed is no part of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.checked_values import ModelFileError, as_fields, as_flag
from dpgp.domain import Box
from dpgp.model.file.categories import has_entry
from dpgp.options import Options
from dpgp.outcomes import outcome_options
from dpgp.study.table import settings


def settings_to_json(options: Options) -> dict[str, Any]:
    """Return the options of a fit as plain values."""
    kept = {option.name: option.value.setting(option.name, options) for option in settings()}
    for option in settings():
        if option.may_be_absent and kept[option.name] == option.left_out:
            del kept[option.name]
    return kept | options.outcome.settings


def settings_from_json(value: Any, box: Box, target_box: Box, per_person: bool) -> Options:
    """Return the options of the fit; a ModelFileError where they contradict the rest."""
    wishes = [name for name in outcome_options() if has_entry(value, name, True)]
    there = [
        option
        for option in settings()
        if not option.may_be_absent or has_entry(value, option.name, True)
    ]
    fields = as_fields(value, "settings", [*(option.name for option in there), *wishes])
    read = {
        option.name: option.value.of_setting(
            f"settings.{option.name}", fields[option.name], len(box.low)
        )
        for option in there
    }
    _check_same(read["bounds"], box)
    _check_same(read["target_bounds"], target_box)
    asked = {option.name: read[option.name] for option in there if option.is_parsed}
    asked |= {option.name: option.left_out for option in settings() if option not in there}
    asked |= {name: as_flag(fields[name], f"settings.{name}") for name in wishes}
    return Options.parse(box=box, target_box=target_box, per_person=per_person, **asked)


def _check_same(bounds: Any, box: Box) -> None:
    """Refuse bounds that are not those of the columns."""
    same = Box.from_bounds(bounds, len(box.low), box.names, categories=box.categories)
    if not (np.array_equal(same.low, box.low) and np.array_equal(same.high, box.high)):
        raise ModelFileError("`settings` contradict the bounds of the columns.")
