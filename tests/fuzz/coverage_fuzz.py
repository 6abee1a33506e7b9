"""Coverage-guided fuzzing with atheris: ``python tests/fuzz/coverage_fuzz.py TARGET -runs=20000``.

Ends with exit code 0 where no input of so many was a finding; libFuzzer limits memory and time.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dpgp"]):
    import fuzz_targets


def main():
    name, *options = sys.argv[1:]
    corpus = Path(tempfile.mkdtemp(prefix="dpgp-corpus-"))
    for number, seed in enumerate(fuzz_targets.SEEDS[name]):
        (corpus / str(number)).write_bytes(seed)
    limits = ["-rss_limit_mb=3000", "-timeout=60", "-max_len=20000", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, *options, str(corpus)], fuzz_targets.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
