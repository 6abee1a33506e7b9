"""What the page asks and is answered: the command line's own figures, in the page's words."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio_client import PLACE, STUDY, girls
from typer.testing import CliRunner

from dpgp import Ledger
from dpgp.cli import app
from test_canary import TABLES, TRACES

HOME = f"/{PLACE}/"
NAMES_OF_TEXT = "no header, text alone"  # nobody can tell such a row from names
TARGET, FEATURE = ["--target", "height_cm:70:190"], ["--feature", "age:2:18"]


@pytest.fixture
def table(client):
    return client.put("upload", girls().encode())["table"]


def test_only_names_are_shown_of_a_table(client):
    opened = client.put("upload", girls().encode(), name="C:\\people\\girls.csv")
    assert opened["name"] == "girls.csv"
    assert [column["name"] for column in opened["columns"]] == ["age", "height_cm", "sex", "person"]
    assert [bool(column["hint"]) for column in opened["columns"]] == [True, True, True, False]


@pytest.mark.parametrize("key", [key for key in TABLES if key != NAMES_OF_TEXT])
def test_answers_about_a_table_repeat_no_cell(client, tmp_path, key):
    content = TABLES[key] if isinstance(TABLES[key], bytes) else TABLES[key].encode()
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    answers = [
        client.send("PUT", f"{HOME}api/upload?name=x.csv", content=content),
        client.send("POST", f"{HOME}api/open", content=json.dumps({"path": str(path)})),
        client.send("PUT", f"{HOME}api/verify?name=x.csv", content=content),
    ]
    study = {"targets": {"height": ["0", "1"]}, "features": {"age": ["0", "1"]}, "rows": "300"}
    for answer in list(answers):
        body = {"table": answer.json().get("table"), "study": {**study, "unit": "id"}, "at": ["1"]}
        for question in ("consent", "forecast"):
            answers.append(client.send("POST", f"{HOME}api/{question}", content=json.dumps(body)))
    said = "".join(answer.text for answer in answers)
    assert not TRACES.search(said.replace(str(tmp_path), "")), said


def test_tables_are_named_by_path_too(client, tmp_path):
    (tmp_path / "girls.csv").write_text(girls(), encoding="utf-8")
    opened = client.ask("open", path=f" {tmp_path / 'girls.csv'} ")
    assert opened["name"] == "girls.csv"
    for path in ("", "nowhere.csv", str(tmp_path), None, 3, "a\0b"):
        assert "path" in client.ask("open", path=path, expect=400)["message"]


def test_forecasts_are_the_command_lines(client, table):
    command = ["plan", "--rows", "300", *TARGET, *FEATURE, "--epsilon", "0.5", "--json"]
    planned = json.loads(CliRunner().invoke(app, [*command, "--error", "8"]).stdout)
    found = client.ask("forecast", table=table, study=STUDY, at=["0.5"])
    (point,) = found["points"]
    for key in ("rmse", "low", "high", "interval_width"):
        assert point[key] == pytest.approx(planned["forecast"][key], rel=1e-9)
    assert point["certainty"] == 63
    found = client.ask("epsilon", table=table, study=STUDY, error="8")["epsilon"]
    assert planned["epsilon_for_error"] <= found <= 1.1 * planned["epsilon_for_error"]
    vain = client.ask("epsilon", table=table, study=STUDY, error="1e-3", expect=400)["message"]
    assert "Collect more rows" in vain
    assert "docs/" not in vain


def test_a_consent_names_everything_that_will_be_public(client, table):
    study = {**STUDY, "categories": {"sex": ["F", "M"]}, "unit": "person", "max_rows_per_unit": "2"}
    found = client.ask("consent", table=table, study={**study, "delta": "0.1"})
    public = dict(found["public"])
    counted = "at most 2 rows count, drawn at random"
    assert public["protects"] == f"one 'person', of which {counted}, replaced by any other"
    first = client.ask("consent", table=table, study={**study, "rows_of_unit": "first"})
    assert "of which the first 2 rows count" in dict(first["public"])["protects"]
    assert public["rows"] == "private; a public guess is 300"
    assert ["from", "sex, one of the public levels F, M"] in found["public"]
    assert "stage 1" in found["releases"]
    assert "not below 1/rows" in found["warnings"][0]
    assert "data: girls.csv" in found["study_file"]
    assert found["ledger"] is None


def test_what_rows_weigh_is_in_forecast_and_consent(client, table):
    study = {**STUDY, "rows": "3000", "weight": {"person": "4"}, "missing": "ignore"}
    study["missing_codes"] = {"age": ["-99", "refused"]}
    weight = ["--weight", "person:4", "--missing", "ignore"]
    command = ["plan", "--rows", "3000", *TARGET, *FEATURE, *weight, "--mean-weight", "1", "--json"]
    planned = json.loads(CliRunner().invoke(app, command).stdout)["forecast"]["rmse"]
    errors = {}
    for mean in ("", "1", "2"):
        asked = {"table": table, "study": study, "mean_weight": mean}
        (point,) = client.ask("forecast", **asked, at=["1"])["points"]
        found = client.ask("consent", **asked)
        errors[mean] = point["rmse"]
        assert found["forecast"]["rmse"] == pytest.approx(point["rmse"], rel=1e-9)
    assert errors["1"] == pytest.approx(planned, rel=1e-9)
    assert errors["1"] > 1.02 * errors["2"]
    assert errors[""] == errors["2"]
    assert ["weights", "person, of which 4 counts as one row"] in found["public"]
    assert ["missing", "age, where it says -99, refused"] in found["public"]
    assert (
        "number"
        in client.ask("forecast", **asked | {"mean_weight": "x"}, at=["1"], expect=400)["message"]
    )


def test_a_consent_to_a_number_from_0_to_1_tells_of_classes(client, table):
    name = next(iter(STUDY["targets"]))
    asked = {**STUDY, "targets": {name: ["0", "1"]}}
    (warning,) = client.ask("consent", table=table, study=asked)["warnings"]
    assert f"The bounds of {name} are 0 and 1" in warning
    assert "yes or no: one of two classes" in warning
    assert "--" not in warning
    assert client.ask("consent", table=table, study=STUDY)["warnings"] == []


def test_a_consent_says_what_the_ledger_refuses(open_studio, tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 0.5, 1e-6)
    client, _ = open_studio(ledger=ledger)
    asked = {"table": client.put("upload", girls().encode())["table"]}
    price = client.ask("consent", **asked, study=STUDY)["ledger"]
    assert "Choose a smaller ε" in price["problem"]
    small = {**STUDY, "epsilon": "0.2"}
    assert client.ask("consent", **asked, study=small)["ledger"]["problem"] is None
    people = {**small, "unit": "person"}
    assert "protects one row" in client.ask("consent", **asked, study=people)["ledger"]["problem"]
    hidden = {**small, "neighbours": "add-remove"}
    assert "neighbours" in client.ask("consent", **asked, study=hidden)["ledger"]["problem"]


BROKEN = {
    "no target": {"targets": {}},
    "no inputs": {"features": {}},
    "bounds the wrong way": {"features": {"age": ["18", "2"]}},
    "no number": {"features": {"age": ["2", "x"]}},
    "no bounds": {"features": {"age": []}},
    "another column": {"features": {"shoe": ["2", "18"]}},
    "input and target": {"features": {"height_cm": ["2", "18"]}},
    "no epsilon": {"epsilon": ""},
    "no positive epsilon": {"epsilon": "0"},
    "epsilon without end": {"epsilon": "inf"},
    "delta of one": {"delta": "1"},
    "no rows": {"rows": ""},
    "half a row": {"rows": "0.5"},
    "one level": {"categories": {"sex": ["F"]}},
    "levels that are no list": {"categories": {"sex": "FM"}},
    "a key of ours": {"output": "/etc/passwd"},
    "a table of ours": {"data": "/etc/passwd"},
    "an unknown key": {"epsilonn": "1"},
    "consent by file": {"yes": "1"},
    "rows without people": {"max_rows_per_unit": "2"},
    "which rows without people": {"rows_of_unit": "first"},
    "no such rows": {"unit": "person", "rows_of_unit": "last"},
    "a group without a ledger": {"partition": "north"},
    "a long name": {"targets": {"x" * 2000: ["1", "2"]}},
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=list(BROKEN))
def test_what_cannot_be_meant_is_one_sentence(client, table, changes):
    message = client.ask("consent", table=table, study={**STUDY, **changes}, expect=400)["message"]
    assert message[-1] in ".?"
    assert "study.yaml" not in message
    assert " --" not in message, message


def test_a_study_without_a_table_is_none(client, table):
    for body in ({}, {"table": "x"}, {"table": [table]}, {"study": STUDY}):
        assert "choose a file" in client.ask("consent", **body, expect=400)["message"]
    assert "load it again" in client.ask("consent", table=table, study="x", expect=400)["message"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
KEYS = [*STUDY, "categories", "unit", "max_rows_per_unit", "missing", "neighbours", "partition"]


@settings(max_examples=40)
@given(changes=st.dictionaries(st.sampled_from(KEYS), ANYTHING, min_size=1, max_size=3))
def test_no_question_is_a_fault(shared, changes):
    client, table = shared
    body = json.dumps({"table": table, "study": {**STUDY, "epsilon": "-1", **changes}})
    path = f"{HOME}api/consent"
    response = client.send("POST", path, content=body.encode("utf-8", "surrogatepass"))
    assert response.status_code in (200, 400), response.text


@pytest.fixture(scope="module")
def shared():
    from pathlib import Path

    from studio_client import Client, application_of

    from dpgp.studio.desk import Desk
    from dpgp.studio.jobs import Jobs
    from dpgp.studio.questions import Studio

    studio = Studio(Desk(), Jobs(Path("never")))
    client = Client(application_of(studio)[0])
    yield client, client.put("upload", girls().encode())["table"]
    studio.close()


def test_ledgers_are_created_opened_and_left(client, tmp_path):
    empty = client.ask("ledger")
    assert empty["ledger"] is None
    new = {"path": empty["suggested"], "create": True, "epsilon": "3", "delta": "1e-5"}
    new |= {"protects": "person", "neighbours": "replace"}
    created = client.ask("choose-ledger", **new)["ledger"]
    assert ["cap", "ε = 3 at δ = 1e-05"] in created["pairs"]
    assert ["protects", "one person, replaced by any other"] in created["pairs"]
    assert created["history"]["rows"][0][2] == "opened"
    assert "exists" in client.ask("choose-ledger", **new, expect=400)["message"]
    assert client.ask("forget-ledger")["ledger"] is None
    assert client.ask("choose-ledger", path=new["path"])["ledger"]["head"] == created["head"]
    (tmp_path / "no.ledger").write_text("x", encoding="utf-8")
    for path in (str(tmp_path / "no.ledger"), str(tmp_path / "none"), "", None):
        assert client.ask("choose-ledger", path=path, expect=400)["message"]
    for key in ("epsilon", "delta", "protects", "neighbours"):
        broken = {**new, "path": str(tmp_path / "other"), key: "x"}
        assert client.ask("choose-ledger", **broken, expect=400)["message"]
    assert not (tmp_path / "other").exists()


def test_files_are_verified(client, tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 3.0, 1e-5)
    found = client.put("verify", ledger.path.read_bytes())
    assert (found["kind"], found["holds"], found["head"]) == ("ledger", True, ledger.head)
    for content in (b"", b"{}", b"SQLite format 3\0" + b"x" * 100, girls().encode()):
        assert client.put("verify", content, expect=400)["message"]


def test_remedies_are_on_the_page(client, table):
    def refused(**changes):
        return client.ask("consent", table=table, study={**STUDY, **changes}, expect=400)

    assert refused(features={"age": "2"})["message"].startswith("Must give 'age' two public bounds")
    no_budget = {"message": "No budget was named; say it under “Columns”.", "code": "no-epsilon"}
    assert refused(epsilon="") == no_budget
    assert refused(max_rows_per_unit="2")["message"] == (
        "Rows of one person can be counted only where a column says whose a row is; choose it."
    )
    assert refused(partition="north")["message"].endswith("names it; open the ledger.")
    assert refused(yes="1")["message"] == "`yes` is no part of a study."
    public = dict(client.ask("consent", table=table, study=STUDY)["public"])
    assert public["protects"] == "one row, replaced by any other"
