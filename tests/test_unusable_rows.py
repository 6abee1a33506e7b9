"""Levels in another spelling than the cells: a fit ends after one release, and says why."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dpgp import PrivateGPClassifier, PrivateGPRegressor
from dpgp.cli import app
from dpgp.ledger import Ledger
from dpgp.planning.setting import FEWEST
from dpgp.planning.unusable import UnusableRowsError, are_unusable
from dpgp.privacy.books import mu_of_guarantee
from dpgp.study.errors import Face

N, EPSILON, DELTA = 3000, 1.0, 1e-6
MU = mu_of_guarantee(EPSILON, DELTA)
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": RNG.uniform(20.0, 80.0, N),
        "sex": RNG.choice(["Male", "Female"], N),
        "grade": RNG.choice([0.0, 1.0, 2.0], N),
        "high": RNG.choice([0.0, 1.0], N),
    }
)
TABLE["pressure"] = 100.0 + 0.5 * TABLE["age"] + 8.0 * (TABLE["sex"] == "Male")
BOUNDS = {"age": (20, 80)}

WRONG_CLASSES = [("no", "yes"), ("2", "2.5"), ("low", "high"), ("O", "I")]
WRONG_LEVELS = [("male", "female"), ("M", "F"), ("0", "1"), ("MALE", "FEMALE")]


def classifier(classes, **options):
    return PrivateGPClassifier(EPSILON, DELTA, bounds=BOUNDS, classes=classes, **options)


def regressor(levels, **options):
    categories = {"sex": levels, "grade": ["0", "1", "2"]}
    return PrivateGPRegressor(
        EPSILON, DELTA, bounds=BOUNDS, target_bounds=(80, 180), categories=categories,
        missing="ignore", **options,
    )  # fmt: skip


def check_little_was_spent(gp):
    (spent,) = gp.spent_
    assert [release.label for release in spent.releases] == ["number of rows"]
    assert (spent.mu / MU) ** 2 == pytest.approx(0.02, rel=1e-6)
    assert spent.epsilon < 0.15 * EPSILON
    assert not hasattr(gp, "model_")


@pytest.mark.parametrize("classes", WRONG_CLASSES)
def test_classes_in_another_spelling_end_a_fit(classes):
    gp = classifier(classes)
    with pytest.raises(UnusableRowsError, match=f"of {N:,} rows about") as caught:
        gp.fit(TABLE[["age"]], TABLE["high"])
    said = str(caught.value)
    assert f"none of the declared levels ({', '.join(classes)}) in column 'high'" in said
    assert caught.value.code == "unusable-rows"
    check_little_was_spent(gp)


@pytest.mark.parametrize("levels", WRONG_LEVELS)
def test_levels_in_another_spelling_end_a_fit_that_names_the_column(levels):
    gp = regressor(levels)
    with pytest.raises(UnusableRowsError) as caught:
        gp.fit(TABLE[["age", "sex", "grade"]], TABLE["pressure"])
    said = str(caught.value)
    sex, grade = (part for part in said.split("; ") if "one of its declared levels" in part)
    assert f"column 'sex' are one of its declared levels ({', '.join(levels)})" in sex
    assert "column 'grade' are one of its declared levels (0, 1, 2)" in grade
    counts = [int(part.split()[1].replace(",", "")) for part in (sex, grade)]
    assert counts[0] < 0.2 * N < 0.8 * N < counts[1]
    for face in Face:
        assert "ignore" not in caught.value.on(face)
        assert "spelling of the cells" in caught.value.on(face)
    assert "Male" not in said  # nor any other cell
    check_little_was_spent(gp)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_so_does_a_table_that_is_empty(neighbours):
    gp = PrivateGPRegressor(
        EPSILON, DELTA, bounds=(0, 1), target_bounds=(0, 1), missing="ignore",
        neighbours=neighbours, random_state=0,
    )  # fmt: skip
    with pytest.raises(UnusableRowsError, match="mostly empty") as caught:
        gp.fit(np.full((N, 1), np.nan), np.full(N, np.nan))
    assert "ignore" not in str(caught.value)
    check_little_was_spent(gp)


def test_the_rest_stays_in_the_ledger(tmp_path):
    ledger = Ledger(tmp_path / "study.ledger", epsilon=1.05 * EPSILON, delta=DELTA)
    for _ in range(2):  # a second one fits, since the first spent little
        with pytest.raises(UnusableRowsError):
            classifier(("no", "yes"), ledger=ledger).fit(TABLE[["age"]], TABLE["high"])
    closed = [record for record in ledger.records() if hasattr(record, "outcome")]
    assert [record.outcome for record in closed] == ["failed", "failed"]
    assert all([r.label for r in record.releases] == ["number of rows"] for record in closed)


def test_the_command_line_says_it_too(tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    TABLE.to_csv(path, index=False)
    budget = ["--epsilon", str(EPSILON), "--delta", str(DELTA), "--feature", "age:20:80", "--yes"]
    for asked in (
        ["--classes", "high:no,yes"],
        ["--target", "pressure:80:180", "--category", "sex:male,female", "--missing", "ignore"],
    ):
        result = CliRunner().invoke(app, ["fit", str(path), *budget, *asked, "-o", str(model)])
        assert result.exit_code == 2, result.output
        assert f"of {N:,} rows about" in result.stderr
        assert "give --category and --classes in the spelling of the cells" in result.stderr
        assert "Spent by then: (0.1" in result.stderr
        assert "Booked: number of rows." in result.stderr
        assert "--missing ignore" not in result.stderr
        assert not model.exists()


def test_a_spelling_that_python_writes_otherwise_is_right(tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    TABLE.to_csv(path, index=False)  # 0.0 and 1.0
    budget = ["--epsilon", "3", "--delta", "1e-5", "--feature", "age:20:80", "--yes"]
    asked = ["--classes", "high:0,1", "--category", "grade:0,1,2", "--missing", "ignore"]
    result = CliRunner().invoke(app, ["fit", str(path), *budget, *asked, "-o", str(model)])
    assert result.exit_code == 0, result.output
    first = json.loads(model.read_text())["guarantee"]["releases"][0]
    assert (first["label"], first["coordinates"], first["size"]) == ("number of rows", 3, 1.25)
    said = CliRunner().invoke(app, ["verify", str(model)])
    assert said.exit_code == 0, said.output


def test_before_anything_is_spent_ignoring_is_no_remedy_for_spelling():
    gp = regressor(("male", "female")).set_params(missing="error")
    with pytest.raises(ValueError, match="in the spelling of the cells, and if few rows") as caught:
        gp.fit(TABLE[["age", "sex", "grade"]], TABLE["pressure"])
    assert not hasattr(gp, "spent_")
    assert not hasattr(caught.value, "spent")


@pytest.mark.parametrize(
    ("usable", "noise_std", "told", "ends"),
    [
        (0.0, 30.0, 3000, True),
        (500.0, 30.0, 3000, True),
        (550.0, 30.0, 3000, False),  # a fifth may be complete
        (3000.0, 30.0, 3000, False),
        (-20.0, 30.0, 60, False),  # so few that the noise tells nothing
        (0.0, 30.0, 100, True),
        (0.0, 30.0, None, True),
        (FEWEST + 1.0, 30.0, None, False),
        (0.0, 0.0, None, True),
        (1.0, 0.0, 3, True),
        (3.0, 0.0, 3, False),
    ],
)
def test_the_rule_is_public(usable, noise_std, told, ends):
    assert are_unusable(usable, noise_std, told, 0.0 if noise_std == 0.0 else FEWEST) is ends


def test_without_noise_a_wrong_spelling_is_told_as_well():
    gp = classifier(("no", "yes")).set_params(epsilon=math.inf)
    with pytest.raises(UnusableRowsError, match=r"about 0 \(± 0\) can be used"):
        gp.fit(TABLE[["age"]], TABLE["high"])
