"""Study files: they say what options say, once, and never that a budget may be spent."""

import json

import numpy as np
import pytest

import dpgp
from dpgp.choices import Missing
from dpgp.privacy.certificate import StudyRecord
from dpgp.privacy.neighbours import Neighbours
from dpgp.study.columns import Column
from dpgp.study.file import read_study, with_study_file
from dpgp.study.study import Study

STUDY = """
title: "Growth: a study"
data: growth.csv      # beside this file
targets:
  Größe, cm: [70, 190]
features:
  "age: years": [2, 18]
  no: [0, 1]
epsilon: 1
delta: 1e-6
output: model.json
"""


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(0)
    age, other = generator.uniform(2, 18, 200), generator.uniform(0, 1, 200)
    lines = [f"{a:.2f};{80 + 5 * a:.2f};{b:.3f}" for a, b in zip(age, other, strict=True)]
    text = "\n".join(["age: years;Größe, cm;no", *lines])
    (tmp_path / "growth.csv").write_text(text, encoding="utf-8-sig")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return tmp_path


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "written.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_study_file_says_all_that_options_say(write):
    path = write(
        STUDY + "neighbours: add-remove\nunit: 2020\nmax_rows_per_unit: 3\nmissing: ignore\n"
        "rows: 5000\n"
    )
    study = read_study(path)
    assert study.features == (Column("age: years", 2.0, 18.0), Column("no", 0.0, 1.0))
    assert study.targets == (Column("Größe, cm", 70.0, 190.0),)
    options = study.options
    assert (options.epsilon, options.delta) == (1.0, 1e-6)
    assert (options.neighbours, options.missing) == (Neighbours.ADD_REMOVE, Missing.IGNORE)
    assert (study.unit, options.per_person, options.max_rows_per_unit) == ("2020", True, 3)
    assert (study.title, study.rows) == ("Growth: a study", 5000)
    assert study.data == str(path.parent / "growth.csv")
    assert study.output == path.parent / "model.json"
    assert read_study(write("data: '-'")) == Study(data="-")


def test_fit_of_a_study_file(folder, invoke, refused, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    refused(invoke("fit", "--study", folder / "study.yaml"), 2, "nothing was spent", "--yes")
    assert not (folder / "model.json").exists()
    result = invoke("fit", "--study", folder / "study.yaml", "--yes")
    assert result.exit_code == 0, result.output
    assert "Growth: a study" in result.stderr
    assert "expected error of the mean" in result.stderr  # --yes does not ask, but tells
    model = dpgp.load(folder / "model.json")
    assert model.certificate.is_private
    content = (folder / "study.yaml").read_bytes()
    assert model.certificate.study == StudyRecord.of(content, "Growth: a study")
    assert (model.certificate.epsilon, model.certificate.delta) == (1.0, 1e-6)
    assert model.input_names == ["age: years", "no"]
    assert (model.options.target_box.names, model.options.target_box.high[0]) == (
        ("Größe, cm",),
        190.0,
    )


def test_paths_and_rows_of_the_command_line_go_first(folder, invoke):
    (folder / "growth.csv").rename(folder / "moved.csv")
    options = ("--study", folder / "study.yaml", folder / "moved.csv", "-o", folder / "other.json")
    result = invoke("fit", *options, "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["output"] == str(folder / "other.json")
    assert not (folder / "model.json").exists()


def test_plan_of_a_study_file(folder, invoke, refused, write):
    study = folder / "study.yaml"
    refused(invoke("plan", "--study", study), 2, "number of rows", "--rows 5000", "`rows`")
    path = write(STUDY + "rows: 700\n")
    planned = json.loads(invoke("plan", "--study", path, "--json").stdout)
    assert (planned["rows"], planned["epsilon"]) == (700, 1.0)
    assert with_study_file(Study(rows=3000), path) == read_study(path).but(rows=3000)


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("epsilon", ("--epsilon", 1)),
        ("delta", ("--delta", 1e-6)),
        ("targets", ("--target", "Größe, cm:70:190")),
        ("features", ("--feature", "no:0:1")),
    ],
)
def test_a_promise_stands_in_one_place(folder, invoke, refused, key, options):
    result = invoke("fit", "--study", folder / "study.yaml", "--yes", *options)
    refused(result, 2, f"says `{key}`, and so does the command line")
    assert not (folder / "model.json").exists()


