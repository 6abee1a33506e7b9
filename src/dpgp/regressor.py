"""The scikit-learn estimator: checks what it is given, fits privately, predicts from releases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from dpgp.coded_rows import coded_targets
from dpgp.domain import Bounds, Box
from dpgp.estimator import PrivateGP
from dpgp.ledger.ledger import Ledger
from dpgp.model.methods import PlotMethods
from dpgp.model.predictions import CentileMethods, NumberMethods, ObservationMethods
from dpgp.privacy.arguments import DELTA, EPSILON
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.categories import Level
    from dpgp.missing_codes import Code, Codes
    from dpgp.sites import Site


class PrivateGPRegressor(
    NumberMethods,
    ObservationMethods,
    CentileMethods,
    PlotMethods,
    RegressorMixin,  # type: ignore[misc]
    PrivateGP,
):
    r"""Gaussian-process regression under :math:`(\epsilon, \delta)`-differential privacy.

    Protects inputs and targets. A noisy Gram matrix of features is released in stages, each about
    what the stages before left unexplained; hyperparameters are learned from the releases at no
    further cost. docs/method.md.

    Parameters
    ----------
    epsilon, delta
        The guarantee. ``epsilon=float("inf")`` runs the same code without noise: not private.
    bounds
        Public bounds of the inputs: ``(low, high)`` for all, a list, or a mapping by column name.
        Required, and never read from the data. Values outside are clipped. Two dates make it a
        column of dates, counted in days since the lower one. docs/how-to/dates.md.
    categories
        Columns that hold one of a few public levels, with these levels: a mapping by column name,
        or by position from 0. They have no bounds. docs/how-to/categories.md.
    target_bounds
        Public bounds of the target, ``(low, high)``; a list of pairs for several targets. A target
        beyond them counts as far as the clipping of residuals lets it.
    kernel
        A scikit-learn kernel on inputs and targets scaled to [−1, 1] by their bounds, or a list of
        kernels to choose from by evidence. Its hyperparameters are learned unless fixed. By default
        a smooth function around a line.
    inducing_points
        Number of points an axis (a grid) or in all ("joint"), or the points themselves, inside the
        bounds.
    features
        Families of features: "grid", "linear", "additive", "joint", or a list of them; planned by
        default.
    stages
        Weights of the stages in the budget, or how many of equal weight.
    passes
        "few" lets early stages and calibration of many inputs ask parts of the rows, where rows are
        so many that nothing is lost; "all" lets every step ask all of them.
    neighbours
        "replace" or "add-remove": what it means for two data sets to differ in one unit.
    max_rows_per_unit
        How many rows of one unit (person) count, where ``units`` are given to :meth:`fit`.
    rows_of_unit
        Which of them count: "random", drawn anew for every fit, or "first", in the order of the
        table.
    warp, calibrate
        Whether to spend a share of the budget on private histograms of the inputs, and of scaled
        residuals for :meth:`predict_interval`.
    counts
        Whether targets are counts 0, 1, 2, …: quantiles, ends of intervals and draws of new
        observations are whole numbers then. docs/how-to/counts.md.
    missing
        "error", "ignore" to let incomplete rows contribute nothing, or "model": a row that lacks
        some inputs counts with what it has, averaged over what it may have by the private model of
        the inputs. docs/how-to/missing-values.md.
    missing_codes
        Codes that stand for missing values, as −99 or "refused": a mapping to lists of them, by the
        names of inputs and targets, or by positions that count inputs from 0 and then targets.
        docs/how-to/missing-values.md.
    weight_bound
        The public weight of a row that counts in full, where :meth:`fit` is given
        ``sample_weight``: a row of weight w adds ``w / weight_bound`` of itself, at most all, and
        estimates are of the weighted population. docs/how-to/weights.md.
    random_state
        A seed simulates: the result is not private, and says so.
    n_jobs
        Threads for the passes over the rows; all cores by default and with -1, all but one with -2.
    ledger
        A :class:`~dpgp.Ledger`, or the path of one, that this and all other fits of these people
        spend from. Every fit, also of a clone, reserves its price there before it draws any noise.
    site
        A :class:`~dpgp.sites.Site` that these rows are of: they are fitted together with those of
        the other sites, which nobody shows. docs/how-to/several-custodians.md.
    engine
        "dask" or "spark": who reads the files that are given to :meth:`fit` with ``target``; this
        machine by default. docs/how-to/clusters.md.

    Attributes
    ----------
    model_
        The :class:`~dpgp.model.fitted.FittedModel`: all that follows from the releases.
    posterior_
        Posterior of each target, from released values only.
    release_
        The stages' noisy sums, for each target.
    input_density_
        A private density of the inputs: on a grid up to two, of synthetic rows where the metric
        is learned, else None.
    certificate_
        What was released and what it guarantees.
    health_
        What looks wrong, in sentences; empty where nothing does.
    spent_
        Only after fits that failed: a certificate of what each had booked by then. The error says
        it too.

    Examples
    --------
    >>> import numpy as np
    >>> age = np.random.default_rng(0).uniform(2, 18, (2000, 1))
    >>> height = 80 + 5 * age[:, 0]
    >>> gp = PrivateGPRegressor(
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ...     bounds=(2, 18),
    ...     target_bounds=(70, 190),
    ...     random_state=0,  # simulates: leave it out to publish
    ... )
    >>> mean, std = gp.fit(age, height).predict([[10.0]], return_std=True)
    >>> bool(120 < mean[0] < 140)
    True
    >>> gp.certificate_.epsilon
    1.0
    """

    def __init__(
        self,
        epsilon: float = EPSILON,
        delta: float = DELTA,
        *,
        bounds: Bounds = None,
        target_bounds: Bounds = None,
        categories: Mapping[Any, Sequence[Level]] | None = None,
        kernel: Any = None,
        inducing_points: int | ArrayLike | None = None,
        features: str | Sequence[str] | None = None,
        stages: int | Sequence[float] | None = None,
        passes: str = "few",
        neighbours: str = "replace",
        max_rows_per_unit: int = 1,
        rows_of_unit: str = "random",
        warp: bool = True,
        calibrate: bool = True,
        counts: bool = False,
        missing: str = "error",
        missing_codes: Mapping[Any, Sequence[Code]] | None = None,
        weight_bound: float | None = None,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        site: Site | None = None,
        engine: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.categories = categories
        self.kernel = kernel
        self.inducing_points = inducing_points
        self.features = features
        self.stages = stages
        self.passes = passes
        self.neighbours = neighbours
        self.max_rows_per_unit = max_rows_per_unit
        self.rows_of_unit = rows_of_unit
        self.warp = warp
        self.calibrate = calibrate
        self.counts = counts
        self.missing = missing
        self.missing_codes = missing_codes
        self.weight_bound = weight_bound
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.engine = engine
        self.site = site

    def _target_box(self, targets: int, names: Sequence[str] | None) -> Box:
        return Box.from_bounds(self.target_bounds, targets, names, argument="target_bounds")

    def _read_targets(self, y: Any, rows: int, codes: Sequence[Codes]) -> Array:
        return coded_targets(y, rows, codes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.non_deterministic = self.random_state is None
        return tags
