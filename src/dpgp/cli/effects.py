"""``dpgp effects``: what the inputs of a model do to its target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from dpgp.cli.arguments import Force, Json, ModelFile
from dpgp.cli.output import (
    Screen,
    TextTable,
    check_output,
    failures_in_words,
    print_files,
    print_json,
    print_table,
    shown,
)
from dpgp.cli.show import load_model
from dpgp.progress import working
from dpgp.study.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpgp.effects.records import AnswerTable, Importance
    from dpgp.model.fitted import FittedModel

FIGURES = (".png", ".svg", ".pdf")


def effects(
    model: ModelFile,
    along: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Input whose partial dependence is printed; repeat for several.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which target, of several.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Figure to write (.png, .svg or .pdf): the model along its most important inputs.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Show what the inputs of a model do to its target. Spends nothing.

    Importance of every input, which inputs act together, and how the target
    depends on single inputs, averaged over all others; all with 95 % intervals.

    Examples:

    dpgp effects girls.json

    dpgp effects girls.json --along age --along weight

    dpgp effects girls.json -o girls.png
    """
    with failures_in_words():
        if output is not None:
            if output.suffix.lower() not in FIGURES:
                raise UsageError(
                    f"a figure ends in {', '.join(FIGURES)}; name such a file with -o."
                )
            check_output(output, str(model), force=force)
        fitted = load_model(model)
        k = _target(fitted, target)
        with working("Computing effects"):
            answers = _answers(fitted, k, along or [])
            if output is not None:
                _write_figure(fitted, k, output)
    if json:
        plain = {name: answer.to_dict() for name, answer in answers.items()}
        constant = cast("Importance", answers["importance"]).may_be_constant
        print_json({"target": fitted.target_names[k], "may_be_constant": constant, **plain})
        return
    for answer in answers.values():
        headings, cells = answer.text_table()
        if not cells:
            console = Screen()
            console.print(shown(answer.title), style="bold", highlight=False)
            console.print(f"{shown(answer.note)}\n", highlight=False)
            continue
        rows = [[shown(cell) for cell in row] for row in cells]
        names = [shown(heading) for heading in headings]
        print_table(Screen(), TextTable(shown(answer.title), names, rows, answer.note))
    if output is not None:
        print_files(Screen(), [output])


def _target(model: FittedModel, name: str | None) -> int:
    joint = model.outcome.is_joint
    names = list(map(str, model.outcome.labels)) if joint else model.target_names
    if name is None and len(names) == 1:
        return 0
    if name not in names:
        what = "classes" if joint else "targets"
        raise UsageError(f"--target must be one of the model's {what}: {', '.join(names)}.")
    return names.index(name)


def _answers(model: FittedModel, k: int, along: list[str]) -> dict[str, AnswerTable]:
    from dpgp.effects.importance import Sensitivity

    sensitivity = Sensitivity.of(model, k)
    answers: dict[str, AnswerTable] = {"importance": sensitivity.importance()}
    if model.options.columns > 1:
        answers["interactions"] = sensitivity.interactions()
    for name in along:
        answers[f"along {name}"] = model.partial_dependence(name, target=k)
    return answers


def _write_figure(model: FittedModel, k: int, output: Path) -> None:
    """Draw off the screen, whatever shows figures elsewhere."""
    import matplotlib

    from dpgp.report.style import save_figure

    matplotlib.use("Agg")
    axes = model.plot(target=k)
    figure = (axes[0] if isinstance(axes, list) else axes).figure
    save_figure(cast("Figure", figure), output, (output.suffix[1:],))
