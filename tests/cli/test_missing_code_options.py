"""Codes for missing values at the command line: said, fitted, predicted, kept, refused."""

import csv

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpgp
from dpgp.study.columns import CodeColumn
from dpgp.study.file import read_study, study_text
from dpgp.study.script import script_of

ASKED = ("--target", "income:0:100", "--feature", "age:-200:100", "--category", "sex:f,m")
BUDGET = ("--epsilon", 3, "--delta", 1e-6)
CODES = ("--missing-code", "age:-99,refused", "--missing-code", "sex:9")
STUDY = """
data: rows.csv
targets: {income: [0, 100]}
features: {age: [-200, 100]}
categories: {sex: [f, m]}
missing: ignore
missing_codes: {age: [-99, "refused, at home"], sex: [9], income: [-98]}
epsilon: 3
delta: 1e-6
rows: 400
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("codes"), np.random.default_rng(0)
    age = random.uniform(20, 80, 400)
    income = 20 + 0.5 * age + random.normal(0, 3, 400)
    age[::10], sex = -99, random.choice(["f", "m"], 400)
    sex[3::10] = "9"
    parquet.write_table(
        pa.table({"age": age, "sex": sex, "income": income}), folder / "rows.parquet"
    )
    told = ["refused" if value == -99 else value for value in age]
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "income"])
        writer.writerows(zip(told, sex, income, strict=True))
    return folder


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_codes_stop_a_fit_or_contribute_nothing(folder, invoke, refused, name):
    asked = ["fit", folder / name, *ASKED, *CODES, *BUDGET, "--dry-run"]
    refused(invoke(*asked), 4, "column 'age' has missing cells", "--missing ignore")
    for rule in ("ignore", "model"):
        result = invoke(*asked, "--missing", rule)
        assert result.exit_code == 0, result.output


def test_new_rows_with_a_code_get_no_prediction(folder, tmp_path, invoke, refused):
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    asked = ["fit", folder / "rows.csv", *ASKED, *CODES, *BUDGET, "--missing", "ignore", "--yes"]
    result = invoke(*asked, "-o", model)
    assert result.exit_code == 0, result.output
    kept = dpgp.load(model).options.missing_codes
    assert kept.in_order == [["-99", "refused"], ["9"], None]
    new.write_text("age,sex\n30,f\n-99.0,f\n refused,m\n40,9\n40,m\n", encoding="utf-8")
    result = invoke("predict", model, new)
    assert result.exit_code == 0, result.output
    rows = [line.split(",")[2] for line in result.stdout.splitlines()[1:]]
    assert [bool(mean) for mean in rows] == [True, False, False, False, True]
    new.write_text("age,sex\n30,8\n", encoding="utf-8")
    refused(invoke("predict", model, new), 4, "none of the model's levels: f, m")


def test_a_study_file_and_its_script_say_the_same(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    study = read_study(path)
    assert study.missing_codes[0] == CodeColumn("age", ("-99", "refused, at home"))
    codes = study.options.missing_codes.in_order
    assert codes == [["-99", "refused, at home"], ["9"], ["-98"]]
    path.write_text(study_text(study), encoding="utf-8")
    assert read_study(path).missing_codes == study.missing_codes
    script = script_of(study, "A study", "model.json")
    said = "missing_codes={'age': ('-99', 'refused, at home'), 'sex': ('9',), 'income': ('-98',)}"
    assert said in script
    assert "missing_codes" not in script_of(study.but(missing_codes=None), "A study", "model.json")


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        (["incom:-99"], "--missing-code has a column 'incom' that is neither input nor target"),
        (["sex:9,f"], "'f' as a code for missing values and as a level"),
        (["age"], "must end in codes, as in 'income:-99,-98'"),
        (["age:-99,"], "codes that hold a comma are in quotes"),
        ([":-99"], "a column has no name"),
        (["age:-99", "age:-98"], "--missing-code has a column twice"),
    ],
)
def test_codes_that_cannot_be_meant_are_refused(folder, invoke, refused, codes, words):
    told = [word for code in codes for word in ("--missing-code", code)]
    result = invoke("fit", folder / "rows.csv", *ASKED, *told, *BUDGET, "--dry-run")
    refused(result, 2, words)


@pytest.mark.parametrize("codes", ["-99", "[age]", "{age: -99}", "{age: [[1]]}", "{age: []}"])
def test_study_files_with_other_codes_are_refused(tmp_path, codes):
    path = tmp_path / "study.yaml"
    path.write_text(f"missing_codes: {codes}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="`missing_codes`"):
        read_study(path)
