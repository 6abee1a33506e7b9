"""An error has one rule, and on every face the remedy of that face."""

import pickle

import pytest
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app
from dpgp.private.tables import TableError
from dpgp.study.columns import Column, LevelColumn
from dpgp.study.errors import Face, RefusedError, UsageError, Words, said
from dpgp.study.study import UNIT_NEEDED, Study

ERROR = RefusedError(
    "there is no such thing",
    Words("pass `thing`", command="pass --thing", page="choose a thing"),
    "docs/house.md",
    code="no-thing",
)


def test_every_face_says_its_own_remedy():
    assert str(ERROR) == "there is no such thing; pass `thing`. See docs/house.md."
    assert said(ERROR, Face.COMMAND) == "there is no such thing; pass --thing. See docs/house.md."
    assert said(ERROR, Face.PAGE) == "there is no such thing; choose a thing."
    assert said(ValueError("as it is."), Face.PAGE) == "as it is."
    assert RefusedError("a rule", Words("mend it", page="")).on(Face.PAGE) == "a rule."
    codes = [error.code for error in (ERROR, UsageError(""), TableError(""))]
    assert codes == ["no-thing", "usage", "table"]


def test_errors_survive_the_way_from_a_worker():
    copy = pickle.loads(pickle.dumps(ERROR))
    assert [copy.on(face) for face in Face] == [ERROR.on(face) for face in Face]
    assert copy.code == ERROR.code


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("age,height\n" + "0.5,0.5\n,0.5\n" * 20, encoding="utf-8")
    return path


def test_one_rule_of_a_table_has_three_remedies(table):
    rule = f"'{table}': column 'age' has missing cells; "
    rows = "to let these rows contribute nothing, or remove them."
    gp = dpgp.PrivateGPRegressor(bounds={"age": (0, 1)}, target_bounds=(0, 1), random_state=0)
    with pytest.raises(TableError) as caught:
        gp.fit(table, target="height")
    rule += "if they are few, "
    assert str(caught.value) == f'{rule}pass missing="ignore" {rows}'
    assert caught.value.on(Face.PAGE).startswith(f"{rule}choose “contribute nothing”")
    columns = ["--feature", "age:0:1", "--target", "height:0:1"]
    asked = ["fit", str(table), *columns, "--epsilon", "1", "--delta", "1e-6", "--dry-run"]
    result = CliRunner().invoke(app, asked)
    assert result.stderr == f"Error: {rule}pass --missing ignore {rows}\n"


def test_one_rule_of_options_has_three_remedies():
    gp = dpgp.PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1), max_rows_per_unit=2)
    with pytest.raises(RefusedError) as caught:
        gp.fit([[0.5], [0.6]], [0.5, 0.6])
    assert str(caught.value) == UNIT_NEEDED.python
    assert caught.value.code == "no-units"
    with pytest.raises(UsageError) as asked:
        Study(max_rows_per_unit=2).check()
    assert asked.value.code == "no-target_bounds"


def test_options_that_contradict_are_called_as_each_face_calls_them():
    height, ill = Column("height", 0.0, 1.0), LevelColumn("ill", ("no", "yes"))
    with pytest.raises(UsageError) as caught:
        Study(targets=(height,), classes=ill).check()
    assert [caught.value.on(face).split(" contradict")[0] for face in Face] == [
        "`target_bounds` and `classes`",
        "--target and --classes",
        "“predict it” and “yes or no: one of two classes”",
    ]
    with pytest.raises(UsageError) as caught:
        Study(counts=True, classes=ill).check()
    assert caught.value.on(Face.COMMAND).startswith("--counts and --classes contradict")
