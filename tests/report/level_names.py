"""Levels as real tables have them, and small seeded models of them, each fitted once."""

from functools import lru_cache

import numpy as np
import pandas as pd

from dpgp import PrivateGPClassifier, PrivateGPRegressor
from dpgp.model.fitted import FittedModel

RACE = [
    "Non-Hispanic White",
    "Non-Hispanic Black",
    "Mexican American",
    "Other Hispanic",
    "Other or multi-racial",
]
EDUCATION = [
    "Less than 9th grade",
    "9th to 11th grade",
    "High school graduate or GED",
    "Some college or associate degree",
    "College graduate or above",
]
SIXTY = "Some college, an associate degree or a certificate of trade"
SIXTY += "s" * (60 - len(SIXTY))

LEVELS = {
    "real": RACE,
    "short": ["F", "M"],
    "twelve": [f"Region number {k} of the survey" for k in range(12)],
    "one of sixty letters": [*EDUCATION[:3], SIXTY],
    "twelve, one of sixty": [*(f"{k}. Quartier der Stadt" for k in range(11)), SIXTY],
    "alike but at the end": [
        f"{'A clinic of the same long name in the city of ' * 2}{k}" for k in "abcdefghijkl"
    ],
    "one word": ["Donaudampfschifffahrtsgesellschaft" * 2, "$\\frac{", "b"],
}
LONG_NAME = "what people said about the education of the head of their household"


@lru_cache
def fitted(name: str, numbers: int, categories: int, yes_no: bool = False) -> FittedModel:
    """Return a model of so many numbers and categories, the first with the levels of a family."""
    generator, n = np.random.default_rng(0), 300
    frame = pd.DataFrame({f"number {k}": generator.uniform(0, 10, n) for k in range(numbers)})
    kinds = dict([(LONG_NAME, LEVELS[name]), ("education", EDUCATION)][:categories])
    for column, levels in kinds.items():
        frame[column] = generator.choice(levels, n)
    bounds = dict.fromkeys(frame.columns[:numbers], (0, 10)) or None
    options = {"bounds": bounds, "categories": kinds, "stages": 1, "random_state": 0}
    target = pd.Series(
        generator.uniform(0, 1, n), name="systolic blood pressure of the third visit"
    )
    if not yes_no:
        return (
            PrivateGPRegressor(3.0, 1e-5, target_bounds=(0, 1), **options).fit(frame, target).model_
        )
    said = pd.Series(np.where(target > 0.6, "yes", "no"), name="hypertension")
    return PrivateGPClassifier(3.0, 1e-5, classes=("no", "yes"), **options).fit(frame, said).model_
