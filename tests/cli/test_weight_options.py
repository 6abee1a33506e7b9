"""Weights at the command line: said, planned, fitted, shown, kept in a study file, refused."""

import json

import numpy as np
import pytest

import dpgp
from dpgp.study.columns import WeightColumn
from dpgp.study.file import read_study, study_text
from dpgp.study.script import script_of

ASKED = ("--target", "income:0:100", "--feature", "age:20:80", "--epsilon", 3, "--delta", 1e-6)
STUDY = """
data: rows.csv
targets: {income: [0, 100]}
features: {age: [20, 80]}
weight: {"w: of 2020": 5}
epsilon: 3
delta: 1e-6
rows: 400
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path, random = tmp_path_factory.mktemp("weights") / "rows.csv", np.random.default_rng(0)
    age = random.uniform(20, 80, 400)
    income = 20 + 0.5 * age + random.normal(0, 3, 400)
    rows = np.column_stack([age, income, random.choice([1, 2, 5, 9], 400)])
    np.savetxt(path, rows, "%.6g", ",", header="age,income,w", comments="")
    return path


def test_a_fit_is_told_a_column_of_weights(table, tmp_path, invoke):
    model = tmp_path / "model.json"
    result = invoke("fit", table, *ASKED, "--weight", "w:5", "--rows", 400, "--yes", "-o", model)
    assert result.exit_code == 0, result.output
    assert "w, of which 5 counts as one row" in result.output
    loaded = dpgp.load(model)
    assert loaded.options.weight_bound == 5.0
    about = json.loads(invoke("show", model, "--json").stdout)
    assert about["weights"]["weights"] == loaded.weights.total
    assert "rows of equal weights" in " ".join(invoke("show", model).stdout.split())
    assert invoke("verify", model).exit_code == 0


def test_a_plan_says_what_weights_cost(invoke):
    asked = ("plan", "--rows", 4000, *ASKED, "--weight", "w:5")
    said, assumed = (
        " ".join(invoke(*asked, *more).stdout.split()) for more in (["--mean-weight", 1], [])
    )
    assert "weigh 1 each, of 5 that count in full" in said
    assert "that of 800 rows" in said
    assert "weigh 2.5 each" in assumed


@pytest.mark.parametrize("told", ["w", "w:", "w:0", "w:-1", "w:inf", "w:x", ":5"])
def test_a_weight_needs_a_column_and_a_bound(table, invoke, refused, told):
    result = invoke("fit", table, *ASKED, "--weight", told, "--dry-run")
    refused(result, 2, "--weight", "the public weight of a whole row")


def test_negative_weights_stop_a_fit_or_contribute_nothing(table, tmp_path, invoke, refused):
    rows = table.read_text().splitlines()
    age, income, _ = rows[7].split(",")
    rows[7] = f"{age},{income},-4.5"
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(rows))
    asked = ("fit", path, *ASKED, "--weight", "w:5", "--dry-run")
    result = invoke(*asked)
    refused(result, 4, "column 'w' has negative cells", "--missing ignore")
    assert "4.5" not in result.output
    assert invoke(*asked, "--missing", "ignore").exit_code == 0
    refused(invoke("fit", path, *ASKED, "--weight", "v:5", "--dry-run"), 4, "no column 'v'")


def test_a_study_file_and_its_script_say_the_same(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    study = read_study(path)
    assert study.weight == WeightColumn("w: of 2020", 5.0)
    assert study.options.weight_bound == 5.0
    assert "w: of 2020" in study.names
    (tmp_path / "again.yaml").write_text(study_text(study), encoding="utf-8")
    assert read_study(tmp_path / "again.yaml") == study
    script = script_of(study, "title", "model.json")
    assert "sample_weight='w: of 2020'" in script
    assert "'weight_bound': 5.0" in script
