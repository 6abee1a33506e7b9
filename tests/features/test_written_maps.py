import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from dpgp.features.combined import ConcatenatedFeatures, GridFeatures, additive_features
from dpgp.features.inducing import InducingFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.point_sets import low_discrepancy_points, regular_grid

GRID = regular_grid([-1, -1], [1, 1], (5, 4))
SCATTERED = low_discrepancy_points([-1, -1], [1, 1], 23)
MAPS = {
    "inducing": InducingFeatures(Matern([0.5, 0.8], nu=1.5), SCATTERED),
    "large variance": InducingFeatures(ConstantKernel(7.0) * RBF(0.5) + DotProduct(1.0), SCATTERED),
    "grid": GridFeatures.of([RBF(0.4), Matern(0.7)], GRID),
    "linear": LinearFeatures(2),
    "additive": additive_features([RBF(0.4), RBF(0.6)], 6),
    "concatenated": ConcatenatedFeatures(
        [LinearFeatures(2), InducingFeatures(RBF(0.5), SCATTERED)], (0.3, 0.7)
    ),
}


@pytest.fixture(params=MAPS, ids=list(MAPS))
def features(request):
    return MAPS[request.param]


@pytest.mark.parametrize("name", MAPS, ids=list(MAPS))
@settings(max_examples=100)
@given(rows=st.lists(st.tuples(*[st.floats(-1, 1)] * 2), min_size=1, max_size=4))
def test_no_row_has_a_norm_above_one(name, rows):
    phi = MAPS[name].evaluate(np.array(rows))
    assert phi.shape == (MAPS[name].dimension, len(rows))
    assert np.linalg.norm(phi, axis=0).max() <= 1.0 + 1e-12


def test_a_norm_of_one_is_attained_at_an_inducing_point_and_in_a_corner():
    at_points = MAPS["inducing"].evaluate(SCATTERED)
    assert np.linalg.norm(at_points, axis=0).max() > 1.0 - 1e-4  # the jitter takes the rest
    corner = MAPS["linear"].evaluate(np.array([[1.0, -1.0]]))
    assert np.linalg.norm(corner) == pytest.approx(1.0)


def test_the_kronecker_product_equals_the_direct_features():
    factors = MAPS["grid"]
    U = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    K = np.kron(RBF(0.4)(GRID.axes[0][:, None]), Matern(0.7)(GRID.axes[1][:, None]))
    k = RBF(0.4)(GRID.points[:, :1], U[:, :1]) * Matern(0.7)(GRID.points[:, 1:], U[:, 1:])
    gram = factors.evaluate(U).T @ factors.evaluate(U)
    assert np.allclose(gram, k.T @ np.linalg.solve(K, k), atol=2e-3)  # up to the jitter
    assert np.array_equal(factors.anchors, GRID.points)
    assert factors.projection.shape == (20, 20)


def test_weights_of_anchor_values_reproduce_a_smooth_function(features):
    if features is MAPS["linear"] or features is MAPS["additive"]:
        values = 0.3 + features.anchors @ [0.5, -0.2]
        target = 0.3 + np.array([[0.3, -0.4]]) @ [0.5, -0.2]
    else:
        values = np.sin(features.anchors[:, 0]) * features.anchors[:, 1]
        target = np.sin(0.3) * np.array([-0.4])
    w = features.projection @ values
    error = abs(features.evaluate(np.array([[0.3, -0.4]])).T @ w - target)
    assert error < 0.05


def test_shares_are_shares_of_the_squared_norm():
    both = MAPS["concatenated"]
    U = np.array([[1.0, 1.0]])
    linear = both.evaluate(U)[:3]
    assert np.linalg.norm(linear) ** 2 == pytest.approx(0.3)


def test_shares_must_be_positive():
    with pytest.raises(ValueError, match="one positive number for each map"):
        ConcatenatedFeatures([LinearFeatures(2)], (0.0,))
    with pytest.raises(ValueError, match="one positive number for each map"):
        ConcatenatedFeatures([LinearFeatures(2)], (0.5, 0.5))