def test_the_budget_may_stand_on_the_command_line_alone(folder, invoke, refused, write):
    path = write(STUDY.replace("epsilon: 1\n", ""))
    refused(invoke("fit", "--study", path, "--dry-run"), 2, "no budget", "`epsilon`")
    result = invoke("fit", "--study", path, "--dry-run", "--epsilon", 2, "--json")
    assert json.loads(result.stdout)["epsilon"] == 2.0


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("is not a study file", "'epsilon: 1'")),
        ("just words", ("is not a study file",)),
        ("epsilon: [1\ndelta: 2", ("is not YAML in line 2",)),
        ("epsilon: 1\n\tdelta: 2", ("is not YAML in line 2",)),
        ("epsilon: 1\nepsilon: 2", ("in line 2", "'epsilon' is given twice")),
        ("features:\n  a: [0, 1]\n  a: [0, 2]", ("in line 3", "'a' is given twice")),
        ("? [a]\n: 1", ("a key must be a word",)),
        ("epsillon: 1", ("`epsillon` is not a key", "did you mean `epsilon`?")),
        ("target: {h: [0, 1]}", ("did you mean `targets`?",)),
        ("max-rows-per-unit: 2", ("did you mean `max_rows_per_unit`?",)),
        ("colour: red", ("known keys are title, id, data,",)),
        ("yes: true", ("`yes` belongs on the command line, as --yes",)),
        ("epsilon: one", ("`epsilon` must be a number, got 'one'",)),
        ("epsilon:", ("`epsilon` needs one value",)),
        ("data: [a, b]", ("`data` needs one value",)),
        ("rows: 5000.5", ("`rows` must be a whole number",)),
        ("rows: 0", ("`rows` must be a whole number",)),
        ("missing: drop", ("`missing` must be error or ignore or model, got 'drop'",)),
        ("neighbours: none", ("must be replace or add-remove",)),
        ("features: age", ("`features` must hold columns", "'age: [2, 18]'")),
        ("features: {}", ("`features` must hold columns",)),
        ("features: [age]", ("`features` must hold columns",)),
        ("features: {age: 18}", ("two public bounds", "never read from the data")),
        ("features: {age: [2, 18, 20]}", ("two public bounds",)),
        ("features: {age: [two, 18]}", ("two public bounds",)),
        ("features: {age: [18, 2]}", ("`features`", "'age'", "the lower one first, got 18 and 2")),
        ("features: {age: [0, .inf]}", ("two public bounds",)),
        ("features: {age: [0, inf]}", ("must be finite",)),
        ("features: {a: [0, 1]}\ntargets: {a: [0, 1]}", ("'a' is named twice",)),
        ("max_rows_per_unit: 2", ("--unit",)),
    ],
)
def test_a_bad_study_file_is_refused_with_one_sentence(invoke, refused, write, text, parts):
    complete = {
        "data": "x.csv",
        "output": "x.json",
        "targets": "{h: [0, 1]}",
        "features": "{x: [0, 1]}",
        "epsilon": "1",
        "delta": "1e-6",
    }
    needed = "\n".join(f"{key}: {value}" for key, value in complete.items() if key not in text)
    path = write(text if "study file" in parts[0] else f"{text}\n{needed}\n")
    refused(invoke("fit", "--study", path, "--yes"), 2, *parts)


def test_study_files_that_cannot_be_read(invoke, refused, tmp_path):
    refused(invoke("plan", "--study", tmp_path / "none.yaml"), 2, "no such file")
    refused(invoke("plan", "--study", tmp_path), 2, "is a directory")
    (tmp_path / "bytes.yaml").write_bytes(b"epsilon: \xff\xfe")
    refused(invoke("plan", "--study", tmp_path / "bytes.yaml"), 2, "UTF-8")


def test_a_study_file_is_no_table_and_no_output(folder, invoke, refused):
    study = folder / "study.yaml"
    refused(invoke("fit", study), 2, f"--study {study}")
    result = invoke("fit", "--study", study, "-o", study, "--yes", "--force")
    refused(result, 2, "is read by this command")


def test_what_is_in_the_data_is_a_data_error(folder, invoke, refused, write):
    path = write(STUDY.replace("no: [0, 1]", "maybe: [0, 1]"))
    refused(invoke("fit", "--study", path, "--yes"), 4, "no column 'maybe'")
