"""From a file to a model and its predictions: what is written, asked, refused and never said."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpgp
from dpgp.cli import consent

HEIGHT, AGE = "Größe, cm", "age: years"
TARGET, FEATURE = f"{HEIGHT}:70:190", f"{AGE}:2:18"
BUDGET = ("--epsilon", 1, "--delta", 1e-6)
SUFFIXES = ("mean", "std", "lower", "upper")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, invoke):
    """A table with awkward names, and a model of it."""
    folder = tmp_path_factory.mktemp("study")
    generator = np.random.default_rng(0)
    with (folder / "growth.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", AGE, HEIGHT, "weight [kg]", "note", "born"])
        for row in range(300):
            age = generator.uniform(2, 18)
            height = 80 + 5 * age + generator.normal(0, 5)
            numbers = [f"{age:.3f}", f"{height:.2f}", f"{3 * age:.1f}"]
            writer.writerow([row // 2, *numbers, "secret", "2001-02-03"])
    result = invoke(*fit(folder, "model.json"), "--yes")
    assert result.exit_code == 0, result.output
    return folder


def fit(folder, output, *, target=TARGET, feature=FEATURE, data="growth.csv", budget=BUDGET):
    options = ["--target", target, "--feature", feature, *budget, "-o", folder / output]
    return ["fit", folder / data, *options]


def test_model_knows_its_columns_and_is_private(folder):
    model = dpgp.load(folder / "model.json")
    assert model.certificate.is_private
    assert (model.certificate.epsilon, model.certificate.delta) == (1.0, 1e-6)
    assert model.input_names == [AGE]
    assert model.options.target_box.names == (HEIGHT,)
    assert (model.options.target_box.low[0], model.options.target_box.high[0]) == (70.0, 190.0)


def test_predict_adds_what_python_predicts(folder, tmp_path, invoke):
    (tmp_path / "new.csv").write_text(f"who,{AGE}\na,5\nb,\nc,12.5\nd,40\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    result = invoke(
        "predict", folder / "model.json", tmp_path / "new.csv", "-o", out, "--coverage", 0.8
    )
    assert result.exit_code == 0, result.output
    assert "missing inputs" in result.stderr
    assert "outside" in result.stderr
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["who"] for row in rows] == ["a", "b", "c", "d"]
    assert rows[1][f"{HEIGHT}_mean"] == rows[1][f"{HEIGHT}_upper"] == ""
    model = dpgp.load(folder / "model.json")
    X = np.array([[5.0], [12.5], [40.0]])
    expected = [*model.predict(X, return_std=True), *model.predict_interval(X, 0.8)]
    width = (expected[3] - expected[2]).min()
    for suffix, values in zip(SUFFIXES, expected, strict=True):
        found = [float(rows[k][f"{HEIGHT}_{suffix}"]) for k in (0, 2, 3)]
        np.testing.assert_allclose(found, values, rtol=0, atol=width / 1000)


def test_predictions_have_no_more_digits_than_are_known(folder, invoke):
    new = f"{AGE}\n5\n12\n".encode()
    result = invoke("predict", folder / "model.json", "-", input=new)
    cells = [line.split(",")[1:] for line in result.stdout.splitlines()[1:]]
    assert max(len(cell.partition(".")[2]) for row in cells for cell in row) <= 2


def test_a_table_without_rows_is_predicted_as_one(folder, invoke):
    result = invoke("predict", folder / "model.json", "-", input=f"who,{AGE}\n".encode())
    assert result.exit_code == 0, result.output
    header = ",".join(f'"{HEIGHT}_{suffix}"' for suffix in SUFFIXES)
    assert result.stdout == f"who,{AGE},{header}\n"
    assert result.stderr == ""


def test_predict_adds_a_column_a_quantile(folder, invoke):
    new = f"{AGE}\n5\n12.5\n".encode()
    asked = ("--quantile", 0.03, "--quantile", 0.97, "--name", "h")
    result = invoke("predict", folder / "model.json", "-", *asked, input=new)
    assert result.exit_code == 0, result.output
    header, *lines = csv.reader(result.stdout.splitlines())
    assert header == [AGE, "h_mean", "h_std", "h_lower", "h_upper", "h_q0.03", "h_q0.97"]
    model = dpgp.load(folder / "model.json")
    expected = model.predict_quantile(np.array([[5.0], [12.5]]), [0.03, 0.97]).T
    np.testing.assert_allclose(np.array(lines, dtype=float)[:, -2:], expected, atol=0.01)


def test_predict_pipes(folder, invoke):
    new = f"{AGE}\n5\n".encode()
    result = invoke("predict", folder / "model.json", "-", "-o", "-", "--name", "h", input=new)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == f"{AGE},h_mean,h_std,h_lower,h_upper"
    assert len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("new", "asked", "line"),
    [
        (f"who;{AGE}\n1.2.2020;5,5\nb;12,25\n", ("--decimal", ","), "b;12,25;"),
        (f'who,{AGE}\na,"5,5"\nb,"12,25"\n', ("--decimal", ","), 'b,"12,25",'),
        (f"who;{AGE}\na;5.5\nb;12.25\n", (), "b;12.25;"),
        (f"who\t{AGE}\na\t5,5\nb\t12,25\n", ("--decimal", ","), "b\t12,25\t"),
    ],
)
def test_predictions_are_read_with_what_the_table_was_read_with(
    folder, tmp_path, invoke, new, asked, line
):
    model, once, twice = folder / "model.json", tmp_path / "once.csv", tmp_path / "twice.csv"
    (tmp_path / "new.csv").write_text(new, encoding="utf-8")
    result = invoke("predict", model, tmp_path / "new.csv", "-o", once, *asked)
    assert result.exit_code == 0, result.output
    result = invoke("predict", model, once, "-o", twice, "--name", "again", *asked)
    assert result.exit_code == 0, result.output
    written = twice.read_text("utf-8").splitlines()
    assert written[2].startswith(line)
    delimiter = new[3]
    header, *rows = csv.reader(written, delimiter=delimiter)
    assert header[2:] == [f"{name}_{s}" for name in (HEIGHT, "again") for s in SUFFIXES]
    for row in rows:
        assert row[2:6] == row[6:]
        assert ("," in "".join(row[2:])) is bool(asked), "one of them may be whole"


def test_cells_of_parquet_are_written_with_the_mark_that_was_asked_for(folder, tmp_path, invoke):
    pq.write_table(pa.table({AGE: [5.5, None]}), tmp_path / "new.parquet")
    result = invoke("predict", folder / "model.json", tmp_path / "new.parquet", "--decimal", ",")
    assert re.fullmatch(r"5,5(;\d+(,\d+)?){4}", result.stdout.splitlines()[1])
    assert result.stdout.splitlines()[2] == ";;;;"


def test_predictions_tell_a_terminal_of_every_batch(folder, invoke, monkeypatch):
    told = []
    monkeypatch.setattr("dpgp.progress.Journey.advance", lambda _, rows: told.append(rows))
    invoke("predict", folder / "model.json", "-", input=f"who,{AGE}\na,5\n".encode())
    assert told == [None]


def test_predict_refuses_what_cannot_be_meant(folder, tmp_path, invoke, refused):
    model, data = folder / "model.json", folder / "growth.csv"
    refused(invoke("predict", model, data, "-o", data, "--force"), 2, "is read by this command")
    refused(invoke("predict", model, data, "-o", model), 2, "is read by this command")
    refused(invoke("predict", model, data, "--coverage", 95), 2, "--coverage")
    refused(invoke("predict", model, data, "--quantile", 1.5), 2, "--quantile", "median")
    refused(
        invoke("predict", model, data, "--name", "a", "--name", "b"),
        2,
        "--name was given 2 times; give it once for each target",
    )
    refused(invoke("predict", model, tmp_path / "none.csv"), 4, "no such file")
    (tmp_path / "other.csv").write_text("years\n5\n")
    refused(
        invoke("predict", model, tmp_path / "other.csv"), 4, f"'{AGE}'", "must name the columns"
    )
    (tmp_path / "twice.csv").write_text(f"{AGE},x_std\n5,1\n")
    refused(invoke("predict", model, tmp_path / "twice.csv", "--name", "x"), 2, "'x_std'")


def test_show_prints_guarantee_columns_and_releases(folder, invoke):
    result = invoke("show", folder / "model.json")
    assert result.exit_code == 0, result.output
    for part in ("(1, 1e-06)-differential privacy", HEIGHT, AGE, "stage 1", "replace one row"):
        assert part in result.stdout


def test_show_json_is_json(folder, invoke):
    about = json.loads(invoke("show", folder / "model.json", "--json").stdout)
    assert about["guarantee"]["is_private"] is True
    assert about["inputs"] == [{"name": AGE, "low": 2.0, "high": 18.0}]
    assert about["targets"][0]["noise_std"]["median"] > 0


def test_show_says_that_a_simulation_is_not_private(folder, tmp_path, invoke, refused):
    X = np.linspace(0, 1, 100)[:, None]
    model = dpgp.PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1), random_state=1)
    model.fit(X, X[:, 0]).save(tmp_path / "simulated.json")
    assert "NOT PRIVATE" in invoke("show", tmp_path / "simulated.json").stdout
    (tmp_path / "new.csv").write_text("x\n0.5\n")
    result = invoke("predict", tmp_path / "simulated.json", tmp_path / "new.csv")
    assert result.stdout.startswith("x,prediction_mean,prediction_std,")
    (tmp_path / "more.csv").write_text("x,y\n0.5,1\n")
    refused(invoke("predict", tmp_path / "simulated.json", tmp_path / "more.csv"), 4, "names")


def test_show_refuses_what_is_no_model(folder, tmp_path, invoke, refused):
    refused(invoke("show", folder / "growth.csv"), 4, "is no model")
    refused(invoke("show", tmp_path / "none.json"), 4, "no such file")


def test_fit_without_terminal_and_yes_spends_nothing(folder, invoke, refused):
    refused(invoke(*fit(folder, "new.json")), 2, "nothing was spent", "--yes")
    assert not (folder / "new.json").exists()


@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("y\n", 0)])
def test_fit_shows_the_plan_and_asks(folder, tmp_path, monkeypatch, answer, code, invoke):
    monkeypatch.setattr(consent, "_is_interactive", lambda: True)
    output = tmp_path / "asked.json"
    result = invoke(*fit(folder, output), input=answer)
    assert result.exit_code == code, result.output
    assert "expected error of the mean" in result.stderr
    assert "Spend this budget?" in result.stderr
    assert output.exists() == (code == 0)
    assert ("Nothing was spent" in result.stderr) == (code == 1)


def test_dry_run_spends_nothing(folder, monkeypatch, invoke, refused):
    def spend(*_, **__):
        raise AssertionError

    monkeypatch.setattr(dpgp.PrivateGPRegressor, "fit", spend)
    result = invoke(*fit(folder, "dry.json"), "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    forecast = json.loads(result.stdout)
    assert forecast["rows"] == 300
    assert forecast["forecast"]["rmse"] > 0
    assert not (folder / "dry.json").exists()


def says_300(output, *folders):
    """Whether 300 stands there as a number, and not within another or within a folder's name."""
    for place in folders:
        output = output.replace(str(place), "")
    return re.search(r"(?<![\d.,])300(?![\d]|[.,]\d)", output) is not None


