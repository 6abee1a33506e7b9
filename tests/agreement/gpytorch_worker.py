"""GPyTorch's answer to a problem in a file: ``python gpytorch_worker.py svgp in.npz out.npz``.

Runs in GPyTorch's own environment and knows nothing of dpgp. Four of its defaults would hide an
agreement to 1e-6 and are changed: single precision becomes double; the jitter of 1e-6 on K_zz (for
doubles) becomes zero, so problems must be well-conditioned without it; the first call no longer
overwrites q(u) with the prior plus noise (``variational_params_initialized``); and the noise
variance may be smaller than 1e-4. With up to 800 inducing points GPyTorch uses Cholesky factors
throughout, no conjugate gradients.
"""

import sys

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


def predictions(problem):
    model = VariationalGP(problem).eval()
    likelihood = gaussian_likelihood(problem["noise_variance"]).eval()
    f = model(problem["X_new"])
    y = likelihood(f)
    return {
        "mean": f.mean,
        "cov": f.covariance_matrix,
        "variance": f.variance,
        "y_mean": y.mean,
        "y_variance": y.variance,
    }


def main(model_name, problem_path, result_path):
    if model_name != "svgp":
        raise SystemExit(f"`model_name` must be svgp, got {model_name}.")
    torch.set_default_dtype(torch.float64)
    with np.load(problem_path) as archive:
        problem = {name: torch.as_tensor(value) for name, value in archive.items()}
    with torch.no_grad():
        result = predictions(problem)
    np.savez(result_path, **{name: value.numpy() for name, value in result.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
