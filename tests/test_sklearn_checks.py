import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpgp.regressor import PrivateGPRegressor

PUBLIC = {"epsilon": 2.0, "delta": 1e-5, "bounds": (-10, 10), "target_bounds": (-10, 10)}


@parametrize_with_checks([PrivateGPRegressor(**PUBLIC, stages=1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([PrivateGPRegressor(**PUBLIC)])
def test_scikit_learn_conventions_with_all_stages(estimator, check):
    check(estimator)
