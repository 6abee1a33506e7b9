"""The commands of the tutorial, as processes: keys, a roster, a coordinator, three sites."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml
from processes import NAMES, rows_of
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app
from dpgp.sites.site import fingerprint
from dpgp.verify import verify

COMMAND = [sys.executable, "-c", "from dpgp.cli import app; app()"]
STUDY = {
    "targets": {"height": [-2, 2]},
    "features": {"age": [-1, 1]},
    "epsilon": 3,
    "delta": 1e-5,
}


def table(path, X, y):
    tall = ["tall" if height > 0 else "small" for height in y]
    rows = zip(X[:, 0], y, tall, 1.0 + X[:, 0], strict=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("age", "height", "tall", "weight"), *rows])


@pytest.fixture
def study(parties):
    (parties / "study.yaml").write_text(yaml.safe_dump(STUDY))
    for name, X, y in zip(NAMES, *rows_of(), strict=True):
        table(parties / f"{name}.csv", X, y)
    return parties


def started(folder, *arguments, **environment):
    """Start a command; what it prints goes to a pipe."""
    return subprocess.Popen(
        [*COMMAND, "sites", *arguments],
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def site(folder, name, *more, **environment):
    options = f"--study study.yaml --roster roster.yaml --site {name} --key {name}.key"
    output = ["-o", f"{name}.json", *more]
    return started(folder, "fit", f"{name}.csv", *options.split(), *output, **environment)


def written_by_all(study, west=None):
    """Run a coordinator and three sites; return their models, and what the sites printed."""
    environments, outputs = {"west": west or {}}, []
    keys = ["--roster", "roster.yaml", "--key", "coordinator.key"]
    with started(study, "coordinate", *keys) as leader:
        assert "waiting for 3 sites" in leader.stdout.readline()
        sites = [site(study, name, "--yes", **environments.get(name, {})) for name in NAMES]
        for name, process in zip(NAMES, sites, strict=True):
            with process:
                outputs.append(process.communicate(timeout=300)[0])
            assert process.returncode == 0, outputs[-1]
            assert f"{name}.json" in outputs[-1]
        output, _ = leader.communicate(timeout=60)
    assert leader.returncode == 0
    assert "the fit is complete" in output
    return [
        without_time(json.loads((study / f"{name}.json").read_text())) for name in NAMES
    ], outputs


def without_time(model):
    """Return a model without the second in which its site wrote it, which its digest has too."""
    return {name: value for name, value in model.items() if name not in ("created", "digest")}


def test_three_sites_and_a_coordinator_write_one_model(study):
    models, _ = written_by_all(study)
    assert models[0] == models[1] == models[2]
    assert all(finding.holds for finding in verify(study / "north.json"))


def test_sites_fit_classes_of_weighted_rows(study):
    asked = STUDY | {"classes": {"tall": ["small", "tall"]}, "weight": {"weight": 1.5}}
    del asked["targets"]
    (study / "study.yaml").write_text(yaml.safe_dump(asked))
    models, outputs = written_by_all(study)
    assert models[0] == models[1] == models[2]
    assert "weight, of which 1.5 counts as one row" in outputs[0]
    found = dpgp.load(study / "north.json").weights
    total = sum(np.minimum((1.0 + X[:, 0]) / 1.5, 1.0).sum() for X in rows_of()[0])
    assert abs(found.total - total) < 6 * found.noise_std  # false alarm: 2e-9
    assert found.noise_std < total / 6


def test_a_site_with_another_kind_of_processor_takes_part(study):
    """Its questions differ in last bits, which is said; noise and masks are the same."""
    other = {"OPENBLAS_CORETYPE": "Sandybridge"}
    code = "from dpgp.sites.site import fingerprint; print(fingerprint())"
    theirs = subprocess.check_output([sys.executable, "-c", code], env=os.environ | other)
    if theirs.decode().strip() == fingerprint():
        pytest.skip("this machine cannot stand in for another.")
    models, outputs = written_by_all(study, west=other)
    for output in outputs:
        assert "processors or libraries differ" in output
    assert models[0] == models[1]
    assert models[0]["guarantee"] == models[2]["guarantee"]


def test_a_key_is_made_and_never_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = CliRunner().invoke(app, ["sites", "key", "north"])
    assert first.exit_code == 0
    assert "for the roster: north: " in first.output
    again = CliRunner().invoke(app, ["sites", "key", "north"])
    assert again.exit_code != 0
    assert "choose another name" in again.output
