"""``dpgp pool``: one model from several releases about different people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgp.cli.arguments import Force, Json
from dpgp.cli.fit import report_model, save_model
from dpgp.cli.output import Screen, check_output, failures_in_words, shown
from dpgp.cli.show import load_model
from dpgp.progress import working


def pool(
    models: Annotated[list[Path], typer.Argument(help="Models that dpgp fit wrote, two or more.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model to write.")],
    different_curves: Annotated[
        bool,
        typer.Option(
            "--different-curves",
            help="Pool also where releases differ beyond noise, with a random effect between them.",
        ),
    ] = False,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            help="Ledger to look releases up in: what somebody in them has spent. It is not "
            "changed, and nothing of it is written.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Pool models of different people into one; it costs no budget.

    Reads what every release measured as one list. Columns, bounds, levels
    and outcome must be the same; ε, rows and versions may differ. Ends with
    exit code 1 and words where the releases are not about one function.

    Examples:

    dpgp pool north.json south.json -o both.json

    dpgp pool 2023.json 2024.json -o all.json --different-curves

    dpgp pool 2023.json 2024.json -o all.json --ledger people.ledger
    """
    from dpgp.ledger import Ledger
    from dpgp.pooling import pool as pooled

    with failures_in_words():
        check_output(output, *map(str, models), force=force)
        kept = None if ledger is None else Ledger(ledger)
        loaded = [load_model(path) for path in models]
        with working("Pooling"):
            model = pooled(
                loaded,
                different_curves=different_curves,
                names=[f"'{path.name}'" for path in models],
            )
        told = None if kept is None else kept.told_of(model.certificate)
        save_model(model, output, overwrite=force)
    if not json:
        Screen().print(shown(model.findings["pooled"]["agreement"]), soft_wrap=True)
        if told is not None:
            Screen().print(shown(told.words), soft_wrap=True, highlight=False)
    report_model(model, output, json, {} if told is None else {"ledger": told.to_dict()})
