"""Options that several commands share: the words, their help, and where they go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgp.decimal_mark import DecimalMark
from dpgp.missing import Missing
from dpgp.privacy.neighbours import Neighbours

ModelFile = Annotated[Path, typer.Argument(help="A model that dpgp fit wrote.", show_default=False)]
StudyFile = Annotated[
    Path | None,
    typer.Option(
        "--study",
        metavar="FILE",
        help="YAML file that says what the options below say, and can be kept and cited.",
        show_default=False,
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="NAME:LOW:HIGH",
        help="What to predict, with its public bounds; repeat for several.",
        show_default=False,
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="NAME:NO,YES",
        help="Instead of --target: a column of two public labels, the one that counts as yes last.",
        show_default=False,
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        metavar="NAME:LOW:HIGH",
        help="What to predict from, with its public bounds; repeat for several.",
        show_default=False,
    ),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="NAME:LEVEL,LEVEL",
        help="A column of levels to predict from, with all its public levels; repeat for several.",
        show_default=False,
    ),
]
Epsilon = Annotated[float | None, typer.Option(help="ε of the guarantee.", show_default=False)]
Delta = Annotated[
    float | None, typer.Option(help="δ of the guarantee; far below 1/rows.", show_default=False)
]
Relation = Annotated[
    Neighbours | None,
    typer.Option(
        help="How data sets that must look alike may differ; replace by default.",
        show_default=False,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says whose a row is.", show_default=False),
]
MostRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows-per-unit", min=1, help="How many rows of one unit count; 1 by default."
    ),
]
Incomplete = Annotated[
    Missing | None,
    typer.Option(
        help="Incomplete rows: stop (error, by default), or let them contribute nothing (ignore).",
        show_default=False,
    ),
]
Counts = Annotated[
    bool | None,
    typer.Option(
        "--counts/--no-counts",
        help="Targets are counts 0, 1, 2, …: quantiles and intervals are whole numbers.",
        show_default=False,
    ),
]
Decimals = Annotated[
    DecimalMark | None,
    typer.Option(
        help="Mark before the decimals in CSV files; a point by default.", show_default=False
    ),
]
LedgerPath = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="Budget for these people that the fit spends from: dpgp ledger.",
        show_default=False,
    ),
]
Partition = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which of the ledger's disjoint groups the table is about; everybody by default.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
