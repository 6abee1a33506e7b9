"""GPflow's answer to a problem in a file: ``python gpflow_worker.py {sgpr,svgp} in.npz out.npz``.
With ``export in.npz out.npz``: what models that dpgp exported predict.

Runs in GPflow's own environment and knows nothing of dpgp but the module that builds such models.
Hyperparameters are given, nothing is trained. The jitter is set to zero: GPflow would add 1e-6 to
the diagonal of K_zz, which changes the model by more than the agreement that is asked for. Problems
must be well-conditioned without it; exported models never have any.
"""

import json
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import gpflow
import numpy as np


def kernel_of(problem):
    return gpflow.kernels.SquaredExponential(
        variance=problem["variance"], lengthscales=problem["lengthscales"]
    )


def sgpr(problem):
    """Titsias' collapsed bound: q(u) and the predictions follow from the rows."""
    return gpflow.models.SGPR(
        (problem["X"], problem["y"][:, None]),
        kernel=kernel_of(problem),
        inducing_variable=problem["Z"],
        noise_variance=problem["noise_variance"],
    )


def svgp(problem):
    """Uncollapsed: q(u) = N(m, S) is given, unwhitened, and there are no rows."""
    return gpflow.models.SVGP(
        kernel_of(problem),
        gpflow.likelihoods.Gaussian(variance=problem["noise_variance"]),
        inducing_variable=problem["Z"],
        q_mu=problem["m"][:, None],
        q_sqrt=np.linalg.cholesky(problem["S"])[None],
        whiten=False,
    )


def predictions(model, X_new):
    mean, cov = model.predict_f(X_new, full_cov=True)
    _, variance = model.predict_f(X_new)
    y_mean, y_variance = model.predict_y(X_new)
    return {
        "mean": mean[:, 0],
        "cov": cov[0],
        "variance": variance[:, 0],
        "y_mean": y_mean[:, 0],
        "y_variance": y_variance[:, 0],
    }


def inducing_posterior(model):
    m, S = model.compute_qu()
    return {"m": m[:, 0], "S": S}


def exported(problem):
    """Predictions of the models of specifications, by "name/kind"."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
    from dpgp.export.gpflow_model import build

    result = {}
    for name, question in json.loads(problem["question"].item()).items():
        answer = predictions(build(question["specification"]), np.array(question["X"]))
        result |= {f"{name}/{key}": np.asarray(value) for key, value in answer.items()}
    return result


def main(model_name, problem_path, result_path):
    gpflow.config.set_default_jitter(0.0)
    with np.load(problem_path) as archive:
        problem = dict(archive)
    if model_name == "export":
        np.savez(result_path, **exported(problem))
        return
    model = {"sgpr": sgpr, "svgp": svgp}[model_name](problem)
    result = predictions(model, problem["X_new"])
    if model_name == "sgpr":
        result |= inducing_posterior(model)
    np.savez(result_path, **{name: np.asarray(value) for name, value in result.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
