import json
import math

import numpy as np
import pytest

from dpgp import Ledger
from dpgp.ledger.ledger import FitPrice
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import text_up

COLUMNS = ["--feature", "age:0:1", "--target", "height:0:1", "--epsilon", 1, "--delta", 1e-6]


@pytest.fixture
def table(tmp_path):
    x = np.random.default_rng(0).uniform(size=60)
    lines = [f"{a},{a * a}" for a in x]
    (tmp_path / "t.csv").write_text("\n".join(["age,height", *lines]), encoding="utf-8")
    return tmp_path / "t.csv"


@pytest.fixture
def study(tmp_path, invoke):
    path = tmp_path / "study.ledger"
    assert invoke("ledger", "create", path, "--epsilon", 1.2, "--delta", 1e-5).exit_code == 0
    return path


def fit(invoke, table, *options):
    output = table.with_name("model.json")
    return invoke("fit", table, *COLUMNS, "-o", output, "--yes", "--force", *options)


def quiet(invoke, table, *options):
    return fit(invoke, table, "--json", *options)


def test_show_says_why_two_fits_of_more_than_half_fit(tmp_path, invoke):
    path = tmp_path / "people.ledger"
    invoke("ledger", "create", path, "--epsilon", 2, "--delta", 1e-5)
    lines = invoke("ledger", "show", path).output.splitlines()
    (said,) = [line for line in lines if "squares of μ" in line]
    ledger = Ledger(path)
    mu = mu_of_guarantee(1.0, 1e-5)
    for _ in range(2):
        ledger.reserve(FitPrice(1.0, 1e-5, mu, 0.0, ("all",), Neighbours.REPLACE, "row", False))
    words = f"two fits of ε = 1 spend {text_up(ledger.spent_epsilon, 3)} of it together"
    assert said.split(maxsplit=2)[2].rstrip() == f"by squares of μ, not by ε: {words}"
    assert 1.4 < ledger.spent_epsilon < 1.5


def test_the_whole_story(invoke, refused, table, study):
    first = fit(invoke, table, "--ledger", study)
    assert first.exit_code == 0, first.output
    assert "ε = 0 of 1.2 is spent at δ = 1e-05" in first.stderr
    shown = invoke("ledger", "show", study)
    assert "ε = 0.87" in shown.output
    about = json.loads(invoke("ledger", "show", study, "--json").output)
    assert about["spent_epsilon"] == Ledger(study).spent_epsilon
    assert about["head"] in shown.output
    refused(
        quiet(invoke, table, "--ledger", study),
        2,
        "does not fit",
        "nothing was drawn",
        "would",
    )
    history = invoke("ledger", "history", study).output
    assert "reserved" in history
    assert "complete" in history
    assert len(json.loads(invoke("ledger", "history", study, "--json").output)) == 3
    checked = invoke("ledger", "check", study, "--head", about["head"])
    assert checked.exit_code == 0
    assert "3 entries" in checked.output
    refused(invoke("ledger", "check", study, "--head", "0" * 64), 4, "does not hold this head")


def test_groups(invoke, refused, table, tmp_path):
    path = tmp_path / "sites.ledger"
    groups = ["--disjoint", "north", "--disjoint", "south"]
    invoke("ledger", "create", path, "--epsilon", 1, "--delta", 1e-6, *groups)
    assert fit(invoke, table, "--ledger", path, "--partition", "north").exit_code == 0
    assert fit(invoke, table, "--ledger", path, "--partition", "south").exit_code == 0
    refused(quiet(invoke, table, "--ledger", path), 2, "nothing is left")
    refused(
        quiet(invoke, table, "--ledger", path, "--partition", "west"),
        4,
        "'west' is not among",
    )
    refused(quiet(invoke, table, "--partition", "north"), 2, "--partition needs --ledger")
    assert "north" in invoke("ledger", "show", path).output


def test_a_study_file_names_the_ledger(invoke, table, study):
    path = table.with_name("study.yaml")
    path.write_text(
        "data: t.csv\nfeatures: {age: [0, 1]}\ntargets: {height: [0, 1]}\nepsilon: 1\n"
        "delta: 1e-6\noutput: model.json\nledger: study.ledger\n",
        encoding="utf-8",
    )
    rehearsal = invoke("fit", "--study", path, "--dry-run")
    assert rehearsal.exit_code == 0
    assert "ε = 0 of 1.2 is spent" in rehearsal.output
    assert len(Ledger(study).entries()) == 1
    assert invoke("fit", "--study", path, "--yes").exit_code == 0
    assert len(Ledger(study).entries()) == 3
    assert invoke("plan", "--study", path, "--rows", 60).exit_code == 0


def test_what_cannot_be_meant(invoke, refused, table, study, tmp_path):
    create = ["ledger", "create", tmp_path / "new.ledger"]
    refused(invoke("ledger", "create", study, "--epsilon", 1, "--delta", 1e-5), 2, "exists")
    refused(invoke(*create, "--epsilon", 0, "--delta", 1e-5), 2, "`epsilon`")
    refused(invoke(*create, "--epsilon", 1, "--delta", 1e-5, "--protects", "dog"), 2, "`protects`")
    refused(invoke(*create, "--epsilon", 1e4, "--delta", 1e-5), 4, "cap")
    refused(invoke("ledger", "show", tmp_path / "none.ledger"), 4, "there is no ledger")
    refused(invoke("ledger", "show", table), 4, "cannot use the ledger")
    refused(quiet(invoke, table, "--ledger", tmp_path / "none.ledger"), 4, "there is no ledger")
    refused(
        quiet(invoke, table, "--ledger", study, "--neighbours", "add-remove"),
        4,
        "neighbours",
    )
    assert math.isclose(Ledger(study).spent_epsilon, 0.0)
