"""DP-BBB: Bayes by Backprop with private gradients (Blundell et al. 2015; Zhang et al. 2021).

As HM21 §5.4: weights with independent Gaussian posteriors, D → 200 → 1 units (two layers of
weights, ReLU between), learning rate 1e-2, 200 epochs of 40 batches, 100 draws of the weights to
predict. Inputs and targets are scaled to [−1, 1] by their public bounds.

Only the likelihood sees rows: the gradient of every row's log likelihood, under the one draw of
weights that a batch shares, is clipped and noised; that of the Kullback–Leibler term is added
after. What the paper leaves open was set on simulated data: plain stochastic gradient descent, a
clipping norm that falls with the noise, and a public observation noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.types import Array
from dpgp_experiments.baselines.interface import Mixture, Prediction, Problem
from dpgp_experiments.baselines.mean_field import MeanField
from dpgp_experiments.baselines.private_gradients import (
    adam_step,
    load_torch,
    noise_multiplier,
    one_thread,
    poisson_batches,
    seeded,
)


@dataclass(frozen=True)
class Settings:
    """What the paper fixes, and below it what it leaves open."""

    hidden: int = 200
    learning_rate: float = 1e-2
    epochs: int = 200
    batches: int = 40
    samples: int = 100

    clip: float | None = None  # None: by `clip_norm`
    noise_std: float = 0.1  # of an observation, in units of half the target's interval
    learn_noise: bool = False
    adam: bool = False
    initial_scale: float = 0.5  # of the means of weights, in prior standard deviations
    initial_std: float = 0.05  # of the weights, in prior standard deviations


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Train one network and predict with draws of its weights."""
    return fit_predict_all([problem], X_test, rng)[0]


def fit_predict_all(
    problems: Sequence[Problem],
    X_test: Array,
    rng: np.random.Generator,
    settings: Settings = Settings(),  # noqa: B008
) -> list[Prediction]:
    """Train a network for every problem, side by side; they have as many rows and one box."""
    torch, generator = load_torch(), seeded(rng)
    X = torch.tensor(np.stack([p.unit_inputs(p.X) for p in problems]), dtype=torch.float32)
    y = torch.tensor(np.stack([p.unit_targets for p in problems]), dtype=torch.float32)
    network = MeanField(X.shape[2], settings.hidden)
    z = [multiplier(problem, settings) for problem in problems]
    test = torch.tensor(problems[0].unit_inputs(X_test), dtype=torch.float32)
    with one_thread():
        theta = train(network, X, y, z, settings, generator)
        outputs = draw_outputs(network, theta, test, settings.samples, generator)
    stds = theta[:, -1].exp().double().numpy()
    return [_prediction(*part) for part in zip(problems, outputs, stds, strict=True)]


def multiplier(problem: Problem, settings: Settings) -> float:
    """Return the noise of a step in units of the clipping norm."""
    return noise_multiplier(
        problem.epsilon,
        problem.delta,
        settings.epochs * settings.batches,
        1.0 / settings.batches,
        problem.neighbours,
    )


def clip_norm(noise_to_batch: float) -> float:
    """Return a clipping norm from z/(qn), the noise of a mean gradient in units of that norm.

    With the learning rate fixed it sets the length of a step: shorter where there is more noise.
    The factor 0.15 was the best on simulated data.
    """
    return min(1.0, 0.15 / math.sqrt(max(noise_to_batch, 1e-9)))


def train(
    network: MeanField, X: Any, y: Any, z: Sequence[float], settings: Settings, generator: Any
) -> Any:
    """Return θ of every network after all steps."""
    torch, rate, rows = load_torch(), 1.0 / settings.batches, X.shape[1]
    expected = rate * rows
    clip = torch.tensor([settings.clip or clip_norm(each / expected) for each in z])[:, None]
    noise_std = clip * torch.tensor(z)[:, None]
    theta = initial_parameters(network, len(z), settings, generator)
    moments = torch.zeros(2, *theta.shape)
    data = padded_rows(network, X, y)
    for epoch in range(settings.epochs):
        batches = draw_batches(data, rows, rate, settings.batches, generator)
        for number, batch in enumerate(batches, start=1 + epoch * settings.batches):
            draws = torch.randn(len(z), network.weights, generator=generator)
            total = network.clipped_gradients(
                theta, batch[:, :-1], batch[:, -1], draws, clip, settings.learn_noise
            )
            total += noise_std * torch.randn(total.shape, generator=generator)
            gradient = network.prior_gradient(theta) / rows - total / expected
            if settings.adam:
                gradient = adam_step(gradient, moments, number)
            if not settings.learn_noise:
                gradient[:, -1] = 0.0
            theta -= settings.learning_rate * gradient
    return theta


def initial_parameters(network: MeanField, count: int, settings: Settings, generator: Any) -> Any:
    """Return random means and small deviations of the weights, and log σ."""
    torch, prior = load_torch(), network.prior_std
    draws = torch.randn(count, network.weights, generator=generator)
    rho = torch.log(torch.expm1(settings.initial_std * prior)).expand(count, -1)
    log_std = torch.full((count, 1), math.log(settings.noise_std))
    return torch.cat([settings.initial_scale * prior * draws, rho, log_std], dim=1)


def padded_rows(network: MeanField, X: Any, y: Any) -> Any:
    """Return features and targets, one a line, and one more row of zeros that is no row."""
    torch = load_torch()
    return torch.nn.functional.pad(torch.cat([network.features(X), y[:, None]], dim=1), (0, 1))


def draw_batches(data: Any, rows: int, rate: float, count: int, generator: Any) -> Sequence[Any]:
    """Return Poisson samples of every network's rows, padded to one width."""
    networks, lines, _ = data.shape
    chosen = poisson_batches(rows, rate, (networks, count), generator)
    index = chosen.reshape(networks, 1, -1).expand(-1, lines, -1)
    batches: Sequence[Any] = data.gather(2, index).reshape(networks, lines, count, -1).unbind(2)
    return batches


def draw_outputs(network: MeanField, theta: Any, X: Any, samples: int, generator: Any) -> Array:
    """Return outputs at ``X`` for draws of the weights: network × draw × row."""
    torch, (mu, rho, _) = load_torch(), network.parts(theta)
    std = torch.nn.functional.softplus(rho)
    x = torch.nn.functional.pad(X, (0, 1), value=1.0).T.expand(len(theta), -1, -1)
    outputs = [
        network.output(mu + std * torch.randn(mu.shape, generator=generator), x)
        for _ in range(samples)
    ]
    return np.asarray(torch.stack(outputs, dim=1).double().numpy())


def _prediction(problem: Problem, outputs: Array, std: float) -> Prediction:
    values = problem.centre + problem.half_width * outputs
    stds = np.full(values.shape, problem.half_width * std)
    return Prediction(values.mean(axis=0), Mixture(values, stds))
