"""One sparse Gaussian process with fixed hyperparameters, from rows in memory to predictions.

    python benchmarks/peers.py [rows [folder of .venv-gpflow and .venv-gpytorch]]

100 inducing points on a grid of two inputs; ours is the exact integer sum that a stage releases and
its posterior, without noise. GPflow's SGPR and GPyTorch's inducing points run in the environments
that `make test-slow` creates. Imports and the making of rows are not counted; memory is what the
work added to the peak. Ratios within this one run are what counts.
"""

import json
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROWS = 1_000_000

START = """
import json, os, resource, sys, time
import numpy as np
rng, n = np.random.default_rng(0), int(sys.argv[1])
X = rng.uniform(-1, 1, (n, 2))
y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.1, n)
axis = np.linspace(-1, 1, 10)
Z = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""
END = """
before, start, cores = peak(), time.perf_counter(), time.process_time()
mean = work(X[:1000])
print(json.dumps({"wall": time.perf_counter() - start, "cpu": time.process_time() - cores,
                  "memory": peak() - before, "mean": float(np.ravel(mean)[0])}))
"""
OURS = """
from sklearn.gaussian_process.kernels import RBF
from dpgp.domain import Box
from dpgp.features.combined import GridFeatures
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.point_sets import as_grid
from dpgp.privacy.exact_sums import UNIT, shrinkage
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_gram

def work(X_new):
    inner = GridFeatures.of([RBF(0.4)] * 2, as_grid(Z))
    features = BoxFeatures(UnitInputs(Box.from_bounds((-1, 1), 2)), inner)
    G = exact_gram(Rows(X, y[None] / 4, np.ones(n, dtype=bool)), features) / UNIT**2
    A = G[:-1, -1].astype(float) * 4 / shrinkage(100)
    B = G[:-1, :-1].astype(float) / shrinkage(100) ** 2
    precision = B / 0.1**2 + np.eye(100)
    w = np.linalg.solve(precision, A / 0.1**2)
    return features.evaluate(X_new).T @ w
"""
GPFLOW = """
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gpflow

def work(X_new):
    kernel = gpflow.kernels.RBF(lengthscales=0.4)
    model = gpflow.models.SGPR((X, y[:, None]), kernel, Z, noise_variance=0.01)
    return model.posterior().predict_f(X_new)[0].numpy()
"""
GPYTORCH = """
import gpytorch, torch

class Model(gpytorch.models.ExactGP):
    def __init__(self, X, y, likelihood):
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        base = gpytorch.kernels.RBFKernel()
        base.lengthscale = 0.4
        self.covar_module = gpytorch.kernels.InducingPointKernel(base, torch.tensor(Z), likelihood)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

def work(X_new):
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.01
    model = Model(torch.tensor(X), torch.tensor(y), likelihood).double().eval()
    with torch.no_grad():
        return model(torch.tensor(X_new)).mean.numpy()
"""


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parents[1])
    jobs = {
        "dpgp": (sys.executable, OURS),
        "GPflow SGPR": (folder / ".venv-gpflow/bin/python", GPFLOW),
        "GPyTorch, inducing points": (folder / ".venv-gpytorch/bin/python", GPYTORCH),
    }
    found = {name: cost_of(*job, rows) for name, job in jobs.items()}
    columns = ("clock, s", "cores, s", "added memory, MB", "clock / ours", "memory / ours")
    table = Table("", *columns, title=f"{rows:,} rows, 100 inducing points")
    ours = found["dpgp"]
    for name, cost in found.items():
        ratios = (f"{cost[key] / ours[key]:.1f}" for key in ("wall", "memory"))
        numbers = (f"{cost['wall']:.2f}", f"{cost['cpu']:.2f}", f"{cost['memory']:.0f}")
        table.add_row(name, *numbers, *ratios)
    Console().print(table)


def cost_of(interpreter, work, rows):
    command = [str(interpreter), "-c", START + work + END, str(rows)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
