"""``dpgp report``: a model as one HTML page, to read, to print and to publish beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgp.cli.arguments import ModelFile
from dpgp.cli.failures import check_output, failures_in_words
from dpgp.cli.output import Screen, print_files
from dpgp.cli.progress import working
from dpgp.cli.show import load_model


def report(
    model: ModelFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="HTML file to write; the model's name with .html by default.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page; names the columns by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
) -> None:
    """Write a report of a model: one HTML file that works offline. Spends nothing.

    Holds the guarantee in plain words, plots of the fitted function that
    answer to sliders, how well it is known, the certificate, and how to use
    the model.

    Example:

    dpgp report girls.json -o girls.html --title "Height of girls"
    """
    path = model.with_suffix(".html") if output is None else output
    with failures_in_words():
        check_output(path, str(model), force=force)
        fitted = load_model(model)
        with working("Writing the report"):
            from dpgp.report.html import report_html

            page = report_html(fitted, title, model.name)
        path.write_text(page, encoding="utf-8", newline="\n")
    print_files(Screen(), [path])
