"""A study written as a file that ``dpgp fit --study`` reads."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import yaml

from dpgp.cli.columns import Column, LevelColumn
from dpgp.cli.study import KEYS, Study


def study_text(study: Study) -> str:
    """Return a study as YAML; what it does not say is left out."""
    said = {key: value for key in KEYS if (value := getattr(study, key)) is not None}
    plain = {key: _plain(value) for key, value in said.items()}
    return yaml.dump(plain, Dumper=_Lines, sort_keys=False, allow_unicode=True, width=100)


class _Lines(yaml.SafeDumper):
    """Writes bounds and levels in one line, behind the name of their column."""


_Lines.add_representer(
    tuple,
    lambda dumper, ends: dumper.represent_sequence("tag:yaml.org,2002:seq", ends, flow_style=True),
)


def _plain(value: Any) -> Any:
    if isinstance(value, LevelColumn):
        return _extents([value])
    if isinstance(value, tuple):
        return _extents(value)
    if isinstance(value, Enum):
        return str(value.value)
    return str(value) if isinstance(value, Path) else value


def _extents(columns: Sequence[Column | LevelColumn]) -> dict[str, tuple[Any, ...]]:
    return {
        column.name: column.bounds if isinstance(column, Column) else column.levels
        for column in columns
    }
