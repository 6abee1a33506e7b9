"""A one-page report of a released model in Markdown. Released values and public choices only."""

from __future__ import annotations

import math

from dpgp.privacy.certificate import Certificate, Selection
from dpgp.privacy.ledger import GaussianRelease
from dpgp.privacy.neighbours import Neighbours
from dpgp.report.scaled_model import Column, ScaledModel


def guarantee_in_words(certificate: Certificate) -> str:
    """Say in plain words what (ε, δ)-differential privacy promises."""
    if not certificate.is_private:
        return "This model is a simulation and NOT private: its noise can be repeated or is absent."
    change = {
        Neighbours.REPLACE: "Replace the row of any one person by any other",
        Neighbours.ADD_REMOVE: "Add or remove the row of any one person",
    }[certificate.neighbours]
    return (
        f"{change}: the probability of anything that could be concluded from this model, by "
        "anybody with whatever other knowledge, changes by a factor of at most "
        f"{math.exp(certificate.epsilon):.3g}, plus {certificate.delta:g}."
    )


def report_markdown(model: ScaledModel, title: str, figure: str, note: str = "") -> str:
    """Return the report of a model whose figure lies beside it."""
    certificate = model.posterior.certificate
    parts = [
        f"# {title}",
        "## The guarantee",
        f"**({certificate.epsilon:g}, {certificate.delta:g})-differential privacy**, neighbours: "
        f"{certificate.neighbours.value} one row. {guarantee_in_words(certificate)}",
        f"![The fitted model]({figure})",
        "## What was released",
        _releases(certificate),
        "## How it was fitted",
        _method(model) + (f"\n\n{note}" if note else ""),
        "## What is in this folder",
        FOLDER,
    ]
    return "\n\n".join(parts) + "\n"


FOLDER = (
    "Only released values and public choices. `model.json` holds the inducing points, the "
    "posterior mean and covariance at them, the kernel, the bounds and the certificate. No file "
    "here holds a row of the data, or a number computed from rows without noise."
)


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


def _method(model: ScaledModel) -> str:
    posterior, target = model.posterior, model.target
    prior_mean = float(target.unscale(posterior.prior_mean))
    columns = "\n".join(_bounds(column) for column in (*model.inputs, target))
    return (
        "Sparse Gaussian-process regression with known hyperparameters, Algorithm 1 of Honkela & "
        "Melkas (2021), with the noise of the release in the posterior covariance. The bounds "
        "below are public; values outside them are moved to the nearest bound, and rows with "
        "missing values contribute nothing while they stay in the count.\n\n"
        f"| column | from | to | scale |\n|---|---|---|---|\n{columns}\n\n"
        f"- {len(posterior.inducing_points)} inducing points on a regular grid over the bounds\n"
        f"- kernel `{posterior.kernel}` on columns scaled to [−1, 1]\n"
        f"- noise of an observation: sd {model.noise_std:.3g} {target.unit}\n"
        f"- prior mean: {prior_mean:.4g} {target.unit}"
    )


def _bounds(column: Column) -> str:
    return f"| {column.label} | {column.low:g} | {column.high:g} | {column.transform} |"
