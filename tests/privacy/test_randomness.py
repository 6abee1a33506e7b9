"""Noise is never repeated by workers, and what a seed has touched says so wherever it is shown."""

import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app
from dpgp.privacy.noise import SecureNoise, SimulatedNoise
from dpgp.report.papers import statement
from dpgp.verify import verify

SCALE = 2.0**40  # of two million draws, two are the same once in a million times

FORKS = """
import os
from dpgp.privacy.noise import SecureNoise
source = SecureNoise()
print(*source.draw(2.0**40, 8), source.uniform())
for _ in range(16):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        line = [*source.draw(2.0**40, 8), source.uniform()]
        os.write(writer, " ".join(map(str, line)).encode() + b"\\n")
        os._exit(0)
    os.close(writer)
    print(os.read(reader, 4096).decode().strip())
    os.waitpid(child, 0)
    print(*source.draw(2.0**40, 8), source.uniform())
"""


def test_forked_processes_never_repeat_noise():
    """A generator whose state is copied by a fork would give every child the same draws."""
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    draws = done.stdout.split()
    assert len(draws) == 33 * 9
    assert len(set(draws)) == len(draws)


def test_threads_never_repeat_noise():
    source = SecureNoise()
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda _: source.draw(SCALE, 64), range(32)))
    draws = [draw for part in parts for draw in part]
    assert len(set(draws)) == len(draws)


def test_seeds_of_other_generators_do_not_touch_the_noise():
    draws = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - the very thing
        draws.append(SecureNoise().draw(SCALE, 8))
    assert not set(draws[0]) & set(draws[1])


def test_seeded_noise_does_repeat_and_is_not_private():
    assert SimulatedNoise(3).draw(SCALE, 8) == SimulatedNoise(3).draw(SCALE, 8)
    assert SecureNoise.is_private
    assert not SimulatedNoise.is_private


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulation")
    X = np.linspace(0.0, 1.0, 60)[:, None]
    ledger = dpgp.Ledger(folder / "s.ledger", 3.0, 1e-5)
    options = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 1}
    gp = dpgp.PrivateGPRegressor(**options, random_state=0, ledger=ledger).fit(X, X[:, 0])
    gp.save(folder / "model.json")
    gp.report(folder / "report.html")
    return gp, folder


def test_a_seed_marks_certificate_model_ledger_and_report(simulation):
    gp, folder = simulation
    document = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    guarantee = document["guarantee"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    loaded = dpgp.load(folder / "model.json")
    marked = [
        str(gp.certificate_),
        gp.certificate_._repr_html_(),
        gp.certificate_.note,
        repr(gp.model_),
        repr(loaded),
        gp.model_._repr_html_(),
        document["about"],
        guarantee["statement"],
        guarantee["mechanism"]["random_source"],
        page,
        statement(loaded),
        *(
            CliRunner().invoke(app, [*command, str(path)]).output
            for command, path in (
                (("show",), folder / "model.json"),
                (("verify",), folder / "model.json"),
                (("ledger", "show"), folder / "s.ledger"),
                (("ledger", "history"), folder / "s.ledger"),
            )
        ),
    ]
    for text in marked:
        assert "not private" in " ".join(text.lower().split()), text
    assert guarantee["seeded"] is True
    assert not loaded.certificate.is_private
    assert any(not finding.holds for finding in verify(folder / "model.json"))
    assert dpgp.Ledger(folder / "s.ledger").records()[1].simulation
