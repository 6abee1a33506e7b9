"""A study as a Python script that does the same: plans, asks, fits, saves."""

from __future__ import annotations

from pathlib import PurePath
from pprint import pformat
from typing import Any

from dpgp.study.study import Study
from dpgp.study.table import (
    CLASSIFIER,
    ESTIMATORS,
    EVERYWHERE,
    FIT,
    PLAN,
    REGRESSOR,
    options_by_key,
)

TEMPLATE = '''\
"""{title}

Does in Python what the study file beside it does: dpgp fit --study study.yaml
Running it spends the privacy budget below once more; budgets of the same people add up.
"""

from pathlib import Path

import dpgp

FOLDER = Path(__file__).parent
DATA = FOLDER / {data}
TARGET = {target}
UNIT = {unit}

OUTCOME = {outcome}
QUESTION = {question}


def plan():
    """Forecast the fit without data; spends nothing."""
    return dpgp.plan(n={rows}, units=UNIT is not None, **OUTCOME, **QUESTION)


def fit(**options):
    """Fit the model; spends the budget.

    The file is opened by dpgp, which reads every row by itself: other readers let one person's
    quotation mark swallow the rows of others, which no guarantee would cover.
    """
    gp = dpgp.{estimator}(**OUTCOME, **QUESTION, {estimators}**options)
    return gp.fit(DATA, target=TARGET, units=UNIT{fits})


if __name__ == "__main__":
    if (FOLDER / "{model}").exists():
        raise SystemExit("{model} exists; move it away, then run this again. Nothing was spent.")
    print(plan())
    if input("Spend this budget? [y/N] ").strip().lower() == "y":
        gp = fit({ledger})
        gp.save(FOLDER / "{model}")
        print(gp.certificate_)
'''


def script_of(study: Study, title: str, model: str) -> str:
    """Return the script of a study that saves its model under a name."""
    names = [column.name for column in study.predicted]
    estimator = REGRESSOR if study.classes is None else CLASSIFIER
    return TEMPLATE.format(
        title=_in_docstring(title),
        data=repr(str(study.data)),
        target=_literal(names[0] if len(names) == 1 else names),
        unit=repr(study.unit),
        question=_literal(_arguments(study, EVERYWHERE, said_alone=False)),
        rows=study.needed("n"),
        outcome=_literal(_arguments(study, (estimator, PLAN))),
        estimator=estimator,
        estimators="".join(f"{each}, " for each in _of_estimator(study, estimator)),
        fits="".join(f", {each}" for each in (*_weights(study), *_spelled(study, (FIT,)))),
        ledger=_ledger(study),
        model=model,
    )


def _arguments(
    study: Study, functions: tuple[str, ...], *, said_alone: bool = True
) -> dict[str, Any]:
    """Return what exactly these functions are told, as Python says it."""
    told = {
        option.name: option.value.in_python(study.said.get(key, option.default or ()))
        for key, option in options_by_key().items()
        if option.python == functions and (key in study.said or not said_alone)
    }
    return {name: value for name, value in told.items() if value is not None}


def _spelled(study: Study, functions: tuple[str, ...]) -> list[str]:
    """Return what these functions are told that is not their default, as it is typed."""
    defaults = {option.name: option.default for option in options_by_key().values()}
    told = _arguments(study, functions)
    return [f"{name}={value!r}" for name, value in told.items() if value != defaults[name]]


def _of_estimator(study: Study, estimator: str) -> list[str]:
    """Return what a fit depends on and its plan does not; the ledger is for :func:`_ledger`."""
    return [*_spelled(study, (estimator,)), *_spelled(study.but(ledger=None), ESTIMATORS)]


def _weights(study: Study) -> list[str]:
    return [] if study.weight is None else [f"sample_weight={study.weight.name!r}"]


def _ledger(study: Study) -> str:
    if study.ledger is None:
        return ""
    ledger = f"dpgp.Ledger({str(PurePath(study.ledger))!r})"
    group = "" if study.partition is None else f".partition({study.partition!r})"
    return f"ledger={ledger}{group}"


def _literal(value: Any) -> str:
    return pformat(value, width=96, sort_dicts=False)


def _in_docstring(text: str) -> str:
    """Return text that cannot end the docstring it stands in."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
