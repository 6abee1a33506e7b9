"""Algorithm 1 of HM21: Gaussian-process inference with known hyperparameters under (ε, δ)-DP."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpgp.blas import thread_count
from dpgp.domain import Box
from dpgp.kernels.base import takes_vectors
from dpgp.numeric import check_column_names, column_names, numeric_matrix
from dpgp.paper.coinpress import coinpress_mean
from dpgp.paper.model import PaperModel, as_inducing_points, resolve_norm_bound
from dpgp.paper.posterior import CovarianceTerms, SparsePosterior
from dpgp.privacy.arguments import as_choice, as_number, as_probability
from dpgp.privacy.books import Books, GaussianBooks
from dpgp.privacy.certificate import Certificate, spending_noted
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource, noise_source
from dpgp.private.rows import Rows, scaled_targets, structured_rows, vector_rows
from dpgp.private.wall import release_gram
from dpgp.types import Array

PRIOR_MEAN_SHARE = 0.1
"""Of μ², for a prior mean by CoinPress; HM21 §5.4 does not say, so by hand."""


def dp_gp_inference(
    X: Any,
    y: Any,
    inducing_points: Any,
    kernel: Any,
    *,
    noise_std: float,
    target_bound: float,
    epsilon: float,
    delta: float,
    ratio: float = 1.0,
    norm_bound: str | float = "certified",
    random_state: int | np.random.Generator | None = None,
    bounds: Any = None,
    neighbours: str = "replace",
    missing: str = "error",
    sensitivity: Literal["clamped", "printed"] = "clamped",
    covariance: CovarianceTerms = "complete",
    prior_mean: float | Literal["coinpress"] = 0.0,
    prior_mean_share: float = PRIOR_MEAN_SHARE,
    n_jobs: int | None = None,
) -> SparsePosterior:
    r"""Fit a sparse Gaussian process under :math:`(\epsilon, \delta)`-differential privacy.

    Releases :math:`A = \sum_i k_i y_i` and :math:`B = \sum_i k_i k_i^\top` once, with Gaussian
    noise, and computes the posterior at the inducing points from them (HM21 Algorithm 1).

    Parameters
    ----------
    X, y
        Rows and targets: an array or data frame of numbers, or a sequence of strings or graphs for
        a kernel on those. Targets are clipped to ``prior_mean`` ± ``target_bound``.
    inducing_points
        Public: an array, a :class:`~dpgp.point_sets.Grid`, or a sequence of objects.
    kernel
        A scikit-learn kernel with fixed hyperparameters, or an object that is called like one.
    noise_std
        Standard deviation σ of the observation noise, public.
    target_bound
        R_y, a public bound of the targets' distance from a public ``prior_mean``, 0 by default.
    ratio
        σ_a/σ_b, how the noise is split between A and B.
    norm_bound
        R_k: "trivial", "one-dimensional", "separated", "grid-centre" (HM21 eqs. 4, 7, 8, 9),
        "certified", or a number. Rows are clipped to it in any case.
    random_state
        A seed simulates: the result is not private and says so.
    bounds
        Public box of the inputs, ``(low, high)``, a list, or a mapping by name. Rows are clipped
        to it. Needed only for kernels that are unbounded or not decreasing.
    neighbours
        "replace" (the paper's) or "add-remove".
    missing
        "error", or "ignore" to let incomplete rows contribute nothing.
    sensitivity
        "clamped", or "printed" for HM21 eq. 6.
    covariance
        "complete", "printed" (HM21 eq. 17), or "naive", which leaves the noise of A and B out.
    prior_mean
        A public number, or "coinpress" for a private mean (HM21 §5.4), after which the targets
        are clipped once more.
    prior_mean_share
        Share of the budget μ² that "coinpress" pays.
    n_jobs
        Threads for the pass over the rows; all cores by default and with -1, all but one with -2.
    """
    relation, threads = as_choice("neighbours", Neighbours, neighbours), thread_count(n_jobs)
    names = column_names(X)
    check_column_names(names)
    box = public_box(X, bounds, kernel)
    Z = as_inducing_points(inducing_points, kernel, box)
    model = PaperModel(
        kernel=kernel,
        inducing_points=Z,
        noise_std=noise_std,
        target_bound=target_bound,
        norm_bound=resolve_norm_bound(kernel, Z, norm_bound, box),
        ratio=ratio,
        sensitivity=sensitivity,
        covariance=covariance,
    )
    mean_share = _mean_share(prior_mean, prior_mean_share, relation)
    books = Books(epsilon, delta, relation)
    mean = 0.0 if prior_mean == "coinpress" else float(prior_mean)
    rows = read_rows(X, y, model, mean, box, missing)
    source = noise_source(random_state)

    with spending_noted(lambda: Certificate.from_books(books, source).of_failure(books)):
        if prior_mean == "coinpress":
            shift = private_mean(rows.targets[0], books.share(mean_share), books, source)
            rows, mean = rows.with_targets(rows.targets - shift), target_bound * shift
        release = release_gram(
            rows,
            model.features(),
            model.noise(books.share(1.0 - mean_share), relation),
            label="kernel moments A and B",
            books=books,
            source=source,
            n_jobs=threads,
        )
    certificate = Certificate.from_books(books, source)
    return model.posterior(model.update(release), certificate, mean, names)


def public_box(X: Any, bounds: Any, kernel: Any) -> Box | None:
    """Return the public box of the inputs where ``bounds`` are given."""
    if bounds is None:
        return None
    if not takes_vectors(kernel):
        raise ValueError("`bounds` must be left out for kernels on strings or graphs.")
    return Box.from_bounds(bounds, numeric_matrix(X).shape[1], column_names(X))


def private_mean(targets: Array, mu: float, books: GaussianBooks, source: NoiseSource) -> float:
    """Return the mean of targets in [−1, 1] by CoinPress (HM21 §5.4), moved into [−1, 1]."""
    mean = coinpress_mean(
        targets, centre=0.0, radius=1.0, scale=1.0, mu=mu,
        books=books, source=source, label="prior mean",
    )  # fmt: skip
    return min(max(mean, -1.0), 1.0)


def _mean_share(prior_mean: float | str, share: float, relation: Neighbours) -> float:
    """Return the share of the budget that the prior mean takes."""
    if prior_mean != "coinpress":
        as_number("prior_mean", prior_mean)
        return 0.0
    if relation is not Neighbours.REPLACE:
        raise ValueError(
            'prior_mean="coinpress" needs neighbours="replace": it divides by the number of rows, '
            "which is private otherwise; give a public number instead."
        )
    return as_probability("prior_mean_share", share)


def read_rows(
    X: Any, y: Any, model: PaperModel, centre: float, box: Box | None, missing: str
) -> Rows:
    """Read rows, clip inputs to the box and targets to ``centre`` ± R_y, scale targets to ±1."""
    if takes_vectors(model.kernel):
        columns = model.inducing_points.shape[1]
        rows = vector_rows(X, y, columns, missing)
    else:
        rows = structured_rows(X, y, missing)
        check_elements(model, rows)
    inputs = rows.inputs if box is None else box.clip(rows.inputs)
    targets = np.clip(scaled_targets(rows.targets, centre, model.target_bound), -1.0, 1.0)
    return Rows(inputs, np.where(rows.usable, targets, 0.0), rows.usable)


def check_elements(model: PaperModel, rows: Rows) -> None:
    """Raise, before anything is released, where the kernel cannot take an element of ``X``."""
    try:
        model.kernel(model.inducing_points[:1], list(rows.inputs[rows.usable]))
        return
    except Exception:  # whatever it says may quote the data
        pass
    raise TypeError(
        "`X` must hold objects that the kernel takes, such as strings for a SpectrumKernel; "
        "convert the others, or put None for them where they are missing."
    )
