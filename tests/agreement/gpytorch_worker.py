"""GPyTorch's answer to a problem in a file: ``python gpytorch_worker.py svgp in.npz out.npz``.
With ``export in.npz out.npz``: what models that dpgp exported predict.

Runs in GPyTorch's own environment and knows nothing of dpgp but the module that builds such models.
Four of its defaults would hide an agreement to 1e-6 and are changed: single precision becomes
double; the jitter of 1e-6 on K_zz (for doubles) becomes zero, so problems must be well-conditioned
without it; the first call no longer overwrites q(u) with the prior plus noise
(``variational_params_initialized``); and the noise variance may be smaller than 1e-4. With up to
800 inducing points GPyTorch uses Cholesky factors throughout, no conjugate gradients.
"""

import json
import sys
from pathlib import Path

import gpytorch
import numpy as np
import torch
from gpytorch.variational import CholeskyVariationalDistribution, UnwhitenedVariationalStrategy


class VariationalGP(gpytorch.models.ApproximateGP):
    """Zero mean, scaled RBF with a length scale per input, and q(u) = N(m, S) as given."""

    def __init__(self, problem):
        q = CholeskyVariationalDistribution(len(problem["Z"]))
        strategy = UnwhitenedVariationalStrategy(
            self, problem["Z"], q, learn_inducing_locations=False, jitter_val=0.0
        )
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ZeroMean()
        rbf = gpytorch.kernels.RBFKernel(ard_num_dims=problem["Z"].shape[1])
        rbf.lengthscale = problem["lengthscales"]
        self.covar_module = gpytorch.kernels.ScaleKernel(rbf)
        self.covar_module.outputscale = problem["variance"]

        q.variational_mean.data = problem["m"]
        q.chol_variational_covar.data = torch.linalg.cholesky(problem["S"])
        strategy.variational_params_initialized.fill_(1)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def gaussian_likelihood(noise_variance):
    likelihood = gpytorch.likelihoods.GaussianLikelihood(
        noise_constraint=gpytorch.constraints.Positive()
    )
    likelihood.noise = noise_variance
    return likelihood


def given_posterior(problem):
    torch.set_default_dtype(torch.float64)
    problem = {name: torch.as_tensor(value) for name, value in problem.items()}
    model = VariationalGP(problem).eval()
    likelihood = gaussian_likelihood(problem["noise_variance"]).eval()
    return predictions(model, likelihood, problem["X_new"])


def predictions(model, likelihood, X_new):
    f = model(X_new)
    y = likelihood(f)
    return {
        "mean": f.mean,
        "cov": f.covariance_matrix,
        "variance": f.variance,
        "y_mean": y.mean,
        "y_variance": y.variance,
    }


def exported(problem):
    """Predictions of the models of specifications, by "name/kind"."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
    from dpgp.export.gpytorch_model import build

    result = {}
    for name, question in json.loads(problem["question"].item()).items():
        model = build(question["specification"])
        X_new = torch.tensor(question["X"], dtype=torch.float64)
        answer = predictions(model, model.likelihood, X_new)
        result |= {f"{name}/{key}": value for key, value in answer.items()}
    return result


def main(model_name, problem_path, result_path):
    with np.load(problem_path) as archive:
        problem = dict(archive)
    with torch.no_grad():
        result = {"svgp": given_posterior, "export": exported}[model_name](problem)
    np.savez(result_path, **{name: value.numpy() for name, value in result.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
