"""The Python script of a study does what the study does."""

import io
import runpy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from dpgp.choices import DecimalMark
from dpgp.cli.fit import fit_study, read_header, read_rows
from dpgp.missing_codes import NOWHERE
from dpgp.options import Options
from dpgp.outcomes import NUMBER
from dpgp.outcomes.count import Counted
from dpgp.planning.plan import plan_of
from dpgp.privacy import noise
from dpgp.private.tables import TableError
from dpgp.study.columns import Column, LevelColumn
from dpgp.study.script import script_of
from dpgp.study.study import Study
from random_studies import girls, studies


def about(study, name="table.csv"):
    return study.but(data=name)


def text_of(study):
    return script_of(study, study.title or "A study", "model.json")


def run(study, folder):
    path = folder / "script.py"
    path.write_text(text_of(study), encoding="utf-8")
    return runpy.run_path(str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scripts")


@settings(max_examples=60)
@given(study=studies())
def test_the_script_asks_the_same(folder, study):
    """The options of a plan are everything it depends on, but for the number of rows."""
    asked = about(study)
    seen = {}

    def plan_with(options, n, **_):
        seen.update(options=options, n=n)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpgp.planning.plan.plan_of", plan_with)
        script = run(asked, folder)
        script["plan"]()
    assert seen["n"] == study.rows
    # a count is planned as a number, and codes make no difference to a plan
    options = replace(asked.options, missing_codes=NOWHERE)
    planned = replace(options, outcome=NUMBER) if study.counts else options
    assert said(seen["options"]) == said(planned)
    question = script["QUESTION"]
    assert [*question["bounds"], *question["categories"]] == list(options.box.names)


def said(options: Options):
    """Everything in options that is not an array or a name, and arrays as lists."""
    boxes = [
        (box.low.tolist(), box.high.tolist(), [c and c.levels for c in box.categories])
        for box in (options.box, options.target_box)
    ]
    rest = {k: v for k, v in vars(options).items() if k not in ("box", "target_box")}
    return [*boxes, rest]


HEIGHT = Column("height_cm", 70.0, 190.0)
OUTCOMES = {
    "a number": {"targets": (HEIGHT,)},
    "two numbers": {"targets": (HEIGHT, Column("weight_kg", 5.0, 120.0))},
    "a count": {"targets": (Column("visits", 0.0, 30.0),), "counts": True},
    "two classes": {"classes": LevelColumn("tall", ("no", "yes"))},
}


@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=list(OUTCOMES))
def test_the_script_plans_the_same(folder, outcome):
    study = Study(
        **outcome,
        features=(Column("age", 2.0, 18.0),),
        epsilon=0.7,
        delta=1e-6,
        rows=300,
        title='"""quoted\\',
    )
    planned = run(about(study), folder)["plan"]()
    assert planned.forecasts == plan_of(study.options, 300).forecasts


PEOPLE = Study(
    targets=(Column("height_cm", 70.0, 190.0),),
    features=(Column("age", 2.0, 18.0),),
    categories=(LevelColumn("sex", ("F", "M")),),
    epsilon=2.0,
    delta=1e-6,
    unit="person",
    max_rows_per_unit=2,
    rows=300,
)


SEX = LevelColumn("sex", ("F", "M"))
ALL_KINDS = {
    "a number": PEOPLE,
    "a count": PEOPLE.but(counts=True),
    "two classes": PEOPLE.but(targets=None, classes=SEX, categories=None),
}


@pytest.mark.parametrize("study", ALL_KINDS.values(), ids=list(ALL_KINDS))
def test_the_script_fits_the_same(tmp_path, monkeypatch, study):
    (tmp_path / "table.csv").write_text(girls(), encoding="utf-8")
    check_fits_the_same(about(study), tmp_path, monkeypatch)


def check_fits_the_same(study, folder, monkeypatch):
    """With seeded noise the script's model and the command line's predict the same."""
    theirs = run(study, folder)["fit"](random_state=0).model_
    monkeypatch.setattr(noise, "noise_source", lambda _: noise.SimulatedNoise(0))
    ours = fit_study(study, read_rows(str(folder / study.data), study))
    new = [[9.0, "F"], [12.0, "M"]] if study.categories else [[9.0], [12.0]]
    np.testing.assert_allclose(theirs.mean(new), ours.mean(new), rtol=1e-9)
    assert theirs.options.outcome == ours.options.outcome
    assert isinstance(ours.options.outcome, Counted) == bool(study.counts)
    assert theirs.certificate.releases == ours.certificate.releases


WRITE = {
    "xlsx": lambda table, path: table.to_excel(path, index=False),
    "dta": lambda table, path: table.to_stata(path, write_index=False),
    "feather": lambda table, path: table.to_feather(path),
    "parquet": lambda table, path: table.to_parquet(path),
    "tsv": lambda table, path: table.to_csv(path, sep="\t", index=False),
    "csv.gz": lambda table, path: table.to_csv(path, index=False),
}


@pytest.mark.parametrize("suffix", WRITE)
def test_the_script_reads_what_the_studio_opens(tmp_path, monkeypatch, suffix):
    table = pd.read_csv(io.StringIO(girls()))
    WRITE[suffix](table, tmp_path / f"table.{suffix}")
    header = read_header(str(tmp_path / f"table.{suffix}"))
    assert header.names == tuple(table.columns)
    check_fits_the_same(about(PEOPLE, f"table.{suffix}"), tmp_path, monkeypatch)


def test_the_script_reads_decimal_commas(tmp_path, monkeypatch):
    text = girls().replace(",", ";").replace(".", ",")
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    study = PEOPLE.but(decimal=DecimalMark.COMMA)
    check_fits_the_same(about(study), tmp_path, monkeypatch)


def test_the_script_lets_no_quotation_mark_swallow_rows(tmp_path):
    """Not in a column that nobody uses either, where pandas drops rows without a word."""
    header, first, *others = girls().splitlines()
    lines = [f"{header},note", f'{first},"', *(f"{line}," for line in others[:-1])]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([*lines, f'{others[-1]},"']) + "\n", encoding="utf-8")
    assert len(pd.read_csv(path)) == 1
    fit = run(about(PEOPLE), tmp_path)["fit"]
    with pytest.raises(TableError, match="stray quotation mark") as refused:
        fit(random_state=0)
    assert not hasattr(refused.value, "spent")


def test_the_script_spends_from_the_ledger(tmp_path):
    study = PEOPLE.but(ledger=tmp_path / "it's.ledger", partition="north")
    text = text_of(about(study))
    ledger = repr(str(tmp_path / "it's.ledger"))
    assert f"fit(ledger=dpgp.Ledger({ledger}).partition('north'))" in text


def test_the_script_spends_nothing_where_it_could_not_save(tmp_path, monkeypatch):
    (tmp_path / "model.json").write_text("old")
    path = tmp_path / "script.py"
    path.write_text(text_of(about(PEOPLE)), encoding="utf-8")
    monkeypatch.setattr("builtins.input", lambda _: "y")
    with pytest.raises(SystemExit, match=r"model\.json exists.*Nothing was spent"):
        runpy.run_path(str(path), run_name="__main__")
