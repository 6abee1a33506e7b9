"""Models have names: one a fit, the same for every copy, and no other in a file."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import dpgp
from dpgp.model.file import ModelFileError
from dpgp.model.file.model import decode, encode
from dpgp.model.fitted import FittedModel
from dpgp.privacy.certificate import StudyRecord
from dpgp.report.html import report_html
from dpgp.report.papers import statement

STUDY = StudyRecord.of(b"epsilon: 1", "Growth <of> girls", "G-1")


def fitted(seed: int) -> FittedModel:
    X = np.linspace(0.0, 1.0, 100)[:, None]
    gp = dpgp.PrivateGPRegressor(
        epsilon=1.0, delta=1e-5, bounds=(0, 1), target_bounds=(0, 1), random_state=seed
    )
    return gp.fit(X, X[:, 0]).model_


@pytest.fixture(scope="module")
def model() -> FittedModel:
    found = fitted(0)
    return replace(found, certificate=found.certificate.of_study(STUDY))


def test_two_fits_have_two_ids(model):
    assert model.id != fitted(1).id


def test_id_and_study_survive_the_file(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    again = dpgp.load(path)
    assert json.loads(path.read_text())["id"] == again.id == model.id
    assert again.certificate == model.certificate
    assert again.certificate.study == STUDY


def test_a_file_without_id_and_study_is_read(model):
    document = encode(model)
    del document["id"], document["guarantee"]["study"]
    assert decode(document).id == model.id
    assert decode(document).certificate.study is None


@pytest.mark.parametrize("stated", [None, "", 3, [], "0" * 32])
def test_an_id_is_the_models_own_or_absent(model, stated):
    with pytest.raises(ModelFileError, match="`id` does not follow"):
        decode({**encode(model), "id": stated})


@pytest.mark.parametrize("damage", [{"sha256": "abc"}, {"sha256": 1}, {"title": 2}, {"more": 1}])
def test_a_damaged_study_is_refused(model, damage):
    document = encode(model)
    document["guarantee"]["study"] |= damage
    with pytest.raises(ModelFileError, match=r"guarantee\.study"):
        decode(document)


def test_papers_name_model_and_study(model):
    page, paper = report_html(model), statement(model)
    for text in (page, paper, str(model.certificate)):
        assert STUDY.sha256 in text
    assert model.id in page
    assert model.id in paper
    assert "Growth &lt;of&gt; girls" in page
