"""The process of a fit: what it says, how it stops, and that it repeats nothing of the rows."""

import json
import subprocess
import sys
from contextlib import nullcontext

import pytest
from studio_client import girls

import dpgp
from dpgp.inference.few.target import TargetFit
from dpgp.privacy import noise
from dpgp.studio import worker
from test_canary import COLUMNS as ARROW_COLUMNS
from test_canary import NUMBER, PARQUET, PERSON, TABLES, TEXT, TRACES

STUDY = """
targets: {height: [0, 1]}
features: {age: [0, 1]}
unit: id
epsilon: 1
delta: 1e-6
output: model.json
"""


@pytest.fixture
def heard(tmp_path, monkeypatch):
    """Run the worker here, and return all that it says."""

    def heard(table, study=STUDY):
        folder = tmp_path / "results"
        folder.mkdir()
        (folder / "study.yaml").write_text(study, encoding="utf-8")
        events = []

        class Voice:
            spends = False

            def say(self, **event):
                self.spends = self.spends or "spends" in event
                events.append(event)

        monkeypatch.setattr(worker, "Voice", Voice)
        monkeypatch.setattr(worker, "interrupted_with_input", nullcontext)
        worker.main(folder, str(table))
        return events

    return heard


@pytest.fixture
def no_noise(monkeypatch):
    def draw(*_):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(noise.SecureNoise, "draw", draw)


@pytest.mark.parametrize("content", TABLES.values(), ids=list(TABLES))
def test_tables_that_are_refused_are_not_repeated(heard, no_noise, tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    events = heard(path)
    assert events[-1]["ended"] == "failed"
    assert not any("spends" in event for event in events)
    assert not TRACES.search(json.dumps(events).replace(str(tmp_path), ""))


@pytest.mark.parametrize("changes", PARQUET.values(), ids=list(PARQUET))
def test_parquet_that_is_refused_is_not_repeated(heard, no_noise, tmp_path, changes):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table(ARROW_COLUMNS | changes), path)
    events = heard(path)
    assert events[-1]["ended"] == "failed"
    assert not TRACES.search(json.dumps(events).replace(str(tmp_path), ""))


def test_remedies_are_those_of_the_page(heard, no_noise, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,age,height\n1,0.5,0.5\n2,,0.5\n", encoding="utf-8")
    message = heard(path)[-1]["message"]
    assert "choose “contribute nothing” under incomplete rows" in message
    assert "--" not in message


@pytest.mark.parametrize("kind", [RuntimeError, ValueError])
def test_a_fault_after_the_first_release_says_no_value(heard, tmp_path, monkeypatch, kind):
    def fault(*_):
        raise kind(f"{NUMBER} {TEXT} {PERSON}")

    path = tmp_path / "people.csv"
    rows = "".join(f"{PERSON + k},0.5,{k / 40}\n" for k in range(40))
    path.write_text(f"id,age,height\n{rows}", encoding="utf-8")
    monkeypatch.setattr(TargetFit, "add", fault)
    events = heard(path)
    assert events[-1]["message"] == worker.A_FAULT
    assert "Booked: number of rows, input histograms, stage 1." in events[-1]["notes"][0]
    assert not TRACES.search(json.dumps(events))


def test_a_fit_says_its_steps_and_writes_its_papers(heard, tmp_path):
    (tmp_path / "girls.csv").write_text(girls(), encoding="utf-8")
    study = "title: Girls\ntargets: {height_cm: [70, 190]}\nfeatures: {age: [2, 18]}\n"
    events = heard(tmp_path / "girls.csv", study + "epsilon: 1\ndelta: 1e-6\noutput: model.json\n")
    assert events[0] == {"step": "Reading the table"}
    assert "stage 1 of 6" in [event["step"] for event in events if "spends" in event]
    assert events[-2] == {"step": "Writing the report", "saved": True}
    assert events[-1]["ended"] == "done"
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {"model.json", "report.html", "certificate.txt", "statement.md", "study.yaml"}
    certificate = (tmp_path / "results" / "certificate.txt").read_text(encoding="utf-8")
    model = dpgp.load(tmp_path / "results" / "model.json")
    words = f"Girls\n\nModel {model.id}\n\n(1, 1e-06)-differential privacy"
    assert certificate.startswith(words)
    assert model.certificate.study.title == "Girls"


def test_it_stops_when_its_input_ends(tmp_path):
    """The studio closes it to cancel; an end of the studio closes it too."""
    code = (
        "from dpgp.studio.worker import *\nimport time\nvoice = Voice()\n"
        "try:\n    with interrupted_with_input():\n        print('hidden'); voice.say(step='x')\n"
        "        for _ in range(1200): time.sleep(0.05)\n"
        "except KeyboardInterrupt:\n    voice.say(ended='stopped')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert json.loads(process.stdout.readline()) == {"step": "x"}
        process.stdin.close()
        assert json.loads(process.stdout.readline()) == {"ended": "stopped"}
