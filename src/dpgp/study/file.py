"""Study files: YAML with the keys of the options, read as text so that names stay as they are.

``yaml.BaseLoader`` guesses no types: a column may be called ``no`` or ``2020``, and 1e-6, which
YAML 1.1 takes for text, is a number where a number belongs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from dpgp.privacy.certificate import StudyRecord
from dpgp.study.entries import Entry
from dpgp.study.errors import UsageError, Words
from dpgp.study.study import Study
from dpgp.study.table import options_by_key

CONSENT = ("yes", "force")


def read_study(path: Path) -> Study:
    """Read a study file; a UsageError with a remedy where it cannot be meant."""
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise UsageError(f"cannot read '{path}': {reason}; name a study file.") from None
    study = study_of(path, _entries(path, content))
    record = StudyRecord.of(content, study.title, study.id)
    return Study(record=record, file=path, **study.said)


def study_of(path: Path, entries: Mapping[str, Any]) -> Study:
    """Read keys and values as a study file at ``path`` has them."""
    options = options_by_key()
    for key in entries:
        _check_key(path, key)
    read = {key: options[key].value.entry(Entry(path, key, entries[key])) for key in entries}
    return Study(**read)


def with_study_file(said: Study, path: Path | None) -> Study:
    """Return options together with a study file; a UsageError where both make the same promise."""
    if path is None:
        return said
    file, options = read_study(path), options_by_key()
    for key in said.said:
        if key in file.said and not options[key].is_replaceable:
            raise UsageError(
                f"'{path}' says `{key}`, and so does the command line; remove one of them, so that "
                "the promise stands in one place."
            )
    return file.but(**said.said)


def study_text(study: Study) -> str:
    """Return a study as YAML that :func:`read_study` reads; what it does not say is left out."""
    options = options_by_key()
    plain = {key: options[key].value.plain(value) for key, value in study.said.items()}
    return yaml.dump(plain, Dumper=_Lines, sort_keys=False, allow_unicode=True, width=100)


class _Lines(yaml.SafeDumper):
    """Writes bounds and levels in one line, behind the name of their column."""


_Lines.add_representer(
    tuple,
    lambda dumper, ends: dumper.represent_sequence("tag:yaml.org,2002:seq", ends, flow_style=True),
)


def _check_key(path: Path, key: str) -> None:
    keys = list(options_by_key())
    if key in keys:
        return
    if key in CONSENT:
        raise UsageError(
            Words(
                f"'{path}': `{key}` belongs on the command line, as --{key}; remove it.",
                page=f"`{key}` is no part of a study.",
            )
        )
    near = get_close_matches(key, keys, n=1)
    remedy = f"did you mean `{near[0]}`?" if near else f"known keys are {', '.join(keys)}."
    rule = f"`{key}` is not a key of a study file; {remedy}"
    raise UsageError(Words(f"'{path}': {rule}", page=rule))


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
