"""Few inputs on the grid, warped by `fit_warp` or by the marginals' map: docs/results/laws.md.

    python benchmarks/warps.py [--repeats 2] [--corners]

The functions and people of `dpgp_experiments.few_inputs`, or inputs that crowd in a twenty-fifth of
their box. Rows and, where the histograms are the same, noise are those of the other way.
"""

import argparse
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import product
from unittest.mock import patch

import numpy as np

from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.marginals import estimate_marginals
from dpgp.inference.many.plan import INPUT_SHARE, bins_of_inputs, buys_input_model
from dpgp.steps import input_model
from dpgp_experiments import few_inputs
from dpgp_experiments.simulated import simulation

ROWS, EPSILONS = (1_000, 5_000), (0.3, 1.0, 3.0)


def corner(rows, inputs, rng):
    """Return inputs of which nearly all are next to their lower bounds."""
    return np.minimum(0.08 * rng.standard_exponential((rows, inputs)), 2.0) - 1.0


def narrow(rows, inputs, rng):
    """Return inputs of which all are near a point within."""
    return np.clip(rng.normal(0.13, 0.06, (rows, inputs)), -1.0, 1.0)


CORNERS = {
    "wave in a corner": (lambda U: np.sin(18.0 * (U + 1.0)).sum(axis=1), corner),
    "line in a corner": (lambda U: np.minimum(U, -0.6).sum(axis=1), corner),
    "wave in a narrow crowd": (lambda U: np.sin(20.0 * (U - 0.13)).sum(axis=1), narrow),
}


def learn(self, known, release):
    """Warp all inputs by their marginals."""
    box = known.options.box
    found = estimate_marginals(release.counts, release.noise_std, known.n, box)
    known.inputs = UnitInputs(box, found.warp())


def share(purse):
    """Return the share of the histograms as where a metric is learned."""
    return INPUT_SHARE if buys_input_model(purse.signal, purse.columns) else 0.0


def bins(known):
    """Return the bins as where a metric is learned."""
    return bins_of_inputs(known.signal, known.columns)


@contextmanager
def taken(**functions):
    """Take the marginals' map, and some functions of the step instead of its own."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(input_model.InputHistograms, "learn", learn))
        for name, function in functions.items():
            stack.enter_context(patch.object(input_model, name, function))
        yield


METHODS = {
    "fit_warp": nullcontext,
    "the marginals' map": taken,
    "map and bins": lambda: taken(_bins=bins),
    "map, bins and share": lambda: taken(_bins=bins, _share=share),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--corners", action="store_true")
    asked = parser.parse_args()
    tasks = CORNERS if asked.corners else {**few_inputs.TASKS, **few_inputs.PEOPLE}
    heads = " | ".join(f"{name}: RMSE | covers" for name in METHODS)
    print(f"| task | inputs | n | ε | {heads} |\n|{'---|' * (4 + 2 * len(METHODS))}")
    ratios = []
    with simulation(), patch.dict(few_inputs.TASKS, CORNERS):
        for inputs, n, (number, name), eps in product((1, 2), ROWS, enumerate(tasks), EPSILONS):
            scores = {method: [] for method in METHODS}
            for repeat in range(asked.repeats):
                key = [11, repeat, number, inputs, n]
                for trial, score in few_inputs.fit(name, inputs, n, eps, key, METHODS):
                    scores[trial.method].append((score["rmse"], score["coverage_95"]))
            means = [np.mean(values, axis=0) for values in scores.values()]
            ratios.append([np.log(rmse / means[0][0]) for rmse, _ in means])
            cells = " | ".join(f"{rmse:.3f} | {covers:.3f}" for rmse, covers in means)
            print(f"| {name} | {inputs} | {n:,} | {eps:g} | {cells} |", flush=True)
    print("Ratios of RMSE, geometric means:", np.exp(np.mean(ratios, axis=0)).round(3))


if __name__ == "__main__":
    main()
