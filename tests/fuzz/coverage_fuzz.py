"""Coverage-guided fuzzing with atheris: ``python tests/fuzz/coverage_fuzz.py TARGET -runs=20000``.

Ends with exit code 0 where no input of so many was a finding; libFuzzer limits memory and time.
Documents are mutated as bytes and, every second time, as values: a place of the JSON is replaced.
"""

import copy
import json
import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dpgp"]):
    import fuzz_targets

DOCUMENTS = ("model_file", "ledger_records")
HOSTILE = [
    None,
    True,
    0,
    -1,
    1e308,
    10**400,
    "inf",
    "\x1b",
    [],
    {},
    [[1.0]],
    [1e-300] * 3,
    "a" * 99,
]


def mutated_values(data, max_size, seed):
    """Replace a few places of one JSON document a line; bytes where it is none."""
    choose = random.Random(seed)
    try:
        lines = [json.loads(line) for line in data.split(b"\n")] if choose.random() < 0.5 else None
    except (ValueError, RecursionError):
        lines = None
    if lines is None:
        return atheris.Mutate(data, max_size)
    for _ in range(choose.randint(1, 3)):
        replace_somewhere(lines, choose)
    return b"\n".join(json.dumps(line).encode() for line in lines)[:max_size]


def replace_somewhere(value, choose):
    """Walk down from a list or an object by chance, and put something else at the end."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = choose.choice(keys)
        if not isinstance(value[key], dict | list) or choose.random() < 0.1:
            value[key] = copy.deepcopy(choose.choice(HOSTILE))
            return
        value = value[key]


def main():
    name, *options = sys.argv[1:]
    corpus = Path(tempfile.mkdtemp(prefix="dpgp-corpus-"))
    for number, seed in enumerate(fuzz_targets.SEEDS[name]):
        (corpus / str(number)).write_bytes(seed)
    limits = ["-rss_limit_mb=3000", "-timeout=60", "-max_len=60000", "-print_final_stats=1"]
    mutator = {"custom_mutator": mutated_values} if name in DOCUMENTS else {}
    target = fuzz_targets.TARGETS[name]
    atheris.Setup([sys.argv[0], *limits, *options, str(corpus)], target, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
