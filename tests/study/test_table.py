"""Every option of the table is on every face that it claims, and no face has one that it lacks."""

import inspect
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import dpgp
from dpgp.checked_values import ModelFileError
from dpgp.choices import RowsOfUnit
from dpgp.cli import app
from dpgp.cli.arguments import Json, told_a_study
from dpgp.estimator import PrivateGP
from dpgp.model.file.settings import settings_from_json, settings_to_json
from dpgp.options import Options
from dpgp.outcomes import KINDS
from dpgp.study import table
from dpgp.study.columns import CodeColumn, Column, LevelColumn, WeightColumn
from dpgp.study.errors import Face
from dpgp.study.file import read_study, study_text
from dpgp.study.script import script_of
from dpgp.study.study import Study
from dpgp.study.table import COMMANDS, EVERYWHERE, OPTIONS, Option
from dpgp.study.values import WholeValue

FUNCTIONS = {
    table.REGRESSOR: dpgp.PrivateGPRegressor.__init__,
    table.CLASSIFIER: dpgp.PrivateGPClassifier.__init__,
    table.FIT: PrivateGP.fit,
    table.PLAN: dpgp.plan,
}
ROWS = {"self", "X", "y", "target"}  # of these, options say what they are
MANNERS = {"--study", "--dry-run", "--show-lines", "--records", "--no-records"} | {
    "--yes",
    "--force",
    "--json",
    "--help",
}
"""What commands are told that is nothing of a study: how to ask, and how to answer."""
ABSENT = {option.name for option in OPTIONS if option.may_be_absent}
STUDY = Study(
    features=(Column("age", 2.0, 18.0),),
    targets=(Column("height", 70.0, 190.0),),
    epsilon=1.0,
    delta=1e-6,
    rows=500,
)


def test_names_keys_and_flags_are_unique():
    for names in (
        [option.name for option in OPTIONS],
        [option.key for option in OPTIONS if option.key is not None],
        [flag for option in OPTIONS if option.commands for flag in option.declared_flags],
    ):
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_python_have_the_options_of_the_table(name):
    parameters = dict(inspect.signature(FUNCTIONS[name]).parameters)
    declared = {option.name: option for option in OPTIONS if name in option.python}
    assert parameters.keys() - ROWS == declared.keys()
    for option in declared.values():
        default = parameters[option.name].default
        if default is not inspect.Parameter.empty and option.name != "units":  # a flag in a plan
            assert default == option.default
    if name in table.ESTIMATORS:
        others = declared.keys() - {"epsilon", "delta"}
        assert {parameters[each].kind for each in others} == {inspect.Parameter.KEYWORD_ONLY}


def command(name):
    found = get_command(app)
    for word in name.split():
        found = found.commands[word]
    return found


@pytest.mark.parametrize("name", sorted({name for option in OPTIONS for name in option.commands}))
def test_commands_have_the_options_of_the_table(name):
    parameters = command(name).params
    flags = {flag: each for each in parameters for flag in (*each.opts, *each.secondary_opts)}
    for option in table.options_of(name):
        for flag in option.declared_flags or (option.name,):
            for spelling in flag.split("/"):
                assert flags.pop(spelling).help == option.help
    if name in COMMANDS:
        assert {flag for flag in flags if flag.startswith("--")} <= MANNERS


def test_what_pages_ask_is_what_the_table_has_fields_for():
    assets = files("dpgp.studio") / "assets"
    code = "".join(path.read_text("utf-8") for path in assets.iterdir() if path.suffix == ".js")
    sent = (assets / "study.js").read_text("utf-8")
    for option in OPTIONS:
        if option.field is not None:
            assert f'"{option.field}"' in code, option.field
            assert re.search(rf"\b{option.key}\b", sent), option.key
    question = sent[sent.index("function outcome()") : sent.index("// Forecasts belong")]
    forecast_alone = {"prevalence", "mean_weight"}
    asked = set(re.findall(r"[{ ](\w+): ", question)) - {"table", "study"} - forecast_alone
    asked = {word for word in asked if word not in {"name", "levels", "no", "yes"}}
    assert asked == {option.key for option in OPTIONS if option.field is not None}


def test_the_document_names_every_key():
    text = (Path(__file__).parents[2] / "docs/command-line.md").read_text("utf-8")
    for key in table.options_by_key():
        assert re.search(rf"`{key}`|^(# )?{key}:", text, re.MULTILINE), key


def test_a_model_file_keeps_the_settings_of_the_table():
    kept = settings_to_json(STUDY.options)
    asked = [option.name for option in table.settings()]
    assert list(kept) == [name for name in asked if name not in ABSENT], "no people, no codes"
    people = STUDY.but(unit="person")
    uncoded = [name for name in asked if name not in ABSENT - {"rows_of_unit"}]
    assert list(settings_to_json(people.options)) == uncoded
    coded = people.but(missing_codes=(CodeColumn("age", ("-99", "refused")),))
    coded = coded.but(weight=WeightColumn("weight", 5.0))
    defaults = {"passes", "prior_model"}  # which are not written
    written = [name for name in asked if name not in defaults]
    assert list(settings_to_json(coded.options)) == written
    first = settings_to_json(people.but(rows_of_unit=RowsOfUnit.FIRST).options)
    assert first == kept, "as files that are older than the choice"
    counted = settings_to_json(STUDY.but(counts=True).options)
    health = LevelColumn("health", ("poor", "fair", "good"))
    ordered = settings_to_json(STUDY.but(targets=None, classes=health, ordered=True).options)
    wishes = {option.name for option in OPTIONS if option.asks_outcome}
    assert (counted.keys() | ordered.keys()) - kept.keys() == wishes
    assert wishes == {kind.option for kind in KINDS if kind.option is not None}


