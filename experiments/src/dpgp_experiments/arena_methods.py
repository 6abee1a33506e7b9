"""The methods of the comparison: their names, where they live, and what they need."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import NamedTuple

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
BOOSTED_TREES = Contestant("boosted random trees", "boosted_trees")
AIM = Contestant("AIM, boosting", "aim", package="mbi")
LINEAR = Contestant("AdaSSP linear", "adassp", "fit_linear")
QUADRATIC = Contestant("AdaSSP quadratic", "adassp", "fit_quadratic")
BOOSTED_ADASSP = Contestant("boosted AdaSSP", "boosted_adassp")
MEAN = Contestant("private mean", "mean")
DP_EBM = Contestant("DP-EBM", "dp_ebm", package="interpret")
GP = Contestant("non-private GP", "gaussian_process", "fit_non_private", WITHOUT_PRIVACY)
BOOSTING = Contestant("non-private boosting", "boosting", epsilons=WITHOUT_PRIVACY)

CONTESTANTS = (
    OURS, HM21, DP_BBB, DP_SGD, DP_SGD_STANDARDISED, BOOSTED_TREES, AIM, LINEAR,
    BOOSTED_ADASSP, QUADRATIC, MEAN, GP, BOOSTING,
)  # fmt: skip


def installed(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Return the methods whose packages are there."""
    return [one for one in contestants if find_spec(one.package) is not None]


def left_out(contestants: Sequence[Contestant]) -> str:
    """Say which methods cannot run here, and how to get them; nothing where all can."""
    present = installed(contestants)
    absent = [f"{one.name} ({one.package})" for one in contestants if one not in present]
    if not absent:
        return ""
    return (
        f"Left out, for want of a package: {', '.join(absent)}; "
        'run: pip install "./experiments[baselines]" in a checkout.'
    )
