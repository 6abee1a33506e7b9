"""A one-page report of a fitted model in Markdown: released values and public choices only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpgp.privacy.certificate import Certificate, Selection
from dpgp.privacy.ledger import GaussianRelease
from dpgp.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from dpgp.regressor import PrivateGPRegressor


def guarantee_in_words(certificate: Certificate) -> str:
    """Say in plain words what (ε, δ)-differential privacy promises."""
    if not certificate.is_private:
        return "This model is a simulation and NOT private: its noise can be repeated or is absent."
    change = {
        Neighbours.REPLACE: "Replace the data of any one person by any other",
        Neighbours.ADD_REMOVE: "Add or remove the data of any one person",
    }[certificate.neighbours]
    return (
        f"{change}: the probability of anything that could be concluded from this model, by "
        "anybody with whatever other knowledge, changes by a factor of at most "
        f"{math.exp(certificate.epsilon):.3g}, plus {certificate.delta:g}."
    )


def report_markdown(model: PrivateGPRegressor, title: str, target: str, figure: str) -> str:
    """Return the report of a fitted model whose figure and file lie beside it."""
    certificate = model.certificate_
    parts = [
        f"# {title}",
        "## The guarantee",
        f"**({certificate.epsilon:g}, {certificate.delta:g})-differential privacy**, neighbours: "
        f"{certificate.neighbours.value} {certificate.unit}. {guarantee_in_words(certificate)}",
        f"![The fitted model]({figure})",
        "## What was released",
        _releases(certificate),
        "## What was public beforehand",
        _bounds(model, target),
        "## What was learned from the releases",
        _learned(model, target),
        "## How to use the model",
        USE,
    ]
    return "\n\n".join(parts) + "\n"


USE = """```python
import dpgp

model = dpgp.load("model.json")
mean, std = model.predict(new_people, return_std=True)
lower, upper = model.predict_interval(new_people, coverage=0.95)
```

The files in this folder hold released values and public choices only: no row of the data, and no
number computed from rows without noise."""


def _releases(certificate: Certificate) -> str:
    head = "| release | numbers | sensitivity | noise sd | μ |\n|---|---|---|---|---|\n"
    table = head + "\n".join(_release_row(release) for release in certificate.releases)
    if certificate.mu is None:
        return table
    return f"{table}\n\nTogether μ = {certificate.mu:.4g} (Gaussian differential privacy)."


def _release_row(release: GaussianRelease | Selection) -> str:
    if not isinstance(release, GaussianRelease):
        return f"| {release} | – | – | – | – |"
    cells = (release.sensitivity, release.noise_std, release.mu)
    numbers = " | ".join(f"{cell:.4g}" for cell in cells)
    return f"| {release.label} | {release.coordinates} | {numbers} |"


def _bounds(model: PrivateGPRegressor, target: str) -> str:
    box, target_box = model.inputs_.box, model.target_box_
    names = [*(box.names or [f"input {n + 1}" for n in range(len(box.low))]), target]
    lows, highs = [*box.low, *target_box.low], [*box.high, *target_box.high]
    rows = "\n".join(
        f"| {name} | {low:g} | {high:g} |"
        for name, low, high in zip(names, lows, highs, strict=True)
    )
    return (
        f"| column | from | to |\n|---|---|---|\n{rows}\n\n"
        "Inputs beyond their bounds are moved to the nearest one. Rows with missing values "
        "contribute nothing."
    )


def _learned(model: PrivateGPRegressor, target: str) -> str:
    """Say what the hyperparameters are, with the range of their equally likely draws."""
    posteriors = model.posterior_
    posterior = posteriors[0] if isinstance(posteriors, tuple) else posteriors
    noise = model.target_box_.half_width[0] * np.exp(posterior.thetas[:, -1])
    low, median, high = np.quantile(noise, [0.05, 0.5, 0.95])
    warped = "warped by private histograms" if model.inputs_.warp else "not warped"
    return (
        f"- {posterior.features.dimension} features, inputs {warped}\n"
        f"- kernel `{posterior.kernel}` before learning, on columns scaled to [−1, 1]\n"
        f"- noise of an observation in {target}: sd {median:.3g}, between {low:.3g} and "
        f"{high:.3g} with 90 % probability\n"
        f"- intervals for observations are {model.calibration_[0].factor(0.95):.2f} standard "
        "deviations wide to each side for 95 % coverage"
    )
