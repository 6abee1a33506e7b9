r"""DP-SGD on small tanh networks (Abadi et al. 2016): squared error, Adam, averaged weights.

Two recipes, each the same for every task. *Plain*: D → 32 → 32 → 1 units, 300 steps on batches of
1,000 rows (all rows where there are fewer), gradients clipped to 0.1, inputs and targets scaled to
[−1, 1] by their public bounds. *Standardised*: D → 64 → 64 → 1 units, 400 steps with every tenth
row, gradients clipped to 1, inputs and targets standardised by a private release, which is
accounted for. Both take the mean of the weights over the second half of the steps. The learning
rate depends on the task through the noise that n, ε and δ imply: 0.004 over the root of z/(qn), the
noise of a mean gradient in units of the clipping norm, at most 0.03, falling linearly to zero. It
was found on simulated data. A network gives predictions without a distribution. *Classes*: one
layer of 16 units, logistic loss, gradients clipped to 1; the best of some recipes on a table that
it is then compared on, which helps it.

The gradient of a row at a layer is δaᵀ, so its squared norm is ‖δ‖²‖a‖² and no gradient of a single
row is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem
from dpgp_experiments.baselines.private_gradients import (
    adam_step,
    clip_weights,
    load_torch,
    noise_multiplier,
    one_thread,
    poisson_batches,
    seeded,
)
from dpgp_experiments.baselines.standardise import standardised


class Recipe(NamedTuple):
    """Hidden units, and how they are trained."""

    hidden: tuple[int, ...]
    steps: int
    clip: float
    decay: float  # of squared gradients in Adam


PLAIN = Recipe((32, 32), 300, 0.1, 0.99)
BATCH = 1000
CLASSES = Recipe((16,), 300, 1.0, 0.999)
STANDARDISED = Recipe((64, 64), 400, 1.0, 0.999)
RATE = 0.1


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Train the plain network and predict."""
    rate = min(1.0, BATCH / len(problem.y))
    U, test = problem.unit_inputs(problem.X), problem.unit_inputs(X_test)
    output = _train_and_run(problem, PLAIN, rate, 0.0, (U, problem.unit_targets, test), rng)
    return Prediction(problem.centre + problem.half_width * output)


def fit_standardised(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Release means and deviations of all columns, train the other network, and predict."""
    data = standardised(problem, X_test, rng)
    output = _train_and_run(problem, STANDARDISED, RATE, data.spent, data[:3], rng)
    return data.prediction(problem, output)


def fit_classes(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Train a network on labels 0 and 1 by logistic loss; returns probabilities of 1."""
    rate = min(1.0, BATCH / len(problem.y))
    U, test = problem.unit_inputs(problem.X), problem.unit_inputs(X_test)
    data, link = (U, problem.y, test), load_torch().sigmoid
    output = _train_and_run(problem, CLASSES, rate, 0.0, data, rng, link)
    return Prediction(np.asarray(expit(output)))


def _identity(output: Any) -> Any:
    return output


def _train_and_run(
    problem: Problem,
    recipe: Recipe,
    rate: float,
    spent: float,
    data: tuple[Array, Array, Array],
    rng: np.random.Generator,
    link: Callable[[Any], Any] = _identity,
) -> Array:
    """Train on inputs and targets with what ``spent`` leaves of the budget; run on test inputs."""
    torch, generator = load_torch(), seeded(rng)
    X, y, test = (torch.tensor(part, dtype=torch.float32) for part in data)
    z = noise_multiplier(
        problem.epsilon, problem.delta, recipe.steps, rate, problem.neighbours, spent
    )
    with one_thread():
        layers = train(recipe, X, y, rate, z, generator, link)
    return np.asarray(activations(layers, test)[-1].double().numpy())


def train(
    recipe: Recipe,
    X: Any,
    y: Any,
    rate: float,
    z: float,
    generator: Any,
    link: Callable[[Any], Any] = _identity,
) -> list[Any]:
    """Return the mean of the weights over the second half of the steps."""
    torch, steps, clip = load_torch(), recipe.steps, recipe.clip
    layers = initial_layers((X.shape[1], *recipe.hidden, 1), generator)
    means = [torch.zeros_like(layer) for layer in layers]
    moments = [torch.zeros(2, *layer.shape) for layer in layers]
    expected = rate * len(y)
    for step in range(1, steps + 1):
        rows = poisson_batches(len(y), rate, (), generator)
        rows = rows[rows < len(y)]
        sums = clipped_gradients(layers, X[rows], y[rows], clip, link)
        length = learning_rate(z / expected) * (1.0 - (step - 1) / steps)
        for layer, total, moment in zip(layers, sums, moments, strict=True):
            noise = z * clip * torch.randn(layer.shape, generator=generator)
            layer -= length * adam_step((total + noise) / expected, moment, step, recipe.decay)
        if step > steps // 2:
            for mean, layer in zip(means, layers, strict=True):
                mean += (layer - mean) / (step - steps // 2)
    return means


def learning_rate(noise_to_batch: float) -> float:
    """Return the first learning rate from z/(qn)."""
    return min(0.03, 0.004 / sqrt(max(noise_to_batch, 1e-9)))


def initial_layers(widths: Sequence[int], generator: Any) -> list[Any]:
    """Return random weights with a last column of biases; the last layer starts at zero."""
    torch = load_torch()
    layers = []
    for a, b in pairwise(widths):
        layer = torch.randn(b, a + 1, generator=generator) / sqrt(a)
        layer[:, -1] = 0.0
        layers.append(layer)
    layers[-1].zero_()
    return layers


def activations(layers: Sequence[Any], X: Any) -> list[Any]:
    """Return (x, 1), every hidden layer's (a, 1), and the output."""
    torch = load_torch()
    found = [_with_one(X)]
    for layer in layers[:-1]:
        found.append(_with_one(torch.tanh(found[-1] @ layer.T)))
    return [*found, (found[-1] @ layers[-1].T)[:, 0]]


def clipped_gradients(
    layers: Sequence[Any], X: Any, y: Any, clip: float, link: Callable[[Any], Any] = _identity
) -> list[Any]:
    """Return the sums over rows of clipped gradients: link(output) − y, passed backwards.

    Half the squared error has the identity for its link, logistic loss the sigmoid.
    """
    *inputs, output = activations(layers, X)
    deltas = [(link(output) - y)[:, None]]
    for layer, a in zip(layers[:0:-1], inputs[:0:-1], strict=True):
        deltas.append((deltas[-1] @ layer[:, :-1]) * (1.0 - a[:, :-1] ** 2))
    pairs = list(zip(deltas[::-1], inputs, strict=True))
    squares = sum((delta**2).sum(1) * (a**2).sum(1) for delta, a in pairs)
    weights = clip_weights(squares, clip)[:, None]
    return [(weights * delta).T @ a for delta, a in pairs]


def _with_one(a: Any) -> Any:
    return load_torch().nn.functional.pad(a, (0, 1), value=1.0)