def test_options_keep_what_the_table_parses():
    names = {option.name for option in table.parsed_options()}
    called = {"kernel": "own_kernels", "features": "families"}
    assert {called.get(name, name) for name in names} <= set(Options.__dataclass_fields__)


def test_remedies_are_in_the_words_of_their_face():
    needed = [option for option in OPTIONS if option.lack is not None]
    for option in needed:
        error = option.needed()
        assert f"`{option.name}`" in error.on(Face.PYTHON)
        assert f"`{option.key}` to a study file" in error.on(Face.COMMAND)
        assert "--" not in error.on(Face.PAGE)
        assert error.code == f"no-{option.name}"


TOY = Option(
    "patience", WholeValue(), "How long to wait; 3 by default.", 3,
    python=EVERYWHERE, commands=COMMANDS, key="patience", setting=True, may_be_absent=True,
)  # fmt: skip
"""An option that dpgp does not have, as somebody would add it: this entry, and a field below."""


@dataclass(frozen=True, eq=False)
class PatientOptions(Options):
    patience: int = 3


class PatientRegressor(dpgp.PrivateGPRegressor):
    def __init__(self, *, bounds=None, target_bounds=None, random_state=None, patience=3):
        super().__init__(bounds=bounds, target_bounds=target_bounds, random_state=random_state)
        self.patience = patience


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(table, "OPTIONS", (*OPTIONS, TOY))
    for place in ("options", "model.file.settings", "estimator"):
        monkeypatch.setattr(f"dpgp.{place}.Options", PatientOptions)


@pytest.mark.usefixtures("toy")
def test_a_new_option_is_one_entry_for_commands():
    told = []

    @told_a_study("fit")
    def fit(study: Study, engine: str | None, json: Json = False) -> None:
        told.append(study)

    own = typer.Typer()
    own.command()(fit)
    shown = CliRunner().invoke(own, ["--help"], env={"COLUMNS": "200"}).stdout
    assert re.search(r"--patience .*How long to wait; 3 by default\.", shown)
    columns = ["--feature", "age:2:18", "--target", "height:70:190"]
    budget = ["--epsilon", "1", "--delta", "1e-6", "--rows", "500"]
    result = CliRunner().invoke(own, [*columns, *budget, "--patience", "5"])
    assert result.exit_code == 0, result.output
    assert told == [STUDY.but(patience=5)]
    assert told[0].options.patience == 5
    assert CliRunner().invoke(own, ["--patience", "0"]).exit_code == 2


@pytest.mark.usefixtures("toy")
def test_a_new_option_is_one_entry_for_files_and_scripts(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(study_text(STUDY.but(patience=5)), encoding="utf-8")
    assert "patience: 5" in path.read_text(encoding="utf-8")
    study = read_study(path)
    assert study.options.patience == 5
    assert "'patience': 5" in script_of(study, "A study", "model.json")
    settings = settings_to_json(study.options)
    assert settings["patience"] == 5
    boxes = study.options.box, study.options.target_box
    assert settings_from_json(settings, *boxes, False).patience == 5
    usual = settings_to_json(STUDY.but().options)
    assert "patience" not in usual
    assert settings_from_json(usual, *boxes, False).patience == 3
    with pytest.raises(ModelFileError, match="patience"):
        settings_from_json({**settings, "patience": 0.5}, *boxes, False)


@pytest.mark.usefixtures("toy")
def test_a_new_option_is_one_entry_for_estimators():
    asked = {"bounds": (0, 1), "target_bounds": (0, 1), "random_state": 0}
    X = [[k / 40] for k in range(41)]
    fitted = PatientRegressor(**asked, patience=7).fit(X, [x for (x,) in X])
    assert fitted.model_.options.patience == 7
    with pytest.raises(ValueError, match="`patience` must be positive"):
        PatientRegressor(**asked, patience=0).fit(X, [x for (x,) in X])


def test_no_key_hides_behind_a_method_of_studies():
    assert not set(dir(STUDY)) & set(table.options_by_key())


def test_a_study_says_what_it_was_told_and_nothing_else():
    assert STUDY.categories is None
    assert STUDY.but(rows=None) == Study(**{k: v for k, v in STUDY.said.items() if k != "rows"})
    assert hash(STUDY) == hash(STUDY.but())
    with pytest.raises(TypeError, match="no key `colour`"):
        Study(colour="red")
    with pytest.raises(AttributeError):
        _ = STUDY.colour
    levels = (LevelColumn("sex", ("F", "M")),)
    assert STUDY.but(categories=levels, unit="age").names == ["age", "sex", "height"]
