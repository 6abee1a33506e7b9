"""How commands behave in a shell: help to copy from, pipes, interruptions, progress, names."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dpgp
from dpgp.cli import app

COMMAND = [sys.executable, "-c", "from dpgp.cli import app; app()"]
NAMES = ["--x", "🎈 :heart: [bold]", 'the "cm"']


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A simulated model with awkward names."""
    path = tmp_path_factory.mktemp("model") / "model.json"
    X = np.random.default_rng(0).uniform(0, 1, (60, 2))
    fitted = dpgp.PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1), random_state=1)
    fitted.fit(X, X[:, 0]).save(path)
    return path


@pytest.fixture
def table(tmp_path):
    """A table with awkward names; the argument of fit's options."""
    values = np.random.default_rng(0).uniform(0, 1, (40, 3))
    lines = [",".join(f"{value:.3f}" for value in row) for row in values]
    path = tmp_path / "a table.csv"
    header = '--x,🎈 :heart: [bold],"the ""cm"""'
    path.write_text("\n".join([header, *lines]), encoding="utf-8-sig")
    first, second, target = (f"{name}:0:1" for name in NAMES)
    return [path, "--feature", first, "--feature", second, "--target", target, "--delta", 1e-6]


COMMANDS = [command.callback.__name__ for command in app.registered_commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples_to_copy(invoke, command):
    result = invoke(command, "--help", columns=80)
    assert result.exit_code == 0
    assert f" dpgp {command} " in result.stdout


def test_help_keeps_lines_and_brackets(invoke):
    lines = [line.strip() for line in invoke("fit", "--help", columns=80).stdout.splitlines()]
    first = lines.index("dpgp fit growth.csv --target height_cm:70:190 --feature age:2:18 \\")
    assert lines[first + 1] == "--epsilon 1 --delta 1e-6 -o girls.json"
    assert "pip install '.[demo]'" in invoke("demo", "--help", columns=80).stdout


def test_version(invoke):
    assert invoke("--version").stdout.startswith("dpgp ")


def test_names_are_repeated_as_they_are(invoke, table, tmp_path):
    output = tmp_path / "my model.json"
    shown = invoke("fit", *table, "--epsilon", 1, "-o", output, "--yes")
    assert shown.exit_code == 0, shown.output
    assert f"dpgp show '{output}'" in shown.stdout.replace("\n", "")
    assert [row["name"] for row in describe(invoke, output)] == NAMES
    text = invoke("show", output).stdout
    assert all(name in text and name in shown.stderr for name in NAMES)


def describe(invoke, path):
    about = json.loads(invoke("show", path, "--json", columns=40).stdout)
    return about["inputs"] + about["targets"]


def test_a_small_budget_and_a_large_delta_are_said_before_spending(invoke, table, tmp_path):
    result = invoke("fit", *table, "--epsilon", 0.1, "-o", tmp_path / "small.json", "--yes")
    assert result.exit_code == 0, result.output
    assert "no choice beats predicting the mean" in result.stderr
    assert "Weak guarantee" not in result.stderr
    weak = [*table[:-1], 0.03]
    result = invoke("fit", *weak, "--epsilon", 1, "-o", tmp_path / "weak.json", "--yes")
    assert "Weak guarantee: δ = 0.03 is not below 1/rows" in result.stderr


def test_a_plan_says_what_is_weak(invoke):
    command = ["plan", "--rows", 30, "--target", "y:0:1", "--feature", "x:0:1", "--delta"]
    assert "Weak guarantee" not in invoke(*command, 1e-6).stdout
    assert "δ = 0.1 is not below 1/rows" in invoke(*command, 0.1).stdout


def test_an_interrupted_fit_writes_nothing(invoke, table, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpgp.private.fit.planned_steps", interrupt)
    result = invoke("fit", *table, "--epsilon", 1, "-o", tmp_path / "m.json", "--yes")
    assert result.exit_code == 1
    assert result.stderr.endswith("Stopped. Nothing was spent.\n")
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_reader_may_leave(model, options):
    process = subprocess.Popen(
        [*COMMAND, "show", str(model), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)
    process.stderr.close()


def test_narrow_terminals_lose_no_digit(invoke, model):
    wide = invoke("show", model, columns=200).stdout
    narrow = invoke("show", model, columns=50).stdout
    assert "…" not in narrow
    assert max(map(len, narrow.splitlines())) <= 50
    assert "residual histograms" in wide


def test_progress_is_for_terminals(invoke, model, tmp_path, monkeypatch):
    (tmp_path / "new.csv").write_text("a,b\n" + "0.1,0.2\n,\n0.3,0.4\n0.5,0.6\n")
    arguments = ("predict", model, tmp_path / "new.csv")
    piped = invoke(*arguments)
    assert "Predicting" not in piped.stderr
    terminal = invoke(*arguments, env={"FORCE_COLOR": "1"})
    assert "Predicting" in terminal.stderr
    tables = [pd.read_csv(io.StringIO(result.stdout)) for result in (piped, terminal)]
    pd.testing.assert_frame_equal(*tables, rtol=1e-9)  # BLAS may round a short batch differently


def test_a_number_from_0_to_1_is_told_of_classes_before_consent(invoke, tmp_path):
    rows = "".join(f"{k / 40},{k % 2}\n" for k in range(40))
    (tmp_path / "ill.csv").write_text(f"x,ill\n{rows}")
    words = ["fit", tmp_path / "ill.csv", "--feature", "x:0:1", "--epsilon", 1, "--delta", 1e-6]
    number = invoke(*words, "--target", "ill:0:1", "--dry-run")
    assert number.exit_code == 0, number.output
    assert "--classes ill:0,1" in number.output
    for other in (["--target", "ill:0:2"], ["--target", "ill:0:1", "--counts"]):
        assert "--classes" not in invoke(*words, *other, "--dry-run").output
