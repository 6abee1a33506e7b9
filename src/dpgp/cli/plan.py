"""``dpgp plan``: what a budget will buy, before any of it is spent and without any data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dpgp.cli.arguments import (
    Categories,
    Classes,
    Delta,
    Epsilon,
    Features,
    Incomplete,
    Json,
    MostRows,
    Relation,
    StudyFile,
    Targets,
    Unit,
)
from dpgp.cli.columns import read_classes, read_columns, read_level_columns
from dpgp.cli.consent import print_pairs, print_weak_points
from dpgp.cli.failures import failures_in_words
from dpgp.cli.output import Screen, TextTable, print_table, shown
from dpgp.cli.progress import working
from dpgp.cli.request import Request, request_of, unsaid
from dpgp.cli.show import print_json
from dpgp.cli.study import Study, with_study_file
from dpgp.privacy.arguments import DELTA, EPSILON

if TYPE_CHECKING:
    from dpgp.planning.plan import Curve, Plan

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)  # lines of the printed table


def plan(
    study: StudyFile = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1, help="Number of rows, or a public guess.", show_default=False),
    ] = None,
    target: Targets = None,
    classes: Classes = None,
    feature: Features = None,
    category: Categories = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    neighbours: Relation = None,
    unit: Unit = None,
    max_rows_per_unit: MostRows = None,
    missing: Incomplete = None,
    noise: Annotated[
        float | None,
        typer.Option(help="Noise (sd) of an observation, if it is known.", show_default=False),
    ] = None,
    r2: Annotated[
        float | None,
        typer.Option(help="Share of the variance that inputs explain.", show_default=False),
    ] = None,
    prevalence: Annotated[
        float | None,
        typer.Option(help="Share of the second of two --classes.", show_default=False),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            help="Also find the smallest ε expected to reach this error, in units of the target.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Forecast what a fit will know. Sees no data and spends nothing.

    Needs --rows and columns with bounds, or a study file that names them.
    Without a budget it plans for ε = 1 and δ = 1e-6. What is known of the outcome, from
    elsewhere and never from these rows, makes it sharper: --noise, --r2 or --prevalence.

    Examples:

    dpgp plan --rows 5000 --target height_cm:70:190 --feature age:2:18

    dpgp plan --study growth.yaml --rows 5000 --error 5

    dpgp plan --rows 5000 --classes ill:no,yes --feature age:18:80 --prevalence 0.1
    """
    with failures_in_words(), working("Planning"):
        options = Study(
            targets=read_columns("--target", target),
            classes=read_classes(classes),
            features=read_columns("--feature", feature),
            categories=read_level_columns(category),
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            missing=missing,
            rows=rows,
        )
        said = with_study_file(options, study)
        request = request_of(with_usual_budget(said))
        planned = forecast(request, _checked_rows(said), Told(noise, r2, prevalence))
        needed = None if error is None else planned.epsilon_for(error)
        curve = planned.curve(epsilons=sorted({*EPSILONS, request.epsilon}))
    if json:
        print_json(plan_values(planned) | _curve_values(curve) | {"epsilon_for_error": needed})
        return
    console = Screen()
    print_weak_points(console, request, planned.n)
    print_plan(console, planned)
    _print_why(console, planned)
    _print_curve(console, curve)
    if needed is not None:
        console.print(f"An error of {error:g} is expected from ε = {needed:.2g} on.")


@dataclass(frozen=True)
class Told:
    """What a forecast is told of the outcome."""

    noise_std: float | None = None
    r2: float | None = None
    prevalence: float | None = None


def with_usual_budget(said: Study) -> Study:
    """Return a study with a budget: a plan may be made before one is chosen."""
    return replace(
        said,
        epsilon=EPSILON if said.epsilon is None else said.epsilon,
        delta=DELTA if said.delta is None else said.delta,
    )


def _checked_rows(said: Study) -> int:
    if said.rows is None:
        raise unsaid("no number of rows, nor a guess of it,", "--rows 5000", "rows")
    return said.rows


def forecast(request: Request, rows: int, outlook: Told | None = None) -> Plan:
    """Plan the fit of a request, with what is known of the outcome."""
    from dpgp.planning.plan import plan_of

    told = asdict(outlook) if outlook is not None else {}
    return plan_of(request.options, rows, **told)


def plan_values(planned: Plan) -> dict[str, Any]:
    """Return a plan in plain values."""
    expected, design = planned.forecast, planned.design
    return {
        "rows": planned.n,
        "epsilon": planned.epsilon,
        "delta": planned.delta,
        "forecast": {
            "rmse": expected.rmse,
            "low": expected.low,
            "high": expected.high,
            "interval_width": expected.interval_width,
            "relative": expected.relative,
        },
        "features": design.n_features,
        "stages": [float(share) for share in design.stages],
        "why": list(planned.why),
    }


def print_plan(console: Console, planned: Plan) -> None:
    """Print the forecast."""
    expected, design = planned.forecast, planned.design
    title = f"What {planned.n:,} rows and ε = {planned.epsilon:g} will buy, forecast without data"
    console.print(title, style="bold", highlight=False, soft_wrap=True)
    names = planned.question.options.target_box.column_names("target")
    others = zip(names[1:], planned.forecasts[1:], strict=True)
    pairs = [
        ["expected error of the mean", f"{expected.rmse:.3g}, in units of the target"],
        *([f"  of {name}", f"{each.rmse:.3g}"] for name, each in others),
        ["eight functions in ten", f"{expected.low:.3g} to {expected.high:.3g}"],
        ["share of the target's range", f"{100 * expected.relative:.2g} %"],
        ["width of a 95 % interval", f"{expected.interval_width:.3g}"],
        ["features", f"{design.n_features} ({', '.join(design.features)})"],
    ]
    print_pairs(console, pairs)


def _print_why(console: Console, planned: Plan) -> None:
    console.print("Why", style="bold")
    grid = Table.grid(padding=(0, 1))
    for reason in planned.why:
        grid.add_row("  [dim]–[/]", shown(reason))
    console.print(grid)


def _curve_values(curve: Curve) -> dict[str, Any]:
    return {
        "curve": {
            "epsilon": curve.values.tolist(),
            "rmse": curve.rmse.tolist(),
            "low": curve.low.tolist(),
            "high": curve.high.tolist(),
            "without_privacy": curve.floor.tolist(),
        }
    }


def _print_curve(console: Console, curve: Curve) -> None:
    lines = [
        [f"{epsilon:g}", f"{rmse:.3g}", f"{low:.3g} to {high:.3g}"]
        for epsilon, rmse, low, high in zip(
            curve.values, curve.rmse, curve.low, curve.high, strict=True
        )
    ]
    headings = ("ε", "expected error", "eight functions in ten")
    floor = f"Without privacy {curve.floor[0]:.3g} would remain."
    print_table(console, TextTable("What another ε would buy", headings, lines, floor))
