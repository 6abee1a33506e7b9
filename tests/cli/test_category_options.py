"""Columns of levels at the command line: said, fitted, predicted, shown, refused."""

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpgp
from dpgp.plain_text import in_a_line
from dpgp.study.columns import LevelColumn, read_level_columns
from dpgp.study.file import read_study

COLUMNS = ("--target", "height:100:200", "--feature", "age:0:10")
BUDGET = ("--epsilon", 3, "--delta", 1e-6)
CATEGORIES = ("--category", "sex:F,M", "--category", "grade:1,2,3")
STUDY = """
data: people.csv
targets: {height: [100, 200]}
features: {age: [0, 10]}
categories:
  sex: [F, M]
  "time: from": ["8:00, early", "9:00", no, 1]
epsilon: 1
delta: 1e-6
"""


def people(n=300):
    generator = np.random.default_rng(0)
    age, sex = generator.uniform(0, 10, n), generator.choice(["F", "M"], n)
    grade = generator.integers(1, 4, n)
    height = 150 + 5 * age + 20 * (sex == "M") + 3 * grade + generator.normal(0, 3, n)
    return {"age": age, "sex": sex, "grade": grade, "height": height}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, invoke):
    folder = tmp_path_factory.mktemp("categories")
    table = people()
    parquet.write_table(pa.table(table), folder / "people.parquet")
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    result = invoke(*fit(folder / "people.csv", "model.json"), "--yes")
    assert result.exit_code == 0, result.output
    assert "one of the public levels F, M" in result.stderr
    return folder


def fit(data, output, *options):
    asked = [*COLUMNS, *CATEGORIES, *options, *BUDGET, "-o", data.parent / output]
    return ["fit", data, *asked]


def test_a_model_knows_its_levels(folder):
    model = dpgp.load(folder / "model.json")
    assert model.input_names == ["age", "sex", "grade"]
    assert [kind and kind.levels for kind in model.options.box.categories] == [
        None, ("F", "M"), ("1", "2", "3"),
    ]  # fmt: skip


def test_show_tells_the_levels(folder, invoke):
    shown = invoke("show", folder / "model.json")
    assert "1, 2, 3" in shown.output
    about = json.loads(invoke("show", folder / "model.json", "--json").output)
    assert about["inputs"][1] == {"name": "sex", "levels": ["F", "M"]}


def test_predictions_of_text_and_of_numbers(folder, tmp_path, invoke):
    rows = "who,sex,age,grade\na,F,5,1\nb, M ,5,2\nc,,5,2\nd,F,5,NA\n"
    (tmp_path / "new.csv").write_text(rows, encoding="utf-8")
    result = invoke("predict", folder / "model.json", tmp_path / "new.csv")
    assert result.exit_code == 0, result.output
    assert "missing inputs" in result.stderr
    found = list(csv.DictReader(result.stdout.splitlines()))
    model = dpgp.load(folder / "model.json")
    expected = model.predict([[5.0, "F", 1], [5.0, "M", 2.0]])
    means = [float(row["height_mean"]) for row in found[:2]]
    np.testing.assert_allclose(means, expected, atol=0.01)
    assert [row["height_mean"] for row in found[2:]] == ["", ""]
    table = pa.table({"age": [5.0, 5.0], "sex": ["F", "M"], "grade": [1, 2]})
    parquet.write_table(table, tmp_path / "new.parquet")
    same = invoke("predict", folder / "model.json", tmp_path / "new.parquet")
    means = [float(row["height_mean"]) for row in csv.DictReader(same.stdout.splitlines())]
    np.testing.assert_allclose(means, expected, atol=0.01)


def test_strange_levels_are_named_by_no_message(folder, tmp_path, invoke, refused):
    (tmp_path / "new.csv").write_text("age,sex,grade\n5,secret,1\n", encoding="utf-8")
    result = invoke("predict", folder / "model.json", tmp_path / "new.csv")
    refused(result, 4, "column 'sex' has cells that are none of the model's levels: F, M")
    (tmp_path / "people.csv").write_text(
        "age,sex,grade,height\n5,secret,1,150\n5,F,1,150\n", encoding="utf-8"
    )
    data = tmp_path / "people.csv"
    result = invoke(*fit(data, "out.json"), "--yes")
    refused(result, 4, "column 'sex'", "public levels: F, M", "--missing ignore")
    result = invoke(*fit(data, "out.json", "--missing", "ignore"), "--dry-run")
    assert result.exit_code == 0, result.output
    assert "secret" not in result.output


