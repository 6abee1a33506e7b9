"""The reader that docs/model-file.md prints: NumPy alone, the same predictions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF

from dpgp import PrivateGPRegressor

PAGE = Path(__file__).parents[2] / "docs" / "model-file.md"


def printed_reader() -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (reader,) = [block for block in blocks if "def predict(" in block]
    return reader


@pytest.fixture(scope="module")
def predict():
    names: dict = {}
    exec(printed_reader(), names)
    return names["predict"]


def fitted(columns: int, targets: int = 1, **options) -> PrivateGPRegressor:
    generator = np.random.default_rng(columns)
    X = generator.uniform(0.0, 10.0, (300, columns)) ** 1.5 / 10**0.5
    y = 150.0 + 30.0 * np.sin(X[:, 0]) + generator.standard_normal(300)
    y = y if targets == 1 else np.column_stack([y, 300.0 - y])
    bounds = [(0.0, 10.0 + column) for column in range(columns)]
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=bounds, target_bounds=(100, 220), stages=1)
    return gp.set_params(random_state=0, **options).fit(X, y)


def saved(gp: PrivateGPRegressor, folder: Path) -> dict:
    gp.save(folder / "model.json")
    return json.loads((folder / "model.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("warp", [True, False])
def test_reads_default_models(predict, tmp_path, columns, warp):
    gp = fitted(columns, warp=warp)
    file = saved(gp, tmp_path)
    assert (file["inputs"]["warp"] is not None) == warp
    X = np.random.default_rng(1).uniform(-1.0, 13.0, (40, columns))
    mean, std = predict(file, X)
    ours, our_std = gp.predict(X, return_std=True)
    assert_allclose(mean, ours, rtol=1e-9, atol=0)
    assert_allclose(std, our_std, rtol=1e-9, atol=0)


@pytest.mark.parametrize("options", [{"inducing_points": 5}, {"epsilon": float("inf")}])
def test_reads_other_grids(predict, tmp_path, options):
    gp, X = fitted(2, **options), np.random.default_rng(2).uniform(0.0, 10.0, (20, 2))
    mean, std = predict(saved(gp, tmp_path), X)
    ours, our_std = gp.predict(X, return_std=True)
    assert_allclose([mean, std], [ours, our_std], rtol=1e-9, atol=0)


def test_reads_each_of_several_targets(predict, tmp_path):
    gp, X = fitted(1, targets=2), np.linspace(0.0, 10.0, 15)[:, None]
    file, (ours, our_std) = saved(gp, tmp_path), gp.predict(X, return_std=True)
    for target in (0, 1):
        mean, std = predict(file, X, target)
        assert_allclose([mean, std], [ours[:, target], our_std[:, target]], rtol=1e-9, atol=0)


@pytest.mark.parametrize("options", [{"features": "joint"}, {"kernel": RBF(0.5)}])
def test_other_models_are_refused(predict, tmp_path, options):
    with pytest.raises(AssertionError):
        predict(saved(fitted(2, **options), tmp_path), np.zeros((1, 2)))


def test_needs_numpy_alone():
    imported = re.findall(r"^(?:import|from) (\w+)", printed_reader(), re.MULTILINE)
    assert set(imported) == {"functools", "numpy"}
