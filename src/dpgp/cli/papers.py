"""``dpgp report``, ``statement``, ``registry``: papers about a model, for people who decide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgp.cli.arguments import Force, ModelFile
from dpgp.cli.output import Screen, check_output, failures_in_words, print_files
from dpgp.cli.show import load_model
from dpgp.progress import working

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to write; standard output by default."),
]


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
    force: Force = False,
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


def statement(
    model: ModelFile,
    output: Output = None,
    title: Annotated[str | None, typer.Option(help="What the model is about.")] = None,
    force: Force = False,
) -> None:
    """Write a privacy statement in plain language, for an ethics board.

    What is protected, against whom, what is assumed public, what is not
    covered.

    Example:

    dpgp statement girls.json -o statement.md
    """
    from dpgp.report.papers import statement as written

    with failures_in_words():
        _deliver(written(load_model(model), title), output, model, force)


def registry(
    model: ModelFile,
    name: Annotated[str, typer.Option(help="Name of the published model.", show_default=False)],
    curator: Annotated[str, typer.Option(help="Who publishes it.", show_default=False)],
    curator_type: Annotated[
        str, typer.Option(help="Government, Industry or Nonprofit.", show_default=False)
    ],
    intended_use: Annotated[str, typer.Option(help="What it is for.", show_default=False)],
    region: Annotated[str, typer.Option(help="Region of the data.", show_default=False)],
    author: Annotated[str, typer.Option(help="Who writes the entry.", show_default=False)],
    output: Output = None,
    force: Force = False,
) -> None:
    """Write an entry for the public registry of deployments of DP.

    In the form of opendp/deployments-registry-data; a draft to complete.

    Example:

    dpgp registry girls.json --name "Height of girls" --curator "Health survey" \\
        --curator-type Government --intended-use "Growth charts" --region Finland \\
        --author "A. Curator" -o entry.yaml
    """
    import yaml

    from dpgp.report.papers import FORM, registry_entry

    with failures_in_words():
        entry = registry_entry(
            load_model(model),
            name=name,
            curator=curator,
            curator_type=curator_type,
            intended_use=intended_use,
            region=region,
            author=author,
        )
        text = yaml.safe_dump(entry, sort_keys=False, allow_unicode=True)
        _deliver(f"# Form: {FORM}\n{text}", output, model, force)


def _deliver(text: str, output: Path | None, model: Path, force: bool) -> None:
    if output is None:
        Screen().print(text, soft_wrap=True, markup=False, highlight=False, end="")
        return
    check_output(output, str(model), force=force)
    output.write_text(text, encoding="utf-8")
    print_files(Screen(), [output])