def test_300_is_found_where_it_is_said():
    assert says_300("300 rows", Path("x"))
    assert says_300("rows: 300.", Path("x"))
    assert not says_300("sd 1.300, 3001, 1,300 in /tmp/run-300/a", Path("/tmp/run-300"))


def test_dry_run_says_why_there_is_no_forecast(folder, tmp_path, invoke):
    private = [*fit(folder, "dry.json"), "--dry-run", "--neighbours", "add-remove"]
    result = invoke(*private)
    assert result.exit_code == 0, result.output
    assert "No forecast: the number of rows is private here" in result.stdout
    assert not says_300(result.output, folder, tmp_path)
    about = json.loads(invoke(*private, "--json").stdout)
    assert about["forecast"] is None
    assert "--rows" in about["no_forecast"]
    guessed = invoke(*private, "--rows", 4000)
    assert "private; a public guess is 4,000" in guessed.stdout
    assert "What 4,000 rows and ε = 1 will buy" in guessed.stdout


def test_several_targets_units_and_missing_cells(folder, tmp_path, invoke, refused):
    text = (folder / "growth.csv").read_text(encoding="utf-8")
    (tmp_path / "holes.csv").write_text(text + "200,,,9,,\n", encoding="utf-8")
    several = [*fit(folder, tmp_path / "two.json", data=tmp_path / "holes.csv"), "--yes"]
    several += ["--target", "weight [kg]:0:60", "--unit", "id", "--max-rows-per-unit", 2]
    refused(invoke(*several), 4, "missing cells", "--missing ignore")
    result = invoke(*several, "--missing", "ignore", "--json")
    assert result.exit_code == 0, result.output
    about = json.loads(result.stdout)
    assert [target["name"] for target in about["targets"]] == [HEIGHT, "weight [kg]"]
    assert about["guarantee"]["rows_per_unit"] == 2
    predicted = invoke("predict", tmp_path / "two.json", folder / "growth.csv")
    assert "weight [kg]_upper" in predicted.stdout.splitlines()[0]


