"""Whatever stands in a file, commands answer in words and with an exit code."""

import json
import math
import subprocess
import sys
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app
from dpgp.json_document import digest
from dpgp.model.file import ModelFileError
from dpgp.verify import file as verify_file
from dpgp.verify import verify
from dpgp.verify.claim import are_close

KIND = "people"
HOSTILE = [
    0, -0.0, 5e-324, 1e-320, 1e-300, 1e-160, 1e-20, 1e20, 1e160, 1e308, 10**400, 10**4299, -1,
    -1e308, math.nan, math.inf, -math.inf, "inf", "-inf", "1", "\x1b", True, False, None, [], [1.0],
    {}, {"a": 1},
]  # fmt: skip
NUMBERS = ("sensitivity", "noise_std", "smallest_scale", "size", "coordinates", "label", "query")
PROMISES = ("epsilon", "delta", "mu", "rows_per_unit", "neighbours", "per_person", "seeded")
quick = settings(suppress_health_check=list(HealthCheck), database=None)


def written(document, folder):
    """Write values with their own digest, and NaN where there is one: a stranger's file."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    try:
        rest["digest"] = digest(rest)
    except ValueError:
        rest["digest"] = "of no JSON"
    path = folder / "model.json"
    path.write_text(json.dumps(rest), encoding="utf-8")
    return path


def answers(*command):
    """Return the exit code of a command that ends in words."""
    result = CliRunner().invoke(app, [str(word) for word in command])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.output
    return result.exit_code


@pytest.fixture
def no_composition(monkeypatch):
    monkeypatch.setattr(verify_file, "composed_epsilon", lambda claim: None)


def holds(path):
    """Return whether all of a file holds; not where it is none. It loads, or is none."""
    with suppress(ModelFileError):
        dpgp.load(path)
    with suppress(ModelFileError):
        return all(finding.holds for finding in verify(path))
    return False


@pytest.mark.parametrize("name", [*NUMBERS, *PROMISES])
def test_no_number_of_a_guarantee_ends_in_a_traceback(document_of, tmp_path, no_composition, name):
    document = document_of(KIND)
    guarantee = json.dumps(document["guarantee"])
    for value, everywhere in product(HOSTILE, (False, True)):
        edited = json.loads(guarantee)
        places = edited["releases"] if name in NUMBERS else [edited]
        for place in places if everywhere else places[:1]:
            place[name] = value
        document["guarantee"] = edited
        is_same = json.dumps(edited) == guarantee
        assert holds(written(document, tmp_path)) == is_same, (name, value)


def places(value, path=()):
    parts = value.items() if isinstance(value, dict) else ()
    parts = enumerate(value[:3]) if isinstance(value, list) else parts
    return [path, *(place for key, part in parts for place in places(part, (*path, key)))]


def put(document, place, value):
    part = document
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value


@settings(quick, max_examples=60)
@given(st.data())
def test_commands_answer_whatever_a_file_holds(document_of, tmp_path, no_composition, data):
    document = document_of(KIND)
    for _ in range(data.draw(st.integers(1, 3))):
        found = [place for place in places(document) if place and place[0] != "digest"]
        part = data.draw(st.sampled_from(sorted({place[0] for place in found})))
        place = data.draw(st.sampled_from([place for place in found if place[0] == part]))
        put(document, place, data.draw(st.sampled_from(HOSTILE)))
    path = written(document, tmp_path)
    assert answers("verify", path) in (0, 1, 4)
    assert answers("show", path) in (0, 4)
    assert answers("report", path, "-o", tmp_path / "report.html", "--force") in (0, 4)


@pytest.mark.parametrize("weights", [[5e-324, 1.0], [1.0, 1e308], [1.0, 1.1e6]], ids=str)
def test_stages_that_no_noise_could_serve_are_refused(document_of, tmp_path, weights):
    document = document_of(KIND)
    document["settings"]["stages"] = weights
    path = written(document, tmp_path)
    assert answers("show", path) == 4
    assert answers("verify", path) == 1
    with pytest.raises(ValueError, match="within a factor of 1,000,000 of each other"):
        dpgp.plan(n=100, bounds=(0, 1), target_bounds=(0, 1), stages=weights)


@settings(quick, max_examples=40)
@given(
    multipliers=st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=30),
    delta=st.floats(5e-324, 1.0, exclude_max=True),
    epsilon=st.floats(5e-324, 1.7e308),
)
@example([1.0] * 30, 5e-324, 1.7e308)
def test_any_noise_is_accounted_for(document_of, tmp_path, multipliers, delta, epsilon):
    document = document_of(KIND)
    guarantee = document["guarantee"]
    first = guarantee["releases"][0]
    guarantee.update(
        epsilon=epsilon,
        delta=delta,
        releases=[{**first, "noise_std": first["sensitivity"] * m} for m in multipliers],
    )
    found = {finding.question: finding for finding in verify(written(document, tmp_path))}
    assert not found["the releases are those of its steps"].holds


@pytest.mark.parametrize("count", [100, 10_000, 10_001])
def test_thousands_of_releases_are_answered(document_of, tmp_path, count):
    document = document_of(KIND)
    first = document["guarantee"]["releases"][0]
    document["guarantee"]["releases"] = [
        {**first, "label": f"stage {k}", "noise_std": 100.0 + k} for k in range(count)
    ]
    assert answers("verify", written(document, tmp_path)) == (1 if count <= 10_000 else 4)


def test_nesting_is_answered(document_of, tmp_path, no_composition):
    """Somewhere on the way a file can be read, and is too deep to be written for its digest."""
    text = json.dumps({**document_of(KIND), "created": "NESTED"})
    path = tmp_path / "model.json"
    for depth in (100, 500, *range(800, 1000), 5000):
        path.write_text(text.replace('"NESTED"', "[" * depth + "]" * depth), encoding="utf-8")
        assert not holds(path)


def test_what_is_infinite_is_close_to_nothing_else():
    assert are_close(math.inf, math.inf)
    assert not are_close(1e308, math.inf)
    assert not are_close(math.inf, 1e308)
    assert not are_close(math.nan, math.nan)


@pytest.mark.parametrize("name", ["n", "clip", "sigma_a", "sigma_b", "sigma_c", "c"])
def test_no_number_of_a_stage_ends_in_a_traceback(document_of, tmp_path, no_composition, name):
    document = document_of(KIND)
    stage = document["stages"][1]
    part = stage if name in stage else stage["targets"][0]
    for value in (0, -1, 5e-324, 1e-160, 1e160, 1e308, 10**400, "inf", None):
        before, part[name] = part[name], value
        path = written(document, tmp_path)
        part[name] = before
        if answers("show", path) == 0:
            assert answers("report", path, "-o", tmp_path / "report.html", "--force") == 0
        assert answers("verify", path) in ((0, 1, 4) if name == "c" else (1, 4))


def test_a_missing_package_is_named(document_of, tmp_path):
    path = written(document_of(KIND), tmp_path)
    missing = "import sys; sys.modules['cryptography'] = None"
    for command in (("verify", path, "--key", "me.pub"), ("sign", path, "--key", "me.key")):
        run = f"{missing}; from dpgp.cli import app; app({[str(word) for word in command]})"
        done = subprocess.run(
            [sys.executable, "-c", run], capture_output=True, text=True, check=False
        )
        assert done.returncode == 4, done.stderr
        assert "signatures need the package cryptography" in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
