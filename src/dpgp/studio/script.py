"""A study as a Python script that does the same: plans, asks, fits, saves."""

from __future__ import annotations

from pathlib import PurePath
from pprint import pformat
from typing import Any

from dpgp.cli.request import Request
from dpgp.studio.asked import MODEL_FILE, AskedStudy

TEMPLATE = '''\
"""{title}

Does in Python what the study file beside it does: dpgp fit --study study.yaml
Running it spends the privacy budget below once more; budgets of the same people add up.
"""

from pathlib import Path

import pandas as pd

import dpgp

FOLDER = Path(__file__).parent
DATA = FOLDER / {data}
INPUTS = {inputs}
TARGETS = {targets}
UNIT = {unit}

OUTCOME = {outcome}
QUESTION = {question}


def plan():
    """Forecast the fit without data; spends nothing."""
    return dpgp.plan(n={rows}, units=UNIT is not None, **OUTCOME, **QUESTION)


def read():
    """Read the columns that the study names."""
    columns = list(dict.fromkeys([*INPUTS, *TARGETS, *([] if UNIT is None else [UNIT])]))
    {read}
    table.columns = table.columns.str.strip().str.normalize("NFC")
    return table[columns]


def fit(**options):
    """Fit the model; spends the budget."""
    table = read()
    gp = dpgp.{estimator}(**OUTCOME, **QUESTION, {counts}**options)
    y = table[TARGETS[0]] if len(TARGETS) == 1 else table[TARGETS]
    return gp.fit(table[INPUTS], y, units=None if UNIT is None else table[UNIT])


if __name__ == "__main__":
    if (FOLDER / "{model}").exists():
        raise SystemExit("{model} exists; move it away, then run this again. Nothing was spent.")
    print(plan())
    if input("Spend this budget? [y/N] ").strip().lower() == "y":
        gp = fit({ledger})
        gp.save(FOLDER / "{model}")
        print(gp.certificate_)
'''

READ_TEXT = """texts = dict.fromkeys({texts}, str)
    table = pd.read_csv(
        DATA,
        sep={delimiter!r},
        decimal={decimal!r},
        encoding="utf-8-sig",
        dtype=texts,
        na_values=["."],
    )"""
READ_PARQUET = "table = pd.read_parquet(DATA)"
READ_OTHERS = {
    ".xlsx": 'table = pd.read_excel(DATA, dtype=dict.fromkeys({texts}, str), na_values=["."])',
    ".dta": "table = pd.read_stata(DATA, convert_categoricals=False)",
    ".feather": "table = pd.read_feather(DATA)",
    ".arrow": "table = pd.read_feather(DATA)",
}


def script_of(asked: AskedStudy) -> str:
    """Return the script of a study."""
    request = asked.request
    return TEMPLATE.format(
        title=_in_docstring(asked.title),
        data=repr(str(asked.study.data)),
        inputs=_literal([*_names(request.features), *_names(request.categories)]),
        targets=_literal(_names(request.predicted)),
        unit=repr(request.unit),
        question=_literal(_question(request)),
        rows=asked.rows,
        outcome=_literal(_outcome(request)),
        estimator="PrivateGPRegressor" if request.classes is None else "PrivateGPClassifier",
        counts="counts=True, " if request.counts else "",
        read=_read(asked, request),
        ledger=_ledger(asked),
        model=MODEL_FILE,
    )


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


def _read(asked: AskedStudy, request: Request) -> str:
    delimiter = asked.table.header.delimiter
    unit = [] if request.unit is None else [request.unit]
    classes = [] if request.classes is None else [request.classes]
    texts = [*_names([*request.categories, *classes]), *unit]
    if delimiter is None:
        suffix = PurePath(asked.table.name).suffix.lower()
        return READ_OTHERS.get(suffix, READ_PARQUET).format(texts=texts)
    return READ_TEXT.format(texts=texts, delimiter=delimiter, decimal=str(request.decimal))


def _ledger(asked: AskedStudy) -> str:
    study = asked.study
    if study.ledger is None:
        return ""
    ledger = f"dpgp.Ledger({str(PurePath(study.ledger))!r})"
    group = "" if study.partition is None else f".partition({study.partition!r})"
    return f"ledger={ledger}{group}"


def _names(columns: Any) -> list[str]:
    return [column.name for column in columns]


def _literal(value: Any) -> str:
    return pformat(value, width=96, sort_dicts=False)


def _in_docstring(text: str) -> str:
    """Return text that cannot end the docstring it stands in."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
