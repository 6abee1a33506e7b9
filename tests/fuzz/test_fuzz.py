"""Hostile input ends in one clear error: mutated bytes, mutated values, and a real fuzzer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_targets import MODEL, RECORDS, SEEDS, TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
QUICK = {"command_line": 15, "csv_table": 60, "ledger_file": 40, "model_file": 40}
RUNS = {  # 100,000 together
    "model_file": 30_000,
    "ledger_file": 20_000,
    "ledger_records": 25_000,
    "csv_table": 20_000,
    "command_line": 5_000,
}

quick = settings(suppress_health_check=list(HealthCheck), database=None)


@st.composite
def mutated(draw, seeds):
    """Bytes of a seed with some cut out, repeated, changed or put in."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, max(len(data) - 1, 0)))
        stop = min(len(data), start + draw(st.integers(0, 8)))
        data[start:stop] = draw(
            st.one_of(
                st.binary(max_size=8), st.just(bytes(data[start:stop]) * 3), st.just(b"9" * 40)
            )
        )
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_bytes(name):
    @settings(quick, max_examples=QUICK.get(name, 100))
    @given(st.one_of(mutated(SEEDS[name]), st.binary(max_size=200)))
    def run(data):
        TARGETS[name](data)

    run()


HOSTILE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.just("inf"), st.text(max_size=5), st.just([]), st.just({}), st.just([[1.0]]),
    st.just(10**400), st.just(-1e308), st.just("\x1b[2J"), st.lists(st.floats(0, 1), max_size=3),
)  # fmt: skip


def places(value, path=()):
    """All places of a document, from its root to its leaves."""
    parts = value.items() if isinstance(value, dict) else ()
    parts = enumerate(value) if isinstance(value, list) else parts
    return [path, *(place for key, part in parts for place in places(part, (*path, key)))]


def with_value(document, place, value):
    copied = json.loads(json.dumps(document))
    part = copied
    for key in place[:-1]:
        part = part[key]
    if not place:
        return value
    part[place[-1]] = value
    return copied


MODEL_DOCUMENT = json.loads(MODEL)
RECORD_DOCUMENTS = [json.loads(line) for line in RECORDS.split(b"\n")]


@settings(quick, max_examples=30)
@given(st.data())
def test_mutated_values_of_a_model(data):
    place = data.draw(st.sampled_from(places(MODEL_DOCUMENT)))
    edited = with_value(MODEL_DOCUMENT, place, data.draw(HOSTILE))
    TARGETS["model_file"](json.dumps(edited).encode())


@settings(quick, max_examples=150)
@given(st.data())
def test_mutated_values_of_a_ledger(data):
    documents = json.loads(json.dumps(RECORD_DOCUMENTS))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places(documents)))
        documents = with_value(documents, place, data.draw(HOSTILE))
    lines = documents if isinstance(documents, list) else [documents]
    TARGETS["ledger_records"]("\n".join(json.dumps(line) for line in lines).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_coverage_guided(name):
    pytest.importorskip("atheris")  # `make test-slow` installs it
    done = subprocess.run(
        [sys.executable, HERE / "coverage_fuzz.py", name, f"-runs={RUNS[name]}"],
        capture_output=True, text=True, check=False, cwd=HERE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
