"""The commands of the tutorial, as processes: keys, a roster, a coordinator, three sites."""

import csv
import json
import os
import subprocess
import sys

import pytest
import yaml
from processes import NAMES, rows_of
from typer.testing import CliRunner

from dpgp.cli import app
from dpgp.verify import verify

COMMAND = [sys.executable, "-c", "from dpgp.cli import app; app()"]
STUDY = {
    "targets": {"height": [-2, 2]},
    "features": {"age": [-1, 1]},
    "epsilon": 3,
    "delta": 1e-5,
}


def table(path, X, y):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("age", "height"), *zip(X[:, 0], y, strict=True)])


@pytest.fixture
def study(parties):
    (parties / "study.yaml").write_text(yaml.safe_dump(STUDY))
    for name, X, y in zip(NAMES, *rows_of(), strict=True):
        table(parties / f"{name}.csv", X, y)
    return parties


def started(folder, *arguments):
    """Start a command; what it prints goes to a pipe."""
    return subprocess.Popen(
        [*COMMAND, "sites", *arguments],
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def site(folder, name, *more):
    options = f"--study study.yaml --roster roster.yaml --site {name} --key {name}.key"
    return started(folder, "fit", f"{name}.csv", *options.split(), "-o", f"{name}.json", *more)


def test_three_sites_and_a_coordinator_write_one_model(study):
    keys = ["--roster", "roster.yaml", "--key", "coordinator.key"]
    with started(study, "coordinate", *keys) as leader:
        assert "waiting for 3 sites" in leader.stdout.readline()
        for name, process in {name: site(study, name, "--yes") for name in NAMES}.items():
            with process:
                output, _ = process.communicate(timeout=300)
            assert process.returncode == 0, output
            assert f"{name}.json" in output
        output, _ = leader.communicate(timeout=60)
    assert leader.returncode == 0
    assert "the fit is complete" in output
    models = [json.loads((study / f"{name}.json").read_text()) for name in NAMES]
    assert models[0] == models[1] == models[2]
    assert all(finding.holds for finding in verify(study / "north.json"))


def test_a_key_is_made_and_never_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = CliRunner().invoke(app, ["sites", "key", "north"])
    assert first.exit_code == 0
    assert "for the roster: north: " in first.output
    again = CliRunner().invoke(app, ["sites", "key", "north"])
    assert again.exit_code != 0
    assert "choose another name" in again.output
