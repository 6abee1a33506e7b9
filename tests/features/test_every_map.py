"""What must hold of every feature map in the registry: one test, all maps."""

import json
from contextlib import closing

import numpy as np
import pytest
from numpy.testing import assert_allclose
from py_mini_racer import MiniRacer
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from dpgp.arithmetic import NUMPY
from dpgp.features.base import (
    MAPS,
    evaluate,
    feature_tree,
    features_from_json,
    features_to_json,
    maps,
)
from dpgp.features.combined import (
    ColumnFeatures,
    ConcatenatedFeatures,
    GridFeatures,
    additive_features,
)
from dpgp.features.inducing import InducingFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.point_sets import low_discrepancy_points, regular_grid
from dpgp.report.html.browser import plain, posterior_script

POINTS = low_discrepancy_points([-1, -1], [1, 1], 7)
AXIS = np.linspace(-1, 1, 4)[:, None]
EXAMPLES = {
    "inducing": InducingFeatures(Matern([0.5, 0.8], nu=1.5), POINTS),
    "large": InducingFeatures(ConstantKernel(7.0) * RBF(0.5) + DotProduct(1.0), POINTS),
    "grid": GridFeatures.of([RBF(0.4), Matern(0.7)], regular_grid([-1, -1], [1, 1], (4, 3))),
    "linear": LinearFeatures(2, 0.3),
    "column": ColumnFeatures(InducingFeatures(RBF(0.5), AXIS), 1, 2),
    "concatenated": ConcatenatedFeatures(
        [LinearFeatures(2), InducingFeatures(RBF(0.5), POINTS)], (0.3, 0.7)
    ),
    "additive": additive_features([RBF(0.4), RBF(0.6)], 5),
}
U = np.random.default_rng(0).uniform(-1, 1, (11, 2))
every_map = pytest.mark.parametrize("features", EXAMPLES.values(), ids=list(EXAMPLES))


def test_every_map_of_the_registry_has_an_example():
    assert {type(features) for features in EXAMPLES.values()} == set(maps().values())
    assert len(maps()) == len(MAPS)


@every_map
def test_shapes_and_norms(features):
    phi = features.evaluate(U)
    assert phi.shape == (features.dimension, len(U))
    assert np.linalg.norm(phi, axis=0).max() <= 1.0 + 1e-12
    assert features.projection.shape == (features.dimension, len(features.anchors))
    assert len(features.anchors) <= features.most_anchors
    out = np.empty_like(phi)
    assert np.array_equal(features.evaluate(U, out), phi)
    assert np.array_equal(out, phi)


@every_map
def test_files_bring_it_back(features):
    tree = json.loads(json.dumps(features_to_json(features)))
    again = features_from_json(tree, "features", 2)
    assert type(again) is type(features)
    assert features_to_json(again) == tree
    assert_allclose(again.evaluate(U), features.evaluate(U), rtol=0, atol=1e-12)
    third = features_from_json(tree, "features", 2)
    assert np.array_equal(third.evaluate(U), again.evaluate(U))


@every_map
def test_the_formula_gives_the_same_features(features):
    assert_allclose(
        evaluate(feature_tree(features), U, NUMPY), features.evaluate(U).T, rtol=0, atol=1e-12
    )


@every_map
def test_the_page_computes_the_same_features(features):
    tree, points = json.dumps(plain(feature_tree(features))), json.dumps(U.tolist())
    with closing(MiniRacer()) as engine:
        engine.eval(posterior_script())
        engine.eval(f"const phi = featureMap({tree});")
        found = engine.eval(
            f"JSON.stringify({points}.map((u) => Array.from(phi(Float64Array.from(u)))))"
        )
    assert_allclose(json.loads(found), features.evaluate(U).T, rtol=0, atol=1e-11)


class Doubled(LinearFeatures):
    """A subclass with a formula of its own."""


def test_subclasses_are_not_taken_for_their_parents():
    with pytest.raises(ValueError, match="of type Doubled cannot be exported"):
        feature_tree(Doubled(2))
    with pytest.raises(ValueError, match="of type Doubled cannot be saved"):
        features_to_json(Doubled(2))