def test_the_number_of_rows_is_not_said_where_it_is_private(folder, tmp_path, invoke):
    options = ("--neighbours", "add-remove", "--yes")
    result = invoke(*fit(folder, tmp_path / "add.json"), *options)
    assert result.exit_code == 0, result.output
    assert not says_300(result.output, folder, tmp_path)
    assert "add or remove" in result.output.lower()


@pytest.mark.parametrize(
    ("changes", "code", "parts"),
    [
        ({"target": f"{HEIGHT}:190:70"}, 2, ("the lower one first",)),
        ({"target": f"{HEIGHT}:70:inf"}, 2, ("finite",)),
        ({"target": HEIGHT}, 2, ("public bounds", "'age:2:18'")),
        ({"feature": ":2:18"}, 2, ("has no name",)),
        ({"feature": TARGET}, 2, ("named twice",)),
        ({"budget": ("--epsilon", -1, "--delta", 1e-6)}, 2, ("`epsilon` must be positive",)),
        ({"budget": ("--epsilon", "inf", "--delta", 1e-6)}, 2, ("must be finite",)),
        ({"budget": ("--epsilon", 1, "--delta", 2)}, 2, ("`delta`",)),
        ({"output": "model.json"}, 2, ("exists", "--force")),
        ({"output": "none/model.json"}, 2, ("there is no folder",)),
        ({"data": "none.csv"}, 4, ("no such file",)),
        ({"target": "height:70:190"}, 4, ("no column 'height'", f"'{HEIGHT}'")),
        ({"target": "note:70:190"}, 4, ("column 'note'", "not numbers", "--classes if it holds")),
        ({"feature": "note:0:1"}, 4, ("not numbers; name it with --category if it holds levels",)),
        ({"feature": "born:0:1"}, 4, ("--category", "--feature visit:2019-01-01:2024-12-31")),
    ],
)
def test_fit_refuses_with_one_sentence(folder, changes, code, parts, invoke, refused):
    arguments = {"output": "refused.json", **changes}
    refused(invoke(*fit(folder, arguments.pop("output"), **arguments), "--yes"), code, *parts)
    assert not (folder / "refused.json").exists()


def test_rows_per_unit_need_units(folder, invoke, refused):
    refused(invoke(*fit(folder, "x.json"), "--yes", "--max-rows-per-unit", 2), 2, "--unit")


def test_data_is_never_replaced_by_the_model(folder, invoke, refused):
    refused(invoke(*fit(folder, "growth.csv"), "--yes", "--force"), 2, "is read by this command")


def test_plan_forecasts_without_data(invoke, refused):
    options = ["--target", "h:70:190", "--feature", "age:2:18", "--rows", 3000]
    result = invoke("plan", *options, "--error", 10)
    assert result.exit_code == 0, result.output
    assert "An error of 10 is expected from" in result.stdout
    refused(invoke("plan", *options, "--epsilon", 1e-5), 2, "no choice beats")
