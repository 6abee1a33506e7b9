"""The methods of the comparison: their names, where they live, and what they need."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import NamedTuple

from dpgp.cli.output import DataError
from dpgp_experiments.baselines.interface import Method

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)  # half decades, strong privacy to hardly any
WITHOUT_PRIVACY = (inf,)


class Contestant(NamedTuple):
    """A method, imported when it is first used, and the values of ε at which it runs."""

    name: str
    module: str
    function: str = "fit_predict"
    epsilons: Sequence[float] = EPSILONS
    package: str = "numpy"

    def load(self) -> Method:
        """Import the method."""
        module = import_module(f"dpgp_experiments.baselines.{self.module}")
        method: Method = getattr(module, self.function)
        return method


OURS = Contestant("ours", "gaussian_process", "fit_private", (*EPSILONS, inf))
HM21 = Contestant("HM21", "hm21")
DP_BBB = Contestant("DP-BBB", "bayes_by_backprop", package="torch")
DP_SGD = Contestant("DP-SGD network", "network", package="torch")
DP_SGD_STANDARDISED = Contestant(
    "DP-SGD standardised", "network", "fit_standardised", package="torch"
)
DP_EBM = Contestant("DP-EBM", "boosting", "fit_private", package="interpret")
LINEAR = Contestant("AdaSSP linear", "adassp", "fit_linear")
QUADRATIC = Contestant("AdaSSP quadratic", "adassp", "fit_quadratic")
MEAN = Contestant("private mean", "mean")
GP = Contestant("non-private GP", "gaussian_process", "fit_non_private", WITHOUT_PRIVACY)
BOOSTING = Contestant("non-private boosting", "boosting", "fit_non_private", WITHOUT_PRIVACY)

CONTESTANTS = (OURS, HM21, DP_BBB, DP_SGD, DP_EBM, LINEAR, QUADRATIC, MEAN, GP, BOOSTING)


def check_packages(contestants: Sequence[Contestant]) -> None:
    """Refuse to start where a package is missing, before anything has run."""
    missing = sorted({c.package for c in contestants if find_spec(c.package) is None})
    if missing:
        raise DataError(
            f"methods of the comparison need the package {' and '.join(missing)}; "
            'run: pip install "./experiments[baselines]" in a checkout.'
        )