def test_parquet_numbers_are_the_levels_of_the_command_line(folder, invoke):
    result = invoke(*fit(folder / "people.parquet", "parquet.json"), "--dry-run")
    assert result.exit_code == 0, result.output
    assert "Nothing was spent" in result.stdout


def test_a_plan_takes_levels(invoke):
    asked = ("plan", "--rows", 5000, *COLUMNS, *CATEGORIES, "--json")
    planned = json.loads(invoke(*asked).output)
    assert any("features are learned" in reason for reason in planned["why"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sex", ("--category 'sex' must end in public levels", "region:north,south")),
        ("sex:F", ("2 to 64 levels, got 1", "study file")),
        ("sex:", ("got 1",)),
        ("sex:F,M,F", ("different levels",)),
        ("sex:F,,M", ("1 to 200 characters",)),
        (":F,M", ("no name",)),
        ("age:F,M", ("'age' is named twice",)),
        ("sex:" + ",".join(map(str, range(1000))), ("got 1000",)),
    ],
)
def test_levels_that_cannot_be_meant_are_refused(text, parts, invoke, refused):
    result = invoke("plan", "--rows", 500, *COLUMNS, "--category", text)
    refused(result, 2, *parts)


def test_levels_may_hold_commas_in_quotes():
    levels = ("a, b", 'c "d"', '"e"', "f")
    text = f"ward:{in_a_line(levels)}"
    assert read_level_columns([text]) == (LevelColumn("ward", levels),)
    assert text.startswith('ward:"a, b", c "d"')
    assert str(LevelColumn("ward", levels)).endswith(in_a_line(levels))


@pytest.mark.parametrize("levels", ['"a, b', '"a"b,c', 'a,"'])
def test_quotes_that_are_not_closed_are_refused(levels, invoke, refused):
    result = invoke("plan", "--rows", 500, *COLUMNS, "--category", f"ward:{levels}")
    refused(result, 2, "a text in quotes must end in one", "are in quotes")


def test_names_may_hold_colons():
    assert read_level_columns(["a:b:x,y"]) == (LevelColumn("a:b", ("x", "y")),)
    assert read_level_columns(None) is None


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "study.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_study_file_takes_levels_of_any_spelling(write):
    study = read_study(write(STUDY))
    assert study.categories == (
        LevelColumn("sex", ("F", "M")),
        LevelColumn("time: from", ("8:00, early", "9:00", "no", "1")),
    )
    assert study.names == ["age", "sex", "time: from", "height"]
    assert study.options.box.high.tolist() == [10.0, 1.0, 3.0]


def test_categories_are_enough_to_predict_from(write):
    study = read_study(write(STUDY.replace("features: {age: [0, 10]}", "")))
    assert study.options.columns == 2


@pytest.mark.parametrize(
    ("categories", "part"),
    [
        ("categories: sex", "must hold columns with public levels"),
        ("categories: {}", "must hold columns with public levels"),
        ("categories: {sex: F}", "must give 'sex' a list of public levels"),
        ("categories: {sex: [[F], M]}", "must give 'sex' a list of public levels"),
        ("categories: {sex: [F]}", "2 to 64 levels, got 1"),
        ("categories: {sex: [F, ' F']}", "different levels"),
        ("categories: {age: [young, old]}", "'age' is named twice"),
    ],
)
def test_study_files_with_other_levels_are_refused(categories, part, write, invoke, refused):
    rest = STUDY.split("categories:")[0] + "epsilon: 1\ndelta: 1e-6\nrows: 500\n" + categories
    refused(invoke("plan", "--study", write(rest)), 2, part)


def test_levels_are_said_once(write, invoke, refused):
    result = invoke("plan", "--study", write(STUDY), "--rows", 500, "--category", "sex:F,M")
    refused(result, 2, "says `categories`, and so does the command line")
