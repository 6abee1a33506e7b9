"""Problems to agree on, and the two libraries, each in an environment of its own.

GPflow wants NumPy 1 and dpgp NumPy 2, so nothing is imported: a worker script is run by the
Python of ``.venv-gpflow`` or ``.venv-gpytorch``, and plain ``.npz`` files go in and out.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel

from dpgp.paper import SparsePosterior, dp_gp_inference
from dpgp.privacy.noise import SeededNoiseWarning

Array = NDArray[np.float64]
Worker = Callable[..., dict[str, Array]]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Problem:
    """Rows, inducing points, test points and the hyperparameters of an RBF with ARD."""

    X: Array
    y: Array
    Z: Array
    X_new: Array
    variance: float
    lengthscales: Array
    noise_variance: float

    @property
    def kernel(self) -> Kernel:
        return ConstantKernel(self.variance) * RBF(self.lengthscales)

    @property
    def noise_std(self) -> float:
        return float(np.sqrt(self.noise_variance))


def scattered(generator: np.random.Generator, *shape: int) -> Array:
    """Inducing points off any grid, yet no two close: middles of cells, each moved a little."""
    axes = [(np.arange(m) + 0.5) / m for m in shape]
    middles = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(shape))
    return middles + generator.uniform(-0.2, 0.2, middles.shape) / np.array(shape)


def random_problem(seed: int, n: int, Z_shape: tuple[int, ...], lengthscales: Array) -> Problem:
    """Rows in the unit cube, targets between -1 and 1; K_zz needs no jitter."""
    generator = np.random.default_rng(seed)
    D = len(Z_shape)
    X = generator.uniform(size=(n, D))
    signal = 0.6 * np.sin(5.0 * X @ generator.uniform(0.5, 1.5, D))
    return Problem(
        X=X,
        y=np.clip(signal + 0.2 * generator.standard_normal(n), -1.0, 1.0),
        Z=scattered(generator, *Z_shape),
        X_new=generator.uniform(-0.2, 1.2, size=(31, D)),
        variance=1.7,
        lengthscales=lengthscales,
        noise_variance=0.05,
    )


PROBLEMS = {
    "1-D": random_problem(1, 2000, (7,), np.array([0.13])),
    "2-D": random_problem(2, 3000, (4, 3), np.array([0.2, 0.35])),
}


@pytest.fixture(params=PROBLEMS)
def problem(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]


@pytest.fixture
def noisy_posterior(problem: Problem) -> SparsePosterior:
    with pytest.warns(SeededNoiseWarning):
        return fit(problem, epsilon=3.0, random_state=0)


@pytest.fixture
def exact_posterior(problem: Problem) -> SparsePosterior:
    return fit(problem, epsilon=float("inf"))


def fit(problem: Problem, *, epsilon: float, random_state: int | None = None) -> SparsePosterior:
    return dp_gp_inference(
        problem.X,
        problem.y,
        problem.Z,
        problem.kernel,
        noise_std=problem.noise_std,
        target_bound=1.0,
        epsilon=epsilon,
        delta=1e-5,
        random_state=random_state,
    )


@pytest.fixture
def assert_agrees(problem: Problem) -> Callable[..., None]:
    """Compare every prediction of ours, in the names of the workers, with theirs."""

    def check(
        posterior: SparsePosterior, theirs: dict[str, Array], *, mean_atol: float, cov_atol: float
    ) -> None:
        mean, cov = posterior.predict(problem.X_new, return_cov=True)
        _, std = posterior.predict(problem.X_new, return_std=True)
        y_mean, y_std = posterior.predict(problem.X_new, return_std=True, latent=False)
        _, y_cov = posterior.predict(problem.X_new, return_cov=True, latent=False)
        assert_allclose(mean, theirs["mean"], rtol=0, atol=mean_atol)
        assert_allclose(cov, theirs["cov"], rtol=0, atol=cov_atol)
        assert_allclose(std**2, theirs["variance"], rtol=0, atol=cov_atol)
        assert_allclose(y_mean, theirs["y_mean"], rtol=0, atol=mean_atol)
        assert_allclose(y_std**2, theirs["y_variance"], rtol=0, atol=cov_atol)
        assert_allclose(np.diag(y_cov), theirs["y_variance"], rtol=0, atol=cov_atol)

    return check


@pytest.fixture
def gpflow(tmp_path: Path) -> Worker:
    return worker("gpflow", tmp_path)


@pytest.fixture
def gpytorch(tmp_path: Path) -> Worker:
    return worker("gpytorch", tmp_path)


def worker(library: str, folder: Path) -> Worker:
    """Return ``run(model_name, problem, **more arrays)``, which asks the library for its answer."""
    python = python_of(library)

    def run(model_name: str, problem: Problem, **arrays: Array) -> dict[str, Array]:
        question, answer = folder / f"{model_name}-in.npz", folder / f"{model_name}-out.npz"
        np.savez(question, **vars(problem), **arrays)
        # -I: neither PYTHONPATH nor the current folder may lend a package to the other environment
        script = HERE / f"{library}_worker.py"
        command = [python, "-I", script, model_name, question, answer]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.fail(f"{script.name} failed:\n{done.stderr}", pytrace=False)
        with np.load(answer) as archive:
            return dict(archive)

    return run


def python_of(library: str) -> Path:
    """The library's own interpreter; without it skip, or fail where DPGP_REQUIRE_EXTERNAL=1."""
    python = ROOT / f".venv-{library}" / "bin" / "python"
    if not python.exists():
        reason = f".venv-{library} is missing; `make test-slow` creates it."
        if os.environ.get("DPGP_REQUIRE_EXTERNAL") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return python
