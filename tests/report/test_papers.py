"""The statement for an ethics board, the registry's form, and what verification prints."""

import json

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app
from dpgp.report.papers import registry_entry, statement
from dpgp.verify import verify

X = np.linspace(0.0, 1.0, 60)[:, None]


def fitted(**options):
    defaults = {"bounds": (0, 1), "target_bounds": (2, 3), "features": "linear", "stages": 1}
    units = options.pop("units", None)
    return dpgp.PrivateGPRegressor(**(defaults | options)).fit(X, X[:, 0], units=units).model_


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("papers") / "model.json"
    model.save(path)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "120"})


def test_a_statement_has_all_four_parts(model):
    text = statement(model, "Growth")
    assert text.startswith("# Privacy statement: Growth")
    for part in ("protected", "Against whom", "assumed to be public", "not covered"):
        assert part in text
    assert "factor of at most 2.72, plus 1e-06" in text
    assert "at most 2.72 in 1,000" in text
    assert "from 2 to 3" in text
    assert "The number of records is public." in text
    assert "NOT PRIVATE" not in text


def test_a_statement_speaks_of_people_and_of_simulations():
    people = statement(fitted(units=list(range(60)), missing="ignore", epsilon=40.0))
    assert "One person, of whom one row counts" in people
    assert "The number of records is protected too." in people
    assert "incomplete" not in people
    assert "SIMULATION, NOT PRIVATE" in statement(fitted(random_state=0))


FIELDS = {
    "name": "Height of girls", "curator": "Health survey", "curator_type": "Government",
    "intended_use": "Growth charts", "region": "Finland", "author": "A. Curator",
}  # fmt: skip


def test_an_entry_has_the_registrys_form(model):
    entry = registry_entry(model, **FIELDS)
    assert set(entry) == {"url_slug", "deployment"}
    assert entry["url_slug"] == "height-of-girls-health-survey"
    deployment = entry["deployment"]
    assert list(deployment) == [
        "basic", "dp_variant", "privacy_loss", "deployment_model", "implementation",
        "administrative",
    ]  # fmt: skip
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-6}
    assert deployment["deployment_model"]["model_name"] == "Central"
    assert deployment["administrative"]["status"] == "Draft"
    assert yaml.safe_load(yaml.safe_dump(entry)) == entry
    with pytest.raises(ValueError, match="simulation"):
        registry_entry(fitted(random_state=0), **FIELDS)
    with pytest.raises(ValueError, match="curator_type"):
        registry_entry(model, **FIELDS | {"curator_type": "University"})


def test_commands_write_papers(file, tmp_path):
    said = invoke("statement", file)
    assert "# Privacy statement" in said.output
    assert invoke("statement", file, "-o", tmp_path / "s.md").exit_code == 0
    assert invoke("statement", file, "-o", tmp_path / "s.md").exit_code == 2
    options = [
        part for name, value in FIELDS.items() for part in (f"--{name.replace('_', '-')}", value)
    ]
    entry = invoke("registry", file, *options)
    assert yaml.safe_load(entry.output)["deployment"]["basic"]["name"] == "Height of girls"


def test_verify_says_what_a_file_can_prove_and_what_not(file, tmp_path):
    said = invoke("verify", file)
    assert said.exit_code == 0, said.output
    assert said.output.count("yes") == len(verify(file)) + 1  # and whether it can be loaded
    assert "What the file proves" in said.output
    assert "What only its publisher can vouch for" in said.output
    document = json.loads(file.read_text())
    document["guarantee"]["epsilon"] = document["settings"]["epsilon"] = 0.5
    (tmp_path / "edited.json").write_text(json.dumps(document))
    said = invoke("verify", tmp_path / "edited.json", "--json")
    assert said.exit_code == 1
    assert json.loads(said.output)["holds"] is False
    assert invoke("verify", tmp_path / "none.json").exit_code == 4
