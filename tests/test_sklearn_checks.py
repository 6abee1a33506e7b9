import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpgp.classifier import PrivateGPClassifier
from dpgp.regressor import PrivateGPRegressor

BUDGET = {"epsilon": 2.0, "delta": 1e-5, "bounds": (-10, 10)}
PUBLIC = {**BUDGET, "target_bounds": (-10, 10)}
CLASSES = {**BUDGET, "classes": (0, 1)}

THREE_CLASSES = {**BUDGET, "classes": (0, 1, 2)}

pytestmark = pytest.mark.filterwarnings(
    "ignore::dpgp.model.fitted.OutsideBoundsWarning"  # scikit-learn makes rows of any size
)

OTHER_LABELS = "labels other than the public classes make rows unusable"
OF_WEIGHTS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
)
WEIGHTS = {
    **dict.fromkeys(OF_WEIGHTS, "weights need a public bound: below, they have one"),
    "check_classifiers_one_label_sample_weights": "weights need a public bound",
    "check_all_zero_sample_weights_error": "whether all weights are zero is private",
    "check_sample_weight_equivalence_on_dense_data": "sampling weights do not repeat rows: "
    "tests/private/test_weights.py compares the sums",
}
EXPECTED = {
    "check_classifiers_one_label": "ten rows of three inputs say nothing at this budget",
    "check_classifiers_classes": OTHER_LABELS,
    "check_classifiers_regression_target": OTHER_LABELS,
    "check_classifier_not_supporting_multiclass": OTHER_LABELS,
    "check_supervised_y_no_nan": OTHER_LABELS,
}
OF_FIGURES = {
    "check_classifier_data_not_an_array", "check_classifiers_one_label", "check_classifiers_train",
    "check_decision_proba_consistency", "check_estimators_pickle", "check_fit2d_1feature",
    "check_fit2d_1sample", "check_fit_idempotent", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance", "check_pipeline_consistency",
    "check_regressor_data_not_an_array", "check_regressor_multioutput", "check_regressors_int",
    "check_regressors_train",
}  # fmt: skip
"""Checks of what a model says, by the features of a plan; others are of arguments and attributes,
which are the same for all features, and take a line: a fit in a quarter of the time."""

NAMED = "two labels in the data are three classes all the same: these are public"
OF_THREE = {"check_classifiers_train": NAMED, "check_decision_proba_consistency": NAMED}


def expected(estimator):
    if not isinstance(estimator, PrivateGPClassifier):
        return WEIGHTS
    return WEIGHTS | EXPECTED | (OF_THREE if len(estimator.classes) > 2 else {})


@parametrize_with_checks(
    [
        PrivateGPRegressor(**PUBLIC, stages=1),
        PrivateGPClassifier(**CLASSES, stages=1),
        PrivateGPClassifier(**THREE_CLASSES, stages=1),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_conventions(estimator, check):
    of_figures = check.func.__name__ in OF_FIGURES
    check(estimator if of_figures else estimator.set_params(features="linear"))


@pytest.mark.slow
@parametrize_with_checks(
    [PrivateGPRegressor(**PUBLIC), PrivateGPClassifier(**CLASSES)], expected_failed_checks=expected
)
def test_scikit_learn_conventions_with_all_stages(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", OF_WEIGHTS)
def test_weights_are_taken_as_scikit_learn_gives_them(name):
    asked = PrivateGPRegressor(**PUBLIC | {"epsilon": 100.0}, stages=1, weight_bound=1.0)
    getattr(estimator_checks, name)("PrivateGPRegressor", asked)
