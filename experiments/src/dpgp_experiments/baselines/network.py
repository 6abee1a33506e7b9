r"""DP-SGD on a small tanh network (Abadi et al. 2016), D → 32 → 32 → 1 units, squared error.

The same settings for every task: 300 steps of Adam on batches of 1,000 rows (all rows where there
are fewer), gradients clipped to 0.1, the mean of the weights over the second half of the steps.
Only the learning rate depends on the task, through the noise that n, ε and δ imply: 0.004 over the
root of z/(qn), the noise of a mean gradient in units of the clipping norm, at most 0.03, falling
linearly to zero. They were found on simulated data. Inputs and targets are scaled to [−1, 1] by
their public bounds. A network gives predictions without a distribution.

The gradient of a row at a layer is δaᵀ, so its squared norm is ‖δ‖²‖a‖² and no gradient of a single
row is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Array = NDArray[np.float64]

# found on simulated data, the same for every task
HIDDEN = (32, 32)
STEPS = 300
BATCH = 1000
CLIP = 0.1
DECAY = 0.99  # of squared gradients in Adam


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Train the network and predict."""
    torch, generator = load_torch(), seeded(rng)
    X = torch.tensor(problem.unit_inputs(problem.X), dtype=torch.float32)
    y = torch.tensor(problem.unit_targets, dtype=torch.float32)
    rate = min(1.0, BATCH / len(y))
    z = noise_multiplier(problem.epsilon, problem.delta, STEPS, rate, problem.neighbours)
    with one_thread():
        layers = train(X, y, rate, z, generator)
    test = torch.tensor(problem.unit_inputs(X_test), dtype=torch.float32)
    output = activations(layers, test)[-1].double().numpy()
    return Prediction(problem.centre + problem.half_width * output)


def train(X: Any, y: Any, rate: float, z: float, generator: Any) -> list[Any]:
    """Return the mean of the weights over the second half of the steps."""
    torch = load_torch()
    layers = initial_layers(X.shape[1], generator)
    means = [torch.zeros_like(layer) for layer in layers]
    moments = [torch.zeros(2, *layer.shape) for layer in layers]
    expected = rate * len(y)
    for step in range(1, STEPS + 1):
        rows = poisson_batches(len(y), rate, (), generator)
        rows = rows[rows < len(y)]
        sums = clipped_gradients(layers, X[rows], y[rows], CLIP)
        length = learning_rate(z / expected) * (1.0 - (step - 1) / STEPS)
        for layer, total, moment in zip(layers, sums, moments, strict=True):
            noise = z * CLIP * torch.randn(layer.shape, generator=generator)
            layer -= length * adam_step((total + noise) / expected, moment, step, DECAY)
        if step > STEPS // 2:
            for mean, layer in zip(means, layers, strict=True):
                mean += (layer - mean) / (step - STEPS // 2)
    return means


def learning_rate(noise_to_batch: float) -> float:
    """Return the first learning rate from z/(qn)."""
    return min(0.03, 0.004 / math.sqrt(max(noise_to_batch, 1e-9)))


def initial_layers(inputs: int, generator: Any) -> list[Any]:
    """Return random weights with a last column of biases; the last layer starts at zero."""
    torch = load_torch()
    widths = [inputs, *HIDDEN, 1]
    layers = []
    for a, b in pairwise(widths):
        layer = torch.randn(b, a + 1, generator=generator) / math.sqrt(a)
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


def clipped_gradients(layers: Sequence[Any], X: Any, y: Any, clip: float) -> list[Any]:
    """Return the sums over rows of the clipped gradients of half the squared error."""
    *inputs, output = activations(layers, X)
    deltas = [(output - y)[:, None]]
    for layer, a in zip(layers[:0:-1], inputs[:0:-1], strict=True):
        deltas.append((deltas[-1] @ layer[:, :-1]) * (1.0 - a[:, :-1] ** 2))
    pairs = list(zip(deltas[::-1], inputs, strict=True))
    squares = sum((delta**2).sum(1) * (a**2).sum(1) for delta, a in pairs)
    weights = clip_weights(squares, clip)[:, None]
    return [(weights * delta).T @ a for delta, a in pairs]


def _with_one(a: Any) -> Any:
    return load_torch().nn.functional.pad(a, (0, 1), value=1.0)
