"""A study as a Python script that does the same: plans, asks, fits, saves."""

from __future__ import annotations

from pathlib import PurePath
from pprint import pformat
from typing import Any

from dpgp.cli.request import Request
from dpgp.decimal_mark import DecimalMark
from dpgp.studio.asked import MODEL_FILE, AskedStudy

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
    gp = dpgp.{estimator}(**OUTCOME, **QUESTION, {counts}**options)
    return gp.fit(DATA, target=TARGET, units=UNIT{decimal})


if __name__ == "__main__":
    if (FOLDER / "{model}").exists():
        raise SystemExit("{model} exists; move it away, then run this again. Nothing was spent.")
    print(plan())
    if input("Spend this budget? [y/N] ").strip().lower() == "y":
        gp = fit({ledger})
        gp.save(FOLDER / "{model}")
        print(gp.certificate_)
'''


def script_of(asked: AskedStudy) -> str:
    """Return the script of a study."""
    request = asked.request
    return TEMPLATE.format(
        title=_in_docstring(asked.title),
        data=repr(str(asked.study.data)),
        target=_literal(_target(request)),
        unit=repr(request.unit),
        question=_literal(_question(request)),
        rows=asked.rows,
        outcome=_literal(_outcome(request)),
        estimator="PrivateGPRegressor" if request.classes is None else "PrivateGPClassifier",
        counts="counts=True, " if request.counts else "",
        decimal=_decimal(request),
        ledger=_ledger(asked),
        model=MODEL_FILE,
    )


def _target(request: Request) -> str | list[str]:
    """Return the column that is predicted, or a list of several."""
    names = [column.name for column in request.predicted]
    return names[0] if len(names) == 1 else names


def _decimal(request: Request) -> str:
    return "" if request.decimal is DecimalMark.POINT else f", decimal={str(request.decimal)!r}"


def _outcome(request: Request) -> dict[str, Any]:
    """Return what is public of the targets, for `dpgp.plan` and the estimator."""
    if request.classes is not None:
        return {"classes": list(request.classes.levels)}
    bounds = [column.bounds for column in request.targets]
    return {"target_bounds": bounds[0] if len(bounds) == 1 else bounds}


def _question(request: Request) -> dict[str, Any]:
    """Return what `dpgp.plan` and the estimator are both told."""
    return {
        "bounds": {column.name: column.bounds for column in request.features},
        "categories": {column.name: list(column.levels) for column in request.categories},
        "epsilon": request.epsilon,
        "delta": request.delta,
        "neighbours": request.neighbours.value,
        "max_rows_per_unit": request.max_rows_per_unit,
        "missing": request.missing.value,
    }


def _ledger(asked: AskedStudy) -> str:
    study = asked.study
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
