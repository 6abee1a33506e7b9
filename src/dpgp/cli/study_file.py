"""Study files: YAML with the words of the options, read as text so that names stay as they are.

``yaml.BaseLoader`` guesses no types: a column may be called ``no`` or ``2020``, and 1e-6, which
YAML 1.1 takes for text, is a number where a number belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml

from dpgp.cli.columns import (
    WHY_LEVELS_ARE_PUBLIC,
    WHY_PUBLIC,
    Column,
    LevelColumn,
    checked_classes,
    checked_column,
    checked_levels,
)
from dpgp.cli.failures import UsageError
from dpgp.cli.study import KEYS, Study
from dpgp.decimal_mark import DecimalMark
from dpgp.missing import Missing
from dpgp.plain_text import is_plain
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.provenance import StudyRecord
from dpgp.private.tables import STANDARD_INPUT, clean_name

CONSENT = ("yes", "force")
LONGEST_NAME = 1000  # characters of a title
AnyColumn = TypeVar("AnyColumn", Column, LevelColumn)


def read_study(path: Path) -> Study:
    """Read a study file; a UsageError with a remedy where it cannot be meant."""
    content = _content(path)
    study = study_of(path, _entries(path, content))
    return replace(study, record=StudyRecord.of(content, study.title, study.id))


def study_of(path: Path, entries: Mapping[str, Any]) -> Study:
    """Read keys and values as a study file at ``path`` has them."""
    for key in entries:
        _check_key(path, key)
    return Study(**{key: READ[key](Entry(path, key, entries[key])) for key in entries})


@dataclass(frozen=True)
class Entry:
    """A key of a study file and what stands behind it, which is public."""

    path: Path
    key: str
    value: Any

    def error(self, rule: str) -> UsageError:
        """Return an error that names the file and the key."""
        return UsageError(f"'{self.path}': `{self.key}` {rule}.")

    def text(self) -> str:
        """Return the value as text."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error("needs one value behind the colon; write it, or remove the line")
        return self.value.strip()

    def name(self) -> str:
        """Return the value as one line to be published with the model."""
        text = " ".join(self.text().split())
        if len(text) > LONGEST_NAME or not is_plain(text):
            raise self.error(f"must be one line of at most {LONGEST_NAME} characters; shorten it")
        return text

    def number(self) -> float:
        """Return the value as a number."""
        try:
            return float(self.text())
        except ValueError:
            raise self.error(f"must be a number, got '{self.text()}'") from None

    def count(self) -> int:
        """Return the value as a positive whole number."""
        text = self.text()
        if not text.isdecimal() or int(text) < 1:
            raise self.error(f"must be a whole number, 1 or more, got '{text}'")
        return int(text)

    def flag(self) -> bool:
        """Return the value as yes or no."""
        text = self.text().casefold()
        if text not in ("true", "false"):
            raise self.error(f"must be true or false, got '{self.text()}'")
        return text == "true"

    def choice(self, options: type[Neighbours] | type[Missing] | type[DecimalMark]) -> Any:
        """Return the value as one of several words."""
        words = [option.value for option in options]
        if self.text() not in words:
            raise self.error(f"must be {' or '.join(words)}, got '{self.text()}'")
        return options(self.text())

    def columns(self) -> tuple[Column, ...]:
        """Return names with their bounds."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.error(
                f"must hold columns with public bounds, as in 'age: [2, 18]'; {WHY_PUBLIC}"
            )
        return tuple(self._column(*item) for item in self.value.items())

    def _column(self, name: str, bounds: Any) -> Column:
        try:
            # text is a sequence too: 18 is not 1 and 8
            low, high = (float(end) for end in (bounds if isinstance(bounds, list) else ()))
        except (TypeError, ValueError):
            raise self.error(
                f"must give '{name}' two public bounds, as in '{name}: [2, 18]'; {WHY_PUBLIC}"
            ) from None
        return self._checked(lambda: checked_column(name, low, high))

    def level_columns(self) -> tuple[LevelColumn, ...]:
        """Return names with their levels."""
        if not isinstance(self.value, dict) or not self.value:
            raise self.error(
                "must hold columns with public levels, as in 'region: [north, south]'; "
                f"{WHY_LEVELS_ARE_PUBLIC}"
            )
        return tuple(self._level_column(*item) for item in self.value.items())

    def classes(self) -> LevelColumn:
        """Return the one column of two classes."""
        if not isinstance(self.value, dict) or len(self.value) != 1:
            raise self.error(
                'must hold one column with its two public labels, as in \'smoker: ["no", '
                f'"yes"]\'; {WHY_LEVELS_ARE_PUBLIC}'
            )
        (column,) = self.level_columns()
        return self._checked(lambda: checked_classes(column))

    def _level_column(self, name: str, levels: Any) -> LevelColumn:
        if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
            raise self.error(
                f"must give '{name}' a list of public levels, as in '{name}: [north, south]'; "
                f"{WHY_LEVELS_ARE_PUBLIC}"
            )
        return self._checked(lambda: checked_levels(name, levels))

    def _checked(self, read: Callable[[], AnyColumn]) -> AnyColumn:
        """Return a column; an error names the file and the key."""
        try:
            return read()
        except UsageError as error:
            raise UsageError(f"'{self.path}': `{self.key}`: {error}") from None

    def beside(self) -> Path:
        """Return a path as seen from the folder of the study file."""
        return self.path.parent / self.text()

    def source(self) -> str:
        """Return where the table is."""
        return self.text() if self.text() == STANDARD_INPUT else str(self.beside())


READ: Mapping[str, Callable[[Entry], Any]] = {
    "title": Entry.name,
    "id": Entry.name,
    "data": Entry.source,
    "targets": Entry.columns,
    "classes": Entry.classes,
    "features": Entry.columns,
    "categories": Entry.level_columns,
    "epsilon": Entry.number,
    "delta": Entry.number,
    "output": Entry.beside,
    "neighbours": lambda entry: entry.choice(Neighbours),
    "unit": lambda entry: clean_name(entry.text()),
    "max_rows_per_unit": Entry.count,
    "missing": lambda entry: entry.choice(Missing),
    "counts": Entry.flag,
    "decimal": lambda entry: entry.choice(DecimalMark),
    "rows": Entry.count,
    "ledger": Entry.beside,
    "partition": Entry.text,
}


def _check_key(path: Path, key: str) -> None:
    if key in KEYS:
        return
    if key in CONSENT:
        raise UsageError(f"'{path}': `{key}` belongs on the command line, as --{key}; remove it.")
    near = get_close_matches(key, KEYS, n=1)
    remedy = f"did you mean `{near[0]}`?" if near else f"known keys are {', '.join(KEYS)}."
    raise UsageError(f"'{path}': `{key}` is not a key of a study file; {remedy}")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise UsageError(f"cannot read '{path}': {reason}; name a study file.") from None


def _entries(path: Path, content: bytes) -> dict[str, Any]:
    """Return keys and values as they are written."""
    try:
        entries = yaml.load(content, _DistinctKeys)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UsageError(f"'{path}' is not YAML{line}: {error.problem}; mend it.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"'{path}' is not a text file in UTF-8; save it as one.") from None
    if not isinstance(entries, dict):
        raise UsageError(f"'{path}' is not a study file; write lines like 'epsilon: 1'.")
    return entries


class _DistinctKeys(yaml.BaseLoader):
    """Reads text, lists and mappings, and no mapping with a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                problem = "a key must be a word"
            elif key in seen:
                problem = f"the key '{key}' is given twice"
            else:
                seen.add(key)
                continue
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
        return super().construct_mapping(node, deep)
