"""Random studies: awkward names, bounds, categories and promises; and a table to fit."""

import numpy as np
from hypothesis import strategies as st

from dpgp.choices import DecimalMark, Missing, RowsOfUnit
from dpgp.plain_text import is_name
from dpgp.privacy.neighbours import Neighbours
from dpgp.private.tables import clean_name
from dpgp.study.columns import CodeColumn, Column, LevelColumn, WeightColumn
from dpgp.study.study import Study

AWKWARD = (
    "no",
    "2020 x",
    "a: b",
    "Größe, cm",
    "{age}",
    "it's",
    'say "hi"',
    "#x",
    "- y",
    "back\\slash",
)
PLAIN = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=8)
NAMES = (
    (st.sampled_from(AWKWARD) | PLAIN).map(clean_name).filter(lambda name: name and is_name(name))
)
ENDS = st.floats(-1e6, 1e6, allow_subnormal=False)
COUNTS = st.integers(1, 10**6)


@st.composite
def studies(draw, most_targets=2, rows=COUNTS):
    """Return a study with at least one input and one target."""
    names = draw(st.lists(NAMES, min_size=3, max_size=7, unique=True))
    unit, target, *inputs = names
    cut = draw(st.integers(0, len(inputs)))
    several = most_targets > 1 and len(inputs[cut:]) > 1 and draw(st.booleans())
    targets = [target, inputs.pop()] if several else [target]
    per_person = draw(st.booleans())
    return Study(
        title=draw(st.none() | NAMES),
        **draw(outcomes(targets)),
        features=tuple(draw(columns(name)) for name in inputs[:cut]) or None,
        categories=tuple(draw(level_columns(name)) for name in inputs[cut:]) or None,
        epsilon=draw(st.floats(0.05, 20.0)),
        delta=draw(st.floats(1e-9, 1e-3)),
        neighbours=draw(st.none() | st.sampled_from(Neighbours)),
        unit=unit if per_person else None,
        max_rows_per_unit=draw(st.none() | st.integers(1, 9)) if per_person else None,
        rows_of_unit=draw(st.none() | st.sampled_from(RowsOfUnit)) if per_person else None,
        missing=draw(st.none() | st.sampled_from(Missing)),
        missing_codes=draw(codes(inputs[:cut])),
        weight=draw(st.none() | st.builds(WeightColumn, NAMES, st.floats(1e-3, 1e6))),
        decimal=draw(st.none() | st.sampled_from(DecimalMark)),
        rows=draw(rows),
    )


@st.composite
def codes(draw, names):
    """Return codes of some columns of numbers; None where there are none."""
    texts = NAMES | st.sampled_from(["-99", "9.5", "no"])
    coded = [name for name in names if draw(st.booleans())]
    listed = [draw(st.lists(texts, min_size=1, max_size=3)) for _ in coded]
    return tuple(CodeColumn(*each) for each in zip(coded, map(tuple, listed), strict=True)) or None


@st.composite
def outcomes(draw, names):
    """Return numbers, counts, or two classes where there is one name."""
    kind = draw(st.sampled_from(["numbers", "counts", "classes"]))
    if kind == "classes" and len(names) == 1:
        (name,) = names
        levels = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
        return {"classes": LevelColumn(name, tuple(levels))}
    if kind == "counts":
        ends = [(low, low + draw(COUNTS)) for low in (draw(st.integers(0, 5)) for _ in names)]
        return {"targets": tuple(map(Column, names, *zip(*ends, strict=True))), "counts": True}
    return {"targets": tuple(draw(columns(name)) for name in names)}


@st.composite
def columns(draw, name):
    low = draw(ENDS)
    return Column(name, low, low + draw(st.floats(0.5, 1e3)))


@st.composite
def level_columns(draw, name):
    levels = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    return LevelColumn(name, tuple(levels))


def girls(rows=300):
    """A table of made-up people."""
    rng = np.random.default_rng(0)
    age = rng.uniform(2, 18, rows)
    height = 80 + 5 * age + 4 * rng.standard_normal(rows)
    lines = [
        f"{a:.2f},{h:.1f},{'FM'[k % 2]},p{k // 2}"
        for k, (a, h) in enumerate(zip(age, height, strict=True))
    ]
    return "\n".join(["age,height_cm,sex,person", *lines]) + "\n"
