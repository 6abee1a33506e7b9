"""A study that is written is the study that is read."""

from pathlib import Path

import pytest
from hypothesis import given

from dpgp.study.columns import LevelColumn
from dpgp.study.file import read_study, study_text
from dpgp.study.study import Study
from random_studies import studies


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studies")


@given(study=studies())
def test_a_study_survives_its_file(folder, study):
    path = folder / "study.yaml"
    said = study.but(data="my table.csv", output=Path("model.json"), ledger=Path("/a/s.ledger"))
    path.write_text(study_text(said), encoding="utf-8")
    expected = said.but(data=str(folder / "my table.csv"), output=folder / "model.json")
    assert read_study(path) == expected


def test_classes_and_counts_survive_it_too(folder):
    path = folder / "study.yaml"
    study = Study(classes=LevelColumn("ill: now", ("no", "yes")), counts=True)
    path.write_text(study_text(study), encoding="utf-8")
    assert read_study(path) == study


def test_columns_stand_in_a_line_each(folder):
    study = Study(epsilon=1.0, delta=1e-6)
    assert study_text(study) == "epsilon: 1.0\ndelta: 1.0e-06\n"
