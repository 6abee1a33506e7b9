"""The statement for an ethics board, the registry's form, and what verification prints."""

import json
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

import dpgp
from dpgp.choices import Missing, RowsOfUnit
from dpgp.cli import app
from dpgp.privacy.neighbours import Neighbours
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
    assert "- The number of rows.\n" in text
    assert "People with several rows" in text
    assert "NOT PRIVATE" not in text


def test_a_statement_speaks_of_people_and_of_simulations():
    people = statement(fitted(units=list(range(60)), missing="ignore", epsilon=40.0))
    assert "One person, with all of their rows" in people
    assert "Of each person, one row counts, drawn at random." in people
    assert "The number of people, but not the number of their rows." in people
    assert "this guarantee sets no limit to it." in people
    assert "incomplete" not in people
    assert "People with several rows" not in people
    assert "SIMULATION, NOT PRIVATE" in statement(fitted(random_state=0))


def test_a_statement_names_codes_for_missing_values():
    codes = statement(fitted(missing_codes={0: [-99, "a, b"]}, missing="ignore", random_state=0))
    assert '\n- That input is missing where the table says -99, "a, b".\n' in codes
    assert "is missing where" not in statement(fitted(random_state=0))


FIELDS = {
    "name": "Height of girls", "curator": "Health survey", "curator_type": "Government",
    "intended_use": "Growth charts", "region": "Finland", "author": "A. Curator",
}  # fmt: skip

OUTCOMES = {
    "a number": {"target_bounds": (0, 1)},
    "a count": {"target_bounds": (0, 30), "counts": True},
    "yes or no": {"classes": ("no", "yes")},
    "two targets": {"target_bounds": [(0, 1), (-2.5, 1e7)]},
}
COLUMNS = {
    "a number": {"age": (0, 1)},
    "a category": {"union": ["no", "yes"]},
    "both": {
        "age": (0, 1),
        "race": ["Non-Hispanic White", "Other; none, or", 3],
        "1": [True, "a b"],
    },
}


def model_of(outcome, columns):
    """A private model of 40 rows of an outcome and of columns."""
    generator, n = np.random.default_rng(0), 40
    extents = COLUMNS[columns]
    kinds = {name: extent for name, extent in extents.items() if isinstance(extent, list)}
    numbers = {name: extent for name, extent in extents.items() if name not in kinds}
    frame = pd.DataFrame({name: generator.uniform(0, 1, n) for name in numbers})
    for name, levels in kinds.items():
        frame[name] = generator.choice(np.array(levels, dtype=object), n)
    y = generator.integers(0, 2, n)
    y = {"yes or no": np.where(y, "yes", "no"), "two targets": np.column_stack([y, y])}.get(
        outcome, y
    )
    is_class = outcome == "yes or no"
    estimator = dpgp.PrivateGPClassifier if is_class else dpgp.PrivateGPRegressor
    options = {"bounds": numbers or None, "categories": kinds or None, "stages": 1}
    return estimator(**options, **OUTCOMES[outcome]).fit(frame, y).model_


def told(model, neighbours, persons, missing, rows):
    """The model as if it had been asked for in another way."""
    per_person = persons is not None
    options = replace(model.options, neighbours=neighbours, per_person=per_person, missing=missing)
    certificate = replace(
        model.certificate, neighbours=neighbours, per_person=per_person, rows_per_unit=rows,
        rows_of_unit=persons or RowsOfUnit.FIRST,
    )  # fmt: skip
    return replace(model, options=options, certificate=certificate)


GARBLED = re.compile(
    r"  +\S|[;,:] ?[;,:.]|\.\.|\( ?\)|\[|\]| [;,.:]|\bto [;,.]|\bfrom levels"
    r"|\bNone\b(?!\.)|\bnan\b|\binf\b"
)


def check_words(text):
    """Every line is a heading or a whole sentence, with nothing left over from other cases."""
    quoted = re.sub("“[^”]*”", "“level”", text)
    for line in filter(None, quoted.splitlines()):
        words = re.sub("^ *- ", "", line)
        assert not GARBLED.search(words), line
        opens_list = words.endswith("looking at the data:")
        assert line.startswith("#") or words.endswith(".") or opens_list, line
        assert words[0].isupper() or line.startswith(("#", "  - ", "- `", "**")), line


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_sentence_is_whole_whatever_was_asked(outcome, columns):
    model, said = model_of(outcome, columns), set()
    ways = product(Neighbours, [None, *RowsOfUnit], Missing, (1, 3))
    for neighbours, persons, missing, rows in ways:
        if persons is None and rows > 1:
            continue
        each = told(model, neighbours, persons, missing, rows)
        text, entry = statement(each), registry_entry(each, **FIELDS)["deployment"]
        check_words(text)
        check_words(entry["basic"]["description"])
        for part in ("dp_variant", "privacy_loss", "implementation"):
            for value in entry[part].values():
                if isinstance(value, str) and value.count(" ") > 1:
                    check_words(value)
        said.add(text)
    assert len(said) == 20  # every way has words of its own
    for name, extent in COLUMNS[columns].items():
        levels = ", ".join(f"“{level}”" for level in extent)
        told_of = f"one of {levels}" if isinstance(extent, list) else "a number from 0 to 1"
        assert f"  - {name}: {told_of}.\n" in text


def test_words_for_each_kind_of_outcome():
    texts = {outcome: statement(model_of(outcome, "a category")) for outcome in OUTCOMES}
    assert "a number from 0 to 30, counted in whole numbers." in texts["a count"]
    assert "  - target: one of “no”, “yes”." in texts["yes or no"]
    assert "no row lacked an input" in texts["yes or no"]
    assert "predicts target 1 and target 2 from union" in texts["two targets"]
    assert "target 2: a number from -2.5 to 10000000." in texts["two targets"]


@pytest.mark.parametrize(("name", "shown"), [(" a\n  b", "a b"), ("", "(no name)")])
def test_names_of_columns_stand_in_one_line(model, name, shown):
    box = replace(model.options.box, names=(name,))
    text = statement(replace(model, options=replace(model.options, box=box)))
    check_words(text)
    assert f"from {shown}, with its uncertainty." in text
    assert f"  - {shown}: a number from 0 to 1." in text


def test_without_noise_nothing_is_said_to_be_noisy_or_bounded():
    text = statement(fitted(epsilon=float("inf")))
    check_words(text)
    assert "without any noise." in text
    assert "factor of at most" not in text


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
