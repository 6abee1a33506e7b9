"""The scikit-learn classifier: probabilities of classes under differential privacy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from dpgp.domain import Bounds, Box
from dpgp.estimator import PrivateGP
from dpgp.ledger.ledger import Ledger
from dpgp.model.predictions import ClassMethods
from dpgp.outcomes.labels import class_box, class_numbers, named_classes
from dpgp.privacy.arguments import DELTA, EPSILON
from dpgp.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpgp.categories import Level
    from dpgp.missing_codes import Code, Codes
    from dpgp.sites import Site


class PrivateGPClassifier(ClassMethods, ClassifierMixin, PrivateGP):  # type: ignore[misc]
    r"""Probabilities of public classes under :math:`(\epsilon, \delta)`-differential privacy.

    The machinery of :class:`~dpgp.PrivateGPRegressor` on a target that is 0 or 1, whose noise is
    known to be :math:`p(1-p)`: nothing is clipped, and nothing is spent on scale or calibration but
    for counts of labels by their predictions (:meth:`reliability`). Of more than two classes each
    has such a target, and a row, which is in one, moves them together.
    docs/how-to/yes-no.md, docs/how-to/classes.md.

    Parameters
    ----------
    classes
        All public labels, ``("no", "yes")`` or more: texts, whole numbers, or False and True.
        Required, and never read from the data. A row with another label contributes nothing.
    ordered
        Whether more than two classes have an order, in which they are named: poor, fair, good. They
        are predicted by one function and thresholds then. That of two says nothing.
    epsilon, delta, bounds, categories, kernel, inducing_points, features, stages, passes
        As those of :class:`~dpgp.PrivateGPRegressor`.
    neighbours, max_rows_per_unit, rows_of_unit, warp, missing, missing_codes, random_state
        Likewise.
    weight_bound, n_jobs, ledger, engine, site
        Likewise.

    Attributes
    ----------
    classes_
        All labels, in the order in which they were named.
    model_, posterior_, release_, input_density_, certificate_, health_, spent_
        As those of :class:`~dpgp.PrivateGPRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> dose = np.random.default_rng(0).uniform(0, 10, (2000, 1))
    >>> ill = np.where(dose[:, 0] > 5, "yes", "no")
    >>> gp = PrivateGPClassifier(
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ...     bounds=(0, 10),
    ...     classes=("no", "yes"),
    ...     random_state=0,  # simulates: leave it out to publish
    ... )
    >>> gp.fit(dose, ill).predict([[1.0], [9.0]]).tolist()
    ['no', 'yes']
    >>> gp.predict_proba([[9.0]]).shape
    (1, 2)
    """

    def __init__(
        self,
        epsilon: float = EPSILON,
        delta: float = DELTA,
        *,
        bounds: Bounds = None,
        classes: Sequence[Level] | None = None,
        ordered: bool = False,
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
        missing: str = "error",
        missing_codes: Mapping[Any, Sequence[Code]] | None = None,
        weight_bound: float | None = None,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        engine: str | None = None,
        site: Site | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.ordered = ordered
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
        self.missing = missing
        self.missing_codes = missing_codes
        self.weight_bound = weight_bound
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.engine = engine
        self.site = site

    def plot(
        self, ax: Axes | Sequence[Axes] | None = None, *, target: int | str | None = None
    ) -> Axes | list[Axes]:
        """Draw the probability, as :meth:`dpgp.model.fitted.FittedModel.plot`.

        Of more than two classes that of the ``target``, or of all beside each other.
        """
        return self._fitted().plot(ax, target=target)

    def _target_box(self, targets: int, names: Sequence[str] | None) -> Box:
        if targets > 1:
            raise ValueError("`target` must name one column of classes; fit every one by itself.")
        return class_box(named_classes(self.classes), names)

    def _read_targets(self, y: Any, rows: int, codes: Sequence[Codes]) -> Array:
        """Return numbers of classes; a code is no label, so that it is missing as it is."""
        return class_numbers(y, rows, named_classes(self.classes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # of labels that were named as a list: whatever else they are, `fit` refuses
        tags.classifier_tags.multi_class = len(self.classes or ()) > 2
        tags.classifier_tags.poor_score = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.non_deterministic = self.random_state is None
        return tags
