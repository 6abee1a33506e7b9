"""Dates at the command line: said, fitted, predicted as they were, shown, kept in study files."""

import json
import runpy

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpgp.study.columns import Column
from dpgp.study.file import read_study, study_text
from dpgp.study.script import script_of

FIRST, LAST = "2019-01-01", "2021-12-31"
FEATURE = f"visit:{FIRST}:{LAST}"
BUDGET = ("--target", "y:0:60", "--epsilon", 3, "--delta", 1e-6)
STUDY = f"""
data: rows.csv
targets: {{y: [0, 60]}}
features: {{visit: [{FIRST}, {LAST}]}}
epsilon: 3
delta: 1e-6
rows: 300
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, invoke):
    folder, random = tmp_path_factory.mktemp("dates"), np.random.default_rng(0)
    days = random.integers(0, 1095, 300)
    dates, y = np.datetime64(FIRST) + days, 20 + days / 100 + random.normal(0, 2, 300)
    lines = ["visit,y", *(f"{date},{value:.2f}" for date, value in zip(dates, y, strict=True))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    (folder / "study.yaml").write_text(STUDY)
    asked = ["--feature", FEATURE, *BUDGET, "--yes", "-o", folder / "model.json"]
    result = invoke("fit", folder / "rows.csv", *asked)
    assert result.exit_code == 0, result.output
    assert f"visit, from {FIRST} to {LAST}" in result.output
    return folder


def test_predictions_stand_beside_dates_as_they_were(folder, tmp_path, invoke, refused):
    cells = ["2019-03-04", " 2020-02-29T10:00:00+02:00", "", "2030-01-01"]
    (tmp_path / "new.csv").write_text("\n".join(["visit", *cells]) + "\n")
    result = invoke("predict", folder / "model.json", tmp_path / "new.csv")
    assert result.exit_code == 0, result.output
    lines = [line.split(",") for line in result.stdout.splitlines()[1:]]
    assert [line[0] for line in lines] == cells
    assert [line[1] == "" for line in lines] == [False, False, True, False]
    assert "outside the model's bounds" in result.stderr
    for cell in ("31/12/2019", "2019-02-29", "100"):
        (tmp_path / "new.csv").write_text(f"visit\n2019-03-04\n{cell}\n")
        result = invoke("predict", folder / "model.json", tmp_path / "new.csv")
        assert result.exit_code == 4
        assert (
            "column 'visit' has cells that are no dates; write them as 2019-01-31" in result.stderr
        )
        assert cell not in result.stderr


def test_dates_of_parquet_are_written_as_dates(folder, tmp_path, invoke):
    new = pa.table({"visit": pa.array(np.array(["2019-03-04", "NaT"], "datetime64[D]"))})
    parquet.write_table(new, tmp_path / "new.parquet")
    result = invoke("predict", folder / "model.json", tmp_path / "new.parquet")
    first, second = result.stdout.splitlines()[1:]
    assert first.startswith("2019-03-04,")
    assert second == ",,,,"


def test_everything_that_is_shown_shows_dates(folder, invoke):
    model = folder / "model.json"
    assert FIRST in invoke("show", model).stdout
    column = {"name": "visit", "low": FIRST, "high": LAST, "unit": f"days since {FIRST}"}
    assert json.loads(invoke("show", model, "--json").stdout)["inputs"] == [column]
    assert FIRST in invoke("effects", model, "--along", "visit").stdout
    along = json.loads(invoke("effects", model, "--along", "visit", "--json").stdout)
    assert FIRST in json.dumps(along)
    assert invoke("verify", model).exit_code == 0


@pytest.mark.parametrize(
    ("feature", "rule"),
    [
        (f"visit:{LAST}:{FIRST}", "the lower one first, got 2021-12-31 and 2019-01-01"),
        (f"visit:{FIRST}:5", "two numbers or two dates"),
        ("visit:2019-02-29:2020-01-01", "must end in public bounds"),
        ("visit:01/02/2019:01/02/2020", "'visit:2019-01-01:2024-12-31'"),
    ],
)
def test_bounds_that_cannot_be_meant(folder, invoke, refused, feature, rule):
    asked = ["fit", folder / "rows.csv", "--feature", feature, *BUDGET, "--dry-run"]
    refused(invoke(*asked), 2, rule)


def test_a_cell_that_is_no_date_stops_a_fit(folder, tmp_path, invoke, refused):
    (tmp_path / "rows.csv").write_text((folder / "rows.csv").read_text() + "31/12/2019,5\n")
    asked = ["fit", tmp_path / "rows.csv", "--feature", FEATURE, *BUDGET, "--dry-run"]
    refused(
        invoke(*asked), 4, "missing or no dates: they are written as 2019-01-31", "--missing ignore"
    )
    assert invoke(*asked, "--missing", "ignore").exit_code == 0


def test_a_study_file_and_its_script_say_dates(folder, tmp_path):
    study = read_study(folder / "study.yaml")
    assert study.features == (Column("visit", FIRST, LAST),)
    (tmp_path / "again.yaml").write_text(study_text(study))
    assert read_study(tmp_path / "again.yaml").features == study.features
    (tmp_path / "study.py").write_text(script_of(study, "Visits", "model.json"))
    assert runpy.run_path(str(tmp_path / "study.py"))["plan"]().forecast.rmse > 0
