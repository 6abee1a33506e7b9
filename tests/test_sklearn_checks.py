from sklearn.utils.estimator_checks import parametrize_with_checks

from dpgp.regressor import PrivateGPRegressor


@parametrize_with_checks(
    [PrivateGPRegressor(epsilon=2.0, delta=1e-5, bounds=(-10, 10), target_bounds=(-10, 10))]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
