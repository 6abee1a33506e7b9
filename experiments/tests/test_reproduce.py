"""``dpgp reproduce``: a command that the laboratory adds to those of the product."""

import csv
from importlib.metadata import entry_points

import pytest
import typer
from typer.testing import CliRunner

from dpgp_experiments import REGISTRY
from dpgp_experiments.reproduce import reproduce

PNG, SVG = b"\x89PNG", b"<?xml"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    app = typer.Typer()
    app.command()(reproduce)
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_product_finds_the_command():
    (point,) = entry_points(group="dpgp.commands", name="reproduce")
    assert point.load() is reproduce


def test_help_names_every_experiment_and_shows_an_example(run):
    shown = run("--help").stdout
    assert " dpgp reproduce illustration " in shown
    assert all(name in shown for name in REGISTRY)


def test_simulations_take_no_files(run, tmp_path):
    result = run("illustration", "--data", tmp_path / "a.csv")
    assert result.exit_code == 2
    assert "leave --data out" in result.output


def test_a_part_must_be_one_of_the_experiment(run):
    for name, wrong in (("few-inputs", "7"), ("illustration", "1")):
        result = run(name, "--part", wrong)
        assert result.exit_code == 2
        assert f"has no part '{wrong}'" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        ("illustration", {"variant", "epsilon", "rmse", "rmse_se", "coverage_95"}, 12),
        ("calibration", {"method", "noise_std", "epsilon", "level", "coverage", "coverage_se"}, 96),
    ],
)
def test_reproduce_writes_numbers_and_figures(run, tmp_path, name, columns, rows):
    result = run(name, "--repeats", 2, "--seed", 3, "--output", tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert "simulated data, seeded noise" in " ".join(result.stdout.split())
    assert f"{name}.csv" in result.stdout
    with (tmp_path / "new" / f"{name}.csv").open() as file:
        records = list(csv.DictReader(file))
    assert len(records) == rows
    assert columns <= set(records[0])
    assert {record["repeats"] for record in records} == {"2"}
    assert (tmp_path / "new" / f"{name}.png").read_bytes().startswith(PNG)
    assert (tmp_path / "new" / f"{name}.svg").read_bytes().startswith(SVG)


def test_unknown_experiment_is_a_usage_error(run):
    result = run("nonsense")
    assert result.exit_code == 2
    assert "illustration" in result.output
    assert "Traceback" not in result.output


def test_one_repeat_is_a_usage_error(run, tmp_path):
    assert run("illustration", "--repeats", 1, "--output", tmp_path).exit_code == 2
