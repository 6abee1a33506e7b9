"""ONNX models, run by onnxruntime, predict what the estimator predicts."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

import dpgp
from dpgp import NormalizedKernel, PrivateGPClassifier, PrivateGPRegressor, ProductKernel, export
from dpgp.export.traced_chances import traced_interval, traced_probability
from dpgp.outcomes.log_odds import LogOdds

SCALE = 60.0  # half of the target's range
MATERN = ConstantKernel(0.1) * Matern(0.5, nu=1.5) + DotProduct(0.3) + Matern([0.5, 1.0], nu=2.5)
RATIONAL = RationalQuadratic(0.5, 2.0) + RationalQuadratic(0.3, alpha_bounds="fixed")
PERIODIC = ProductKernel([ExpSineSquared(0.5, 0.7), RBF(0.5) ** 2])
OTHERS = PERIODIC + NormalizedKernel(DotProduct(0.3))
MODELS = {
    "one input": (1, {}),
    "two inputs": (2, {}),
    "three inputs": (3, {}),
    "five inputs": (5, {}),
    "local scale of five": (5, {"epsilon": 30.0}),
    "mixture": (5, {"features": ["linear", "additive", "joint"]}),
    "no warp": (2, {"warp": False, "features": ["linear", "joint"]}),
    "Matern": (2, {"kernel": MATERN, "inducing_points": 5}),
    "Matern 1/2": (2, {"kernel": ConstantKernel(0.1, "fixed") * Matern(0.7, nu=0.5)}),
    "RationalQuadratic": (2, {"kernel": RATIONAL, "inducing_points": 4}),
    "others": (2, {"kernel": OTHERS, "inducing_points": 4}),
    "no calibration": (1, {"calibrate": False}),
    "not private": (1, {"epsilon": float("inf")}),
}


def fitted(columns: int, targets: int = 1, **options) -> PrivateGPRegressor:
    generator = np.random.default_rng(columns)
    X = generator.uniform(0.0, 10.0, (400, columns))
    y = 150.0 + 30.0 * np.sin(X[:, 0]) + generator.standard_normal(400)
    y = y if targets == 1 else np.column_stack([y, 300.0 - y])
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(100, 220), stages=1)
    return gp.set_params(random_state=0, **options).fit(X, y)


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def run(model: onnx.ModelProto, X: np.ndarray) -> dict[str, np.ndarray]:
    running = session(model)
    names = [output.name for output in running.get_outputs()]
    return dict(zip(names, running.run(names, {"X": X}), strict=True))


def check(gp: PrivateGPRegressor, model: onnx.ModelProto, rows: int, column=...) -> None:
    X = np.random.default_rng(9).uniform(-1.0, 11.0, (rows, gp.n_features_in_))
    mean, std = gp.predict(X, return_std=True)
    _, latent_std = gp.predict(X, return_std=True, latent=True)
    lower, upper = gp.predict_interval(X, 0.95)
    ours = {"mean": mean, "std": std, "latent_std": latent_std, "lower": lower, "upper": upper}
    theirs = run(model, X)
    assert theirs.keys() == ours.keys()
    for name, values in ours.items():
        assert_allclose(theirs[name], values[column], rtol=0, atol=1e-9 * SCALE, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_predicts_the_same_inside_and_outside_the_bounds(name):
    columns, options = MODELS[name]
    gp = fitted(columns, **options)
    model = export.to_onnx(gp)
    check(gp, model, 60)
    check(gp, model, 1)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_no_rows(columns):
    outputs = run(export.to_onnx(fitted(columns)), np.empty((0, columns)))
    assert [values.shape for values in outputs.values()] == [(0,)] * 5


def test_one_of_several_targets():
    gp = fitted(1, targets=2)
    for target in (0, 1):
        check(gp, export.to_onnx(gp, target), 20, (..., target))
    with pytest.raises(ValueError, match="`target` must say which of the 2 targets"):
        export.to_onnx(gp)


def test_a_model_of_single_precision_inputs_is_refused():
    running = session(export.to_onnx(fitted(1)))
    with pytest.raises(Exception, match="Unexpected input data type"):
        running.run(None, {"X": np.zeros((1, 1), dtype=np.float32)})


def test_a_missing_value_gives_no_number():
    outputs = run(export.to_onnx(fitted(2)), np.array([[1.0, 2.0], [np.nan, 2.0]]))
    assert [np.isnan(values).tolist() for values in outputs.values()] == [[False, True]] * 5


def test_metadata_tell_the_guarantee_and_the_columns():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"Größe <cm>": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.5]})
    gp = PrivateGPRegressor(2.0, bounds=[(0, 5), (-1, 1)], target_bounds=(0, 1), stages=1)
    model = export.to_onnx(gp.fit(X, [0.1, 0.2, 0.3]))
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert (float(facts["epsilon"]), float(facts["delta"])) == (2.0, 1e-6)
    assert facts["statement"].startswith("(2, 1e-06)-differential privacy, mu = ")
    assert facts["statement"] in model.doc_string
    assert json.loads(facts["inputs"]) == [
        {"name": "Größe <cm>", "low": 0.0, "high": 5.0},
        {"name": "b", "low": -1.0, "high": 1.0},
    ]
    assert json.loads(facts["target"]) == {"name": "target", "low": 0.0, "high": 1.0}


def test_a_simulation_is_called_one():
    assert "NOT PRIVATE: a seeded simulation" in export.to_onnx(fitted(1)).doc_string


def test_a_saved_file_predicts_the_same(tmp_path):
    gp = fitted(1)
    onnx.save(export.to_onnx(gp), tmp_path / "model.onnx")
    check(gp, onnx.load(tmp_path / "model.onnx"), 5)


def test_nothing_is_written_that_no_output_needs():
    graph = export.to_onnx(fitted(5)).graph
    used = {name for node in graph.node for name in node.input}
    written = {name for node in graph.node for name in node.output}
    assert written - used == {output.name for output in graph.output}
    assert {constant.name for constant in graph.initializer} <= used


def test_kernels_that_cannot_be_exported_say_so():
    gp = fitted(1, kernel=RBF(0.5) * Matern(0.5, nu=3.5), inducing_points=4)
    with pytest.raises(ValueError, match="cannot be exported"):
        export.to_onnx(gp)


def test_without_the_package_the_remedy_is_named():
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "from dpgp.export import to_onnx\n"
        "try: to_onnx(None)\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install '.[onnx]'" in done.stdout


def test_predictions_are_cut_to_the_bounds():
    X = np.random.default_rng(5).uniform(0.0, 10.0, (400, 1))
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(100, 220), random_state=0)
    gp.fit(X, np.full(400, 1500.0))  # another unit
    found = run(export.to_onnx(gp), X)
    assert gp.sample_y(X[:2]).min() > 220
    assert np.mean(found["mean"] == 220.0) > 0.9
    assert_allclose(found["mean"], gp.predict(X))
    assert found["upper"].max() <= 220.0
    assert found["lower"].min() >= 100.0


def drawn(columns: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(columns)
    X = generator.uniform(0.0, 10.0, (600, columns))
    return X, generator.poisson(rate * np.exp(X[:, 0] / 6.0))


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_counts_have_whole_intervals_within_bounds_that_are_not(columns):
    X, y = drawn(columns, 1.0)
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(0.5, 11.7), counts=True)
    gp.set_params(random_state=0, stages=2).fit(X, y)
    check(gp, export.to_onnx(gp), 60)
    found = run(export.to_onnx(gp), X)
    assert set(found["lower"]) | set(found["upper"]) <= set(range(1, 12))


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("rate", [0.02, 0.6], ids=["rare", "frequent"])
def test_classes_have_the_same_probabilities_and_intervals(columns, rate):
    X, y = drawn(columns, rate)
    clf = PrivateGPClassifier(3.0, 1e-5, bounds=(0, 10), classes=(False, True), stages=2)
    clf.set_params(random_state=0).fit(X, y > 0)
    new = np.random.default_rng(9).uniform(-1.0, 11.0, (200, columns))
    found = run(export.to_onnx(clf), new)
    assert list(found) == ["probability", "lower", "upper"]
    ours = [clf.predict_proba(new)[:, 1], *clf.predict_proba_interval(new)]
    assert_allclose(list(found.values()), ours, rtol=0, atol=1e-9)
    assert np.ptp(ours[0]) > 0.01
    new[3, 0] = np.nan
    for values in run(export.to_onnx(clf), new).values():
        assert np.flatnonzero(np.isnan(values)).tolist() == [3]
    assert all(len(values) == 0 for values in run(export.to_onnx(clf), new[:0]).values())


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_levels_of_categories_are_taken_by_their_numbers(columns):
    pandas = pytest.importorskip("pandas")
    X, y = drawn(columns, 1.0)
    table = pandas.DataFrame(X, columns=[f"x{k}" for k in range(columns)])
    table.insert(0, "sex", np.where(y % 2 == 0, "F", "M"))
    gp = PrivateGPRegressor(3.0, 1e-5, categories={"sex": ["F", "M"]}, target_bounds=(0, 12))
    gp.set_params(bounds=dict.fromkeys(table.columns[1:], (0, 10)), random_state=0, stages=2)
    found = run(export.to_onnx(gp.fit(table, y)), export.rows(gp, table))
    assert_allclose(found["mean"], gp.predict(table), rtol=0, atol=1e-8)


@pytest.mark.parametrize("columns", [1, 5])
def test_a_fit_of_weighted_rows_predicts_the_same(columns):
    X, y = drawn(columns, 1.0)
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(0, 12), weight_bound=4.0)
    gp.set_params(random_state=0, stages=2).fit(X, y, sample_weight=1.0 + y % 5)
    check(gp, export.to_onnx(gp), 60)


@pytest.mark.parametrize("weight_bound", [None, 4.0], ids=["whole", "weighted"])
@pytest.mark.parametrize(("columns", "ordered"), [(1, False), (4, False), (1, True), (4, True)])
def test_every_one_of_several_classes_has_its_outputs(columns, ordered, weight_bound):
    X, y = drawn(columns, 1.0)
    weights = None if weight_bound is None else 1.0 + y % 5
    labels = np.array(["none", "one", "more"])[np.minimum(y, 2).astype(int)]
    clf = PrivateGPClassifier(3.0, 1e-5, bounds=(0, 10), classes=("none", "one", "more"), stages=2)
    clf.set_params(ordered=ordered, weight_bound=weight_bound, random_state=0)
    clf.fit(X, labels, sample_weight=weights)
    new = np.random.default_rng(9).uniform(-1.0, 11.0, (100, columns))
    found, P = run(export.to_onnx(clf), new), clf.predict_proba(new)
    ends = clf.predict_proba_interval(new)
    for k, label in enumerate(clf.classes_):
        ours = [P[:, k], *(end[:, k] for end in ends)]
        theirs = [found[f"{part}_{label}"] for part in ("probability", "lower", "upper")]
        assert_allclose(theirs, ours, rtol=0, atol=1e-9)
    assert list(run(export.to_onnx(clf, target="one"), new)) == [
        "probability_one", "lower_one", "upper_one"
    ]  # fmt: skip


def test_classes_of_a_loaded_model_are_exported_alike(tmp_path):
    X, y = drawn(2, 0.5)
    clf = PrivateGPClassifier(3.0, 1e-5, bounds=(0, 10), classes=("no", "yes"), random_state=0)
    clf.fit(X, np.where(y > 0, "yes", "no")).save(tmp_path / "model.json")
    model = export.to_onnx(dpgp.load(tmp_path / "model.json"))
    assert_allclose(run(model, X)["probability"], clf.predict_proba(X)[:, 1], atol=1e-9)
    target = json.loads({entry.key: entry.value for entry in model.metadata_props}["target"])
    assert target["levels"] == ["no", "yes"]


BELIEFS = [
    (m + d, s) for m in (-2.0, -0.1, 0.0, 0.4, 0.5, 0.7, 1.0, 3.0) for d in (-1e-3, 0.0, 0.05)
    for s in (1e-3, 0.02, 0.3, 2.0)
]  # fmt: skip
LINKS = [LogOdds(), LogOdds(0.3, -0.7, 1.4, 0.05), LogOdds(-2.0, 1.0, 0.3, 0.4)]


@pytest.mark.parametrize("odds", LINKS)
@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_formulas_of_probabilities_hold_far_beyond_the_bounds(odds, coverage):
    mean, std = np.array(BELIEFS).T
    p = odds.probability(mean, std)
    with np.errstate(over="ignore"):  # e^{z²} where it is not taken
        found = traced_probability(mean, std, odds)
        ends = traced_interval(mean, std, coverage, odds, found)
    assert_allclose(found, p, rtol=1e-7, atol=0)
    expected = odds.interval(mean, std, coverage)
    assert_allclose(ends, expected, rtol=1e-6, atol=1e-9)
