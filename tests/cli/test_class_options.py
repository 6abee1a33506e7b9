import csv
import json

import numpy as np
import pytest
from scipy.special import expit

import dpgp
from dpgp.json_document import digest
from dpgp.study.columns import read_classes
from dpgp.study.errors import UsageError

COLUMNS = ("--classes", "high:no,yes", "--feature", "age:18:80")
BUDGET = ("--epsilon", "3", "--delta", "1e-5")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, 2000)
    labels = np.where(rng.random(2000) < expit((age - 50) / 8), "yes", "no").astype(object)
    labels[::50] = "borderline"
    path = tmp_path / "pressure.csv"
    lines = [f"{a:.2f},{label}" for a, label in zip(age, labels, strict=True)]
    path.write_text("\n".join(["age,high", *lines]) + "\n")
    return path


def run(invoke, *arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result


def test_a_table_of_yes_and_no_is_fitted_and_predicted(invoke, table, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "out.csv"
    run(invoke, "fit", table, *COLUMNS, *BUDGET, "-o", model, "--yes")
    assert dpgp.load(model).options.target_box.category(0).levels == ("no", "yes")
    run(invoke, "predict", model, table, "-o", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    p = np.array([float(row["high_probability"]) for row in rows])
    age = np.array([float(row["age"]) for row in rows])
    assert np.sqrt(np.mean((p - expit((age - 50) / 8)) ** 2)) < 0.06
    assert all(
        float(row["high_lower"]) <= q <= float(row["high_upper"])
        for row, q in zip(rows, p, strict=True)
    )
    about = json.loads(run(invoke, "show", model, "--json").stdout)
    (target,) = about["targets"]
    assert 0.0 < target.pop("explained")["value"] < 1.0
    assert 0.8 < target.pop("reliability")["auc"]["value"] < 1.0
    assert target == {"name": "high", "levels": ["no", "yes"]}
    page = tmp_path / "report.html"
    run(invoke, "report", model, "-o", page)
    assert "P(high = yes)" in page.read_text()
    assert "Predicted and observed: AUC 0." in page.read_text()
    assert "Reliability of P(high = yes)" in run(invoke, "show", model).stdout


def test_a_study_file_says_the_same(invoke, table, tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(
        f"data: {table.name}\nclasses: {{high: [no, yes]}}\nfeatures: {{age: [18, 80]}}\n"
        "epsilon: 3\ndelta: 1e-5\noutput: model.json\n"
    )
    run(invoke, "fit", "--study", study, "--yes")
    assert dpgp.load(tmp_path / "model.json").target_names == ["high"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("high", "must end in public levels, as in 'smoker:no,yes'"),
        ("high:no", "2 to"),
        ("high:no, no", "two of them match the same cells"),
    ],
)
def test_what_are_not_two_classes_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        read_classes(text)


@pytest.mark.parametrize("entry", ["[no, yes]", "{high: no}", "{a: [no, yes], b: [no, yes]}"])
def test_a_study_file_with_other_classes_is_refused(invoke, refused, table, tmp_path, entry):
    study = tmp_path / "study.yaml"
    study.write_text(f"data: {table.name}\nclasses: {entry}\nfeatures: {{age: [18, 80]}}\n")
    refused(invoke("fit", "--study", study), 2, "`classes`")


def test_numbers_and_classes_contradict(invoke, refused, table):
    result = invoke("fit", table, *COLUMNS, "--target", "age2:0:1", *BUDGET, "-o", "m.json")
    refused(result, 2, "--target and --classes contradict")


def test_a_table_of_several_classes_is_fitted_predicted_shown_and_verified(invoke, tmp_path):
    rng = np.random.default_rng(1)
    age = rng.uniform(18, 80, 2500)
    labels = np.array(["never", "former", "current"])
    which = np.digitize(age + 10 * rng.standard_normal(2500), [40, 60])
    table, model, out = tmp_path / "smoking.csv", tmp_path / "model.json", tmp_path / "out.csv"
    lines = [f"{a:.2f},{label}" for a, label in zip(age, labels[which], strict=True)]
    table.write_text("\n".join(["age,smoking", *lines]) + "\n")
    asked = ("--classes", "smoking:never,former,current", "--feature", "age:18:80")
    run(invoke, "fit", table, *asked, *BUDGET, "-o", model, "--yes")
    run(invoke, "predict", model, table, "-o", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    parts = ("probability", "lower", "upper")
    names = [f"smoking_{label}_{part}" for label in labels for part in parts]
    assert list(rows[0]) == ["age", "smoking", *names]
    P = np.array([[float(row[f"smoking_{label}_probability"]) for label in labels] for row in rows])
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=3e-6)
    assert np.mean(P.argmax(axis=1) == which) > 0.6
    (target,) = json.loads(run(invoke, "show", model, "--json").stdout)["targets"]
    assert [each["label"] for each in target["classes"]] == labels.tolist()
    assert sum(each["average"] for each in target["classes"]) == pytest.approx(1.0, abs=0.03)
    assert "smoking = former" in run(invoke, "show", model).stdout
    assert run(invoke, "verify", model).exit_code == 0
    assert "P(smoking = former)" in run(invoke, "effects", model, "--target", "former").stdout
    refused = invoke("effects", model, "--target", "smoking")
    assert refused.exit_code != 0
    assert "classes: never, former, current" in refused.output


def test_classes_in_their_order_are_asked_for_by_a_flag_and_by_a_study(invoke, refused, tmp_path):
    rng = np.random.default_rng(2)
    age = rng.uniform(18, 80, 1500)
    which = np.digitize(age + 15 * rng.standard_normal(1500), [35, 60])
    table = tmp_path / "health.csv"
    lines = [f"{a:.2f},{('good', 'fair', 'poor')[k]}" for a, k in zip(age, which, strict=True)]
    table.write_text("\n".join(["age,health", *lines]) + "\n")
    asked = ("--classes", "health:good,fair,poor", "--feature", "age:18:80")
    flagged, studied = tmp_path / "flagged.json", tmp_path / "studied.json"
    fitted = run(invoke, "fit", table, *asked, "--ordered", *BUDGET, "-o", flagged, "--yes")
    assert "in this order" in fitted.output
    study = tmp_path / "study.yaml"
    study.write_text(
        f"data: {table.name}\nclasses: {{health: [good, fair, poor]}}\nordered: true\n"
        f"features: {{age: [18, 80]}}\nepsilon: 1\ndelta: 1e-6\noutput: {studied.name}\n"
    )
    run(invoke, "fit", "--study", study, "--yes")
    for model in (flagged, studied):
        assert json.loads(model.read_text())["settings"]["ordered"] is True
        assert run(invoke, "verify", model).exit_code == 0
        assert run(invoke, "predict", model, table, "-o", model.with_suffix(".csv")).exit_code == 0
    for edit in (
        lambda d: d["class_weights"].reverse(),
        lambda d: d["shifts"].__setitem__(1, d["shifts"][1] + 0.01),
        lambda d: d["log_odds"][0].__setitem__(0, d["log_odds"][0][0] + 0.1),
        lambda d: [cut.__setitem__(1, cut[1] + 0.1) for cut in d["class_cuts"][:-1]],
    ):
        document = json.loads(flagged.read_text())
        del document["digest"]
        edit(document)
        forged = tmp_path / "forged.json"
        forged.write_text(json.dumps({**document, "digest": digest(document)}))
        said = json.loads(invoke("verify", forged, "--json").stdout)
        wrong = [check["question"] for check in said["checks"] if not check["holds"]]
        assert wrong == ["its probabilities are those of its functions"]
    numbers = ("--target", "age:18:80", "--feature", "age:18:80", "--ordered")
    refused(invoke("fit", table, *numbers, *BUDGET, "-o", "m.json"), 2, "--ordered")
