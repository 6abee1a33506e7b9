"""``dpgp plan``: what a budget will buy, before any of it is spent and without any data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from dpgp.cli.arguments import Json, told_a_study
from dpgp.cli.consent import print_weak_points
from dpgp.cli.output import (
    Screen,
    TextTable,
    failures_in_words,
    print_json,
    print_pairs,
    print_table,
    shown,
)
from dpgp.progress import working
from dpgp.study.study import Study

if TYPE_CHECKING:
    from dpgp.planning.plan import Curve, Plan

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)  # lines of the printed table


@told_a_study("plan")
def plan(
    study: Study,
    noise_std: float | None,
    r2: float | None,
    prevalence: float | None,
    mean_weight: float | None,
    error: float | None,
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
        from dpgp.planning.plan import plan_of

        asked = study.with_usual_budget()
        told = {"noise_std": noise_std, "r2": r2, "prevalence": prevalence}
        planned = plan_of(asked.options, asked.needed("n"), **told, mean_weight=mean_weight)
        needed = None if error is None else planned.epsilon_for(error)
        curve = planned.curve(epsilons=sorted({*EPSILONS, planned.epsilon}))
    if json:
        print_json(plan_values(planned) | _curve_values(curve) | {"epsilon_for_error": needed})
        return
    console = Screen()
    print_weak_points(console, asked, planned.n)
    print_plan(console, planned)
    _print_why(console, planned)
    _print_curve(console, curve)
    if needed is not None:
        console.print(f"An error of {error:g} is expected from ε = {needed:.2g} on.")


def plan_values(planned: Plan) -> dict[str, Any]:
    """Return a plan in plain values."""
    design = planned.design
    return {
        "rows": planned.n,
        "epsilon": planned.epsilon,
        "delta": planned.delta,
        "forecast": asdict(planned.forecast),
        "features": design.n_features,
        "stages": [float(share) for share in design.stages],
        "why": list(planned.why),
    }


def print_plan(console: Console, planned: Plan) -> None:
    """Print the forecast."""
    from dpgp.planning.forecast import BEYOND_THEM

    expected, design, outcome = planned.forecast, planned.design, planned.question.options.outcome
    title = f"What {planned.n:,} rows and ε = {planned.epsilon:g} will buy, forecast without data"
    console.print(title, style="bold", highlight=False, soft_wrap=True)
    names = planned.question.options.target_box.column_names("target")
    others = zip(names[1:], planned.forecasts[1:], strict=False)  # classes of one are alike
    pairs = [
        [
            f"expected error of the {outcome.estimated}",
            f"{expected.rmse:.3g}, {outcome.scale_of_errors}",
        ],
        *([f"  of {name}", f"{each.rmse:.3g}"] for name, each in others),
        ["eight functions in ten", f"{expected.low:.3g} to {expected.high:.3g}; {BEYOND_THEM}"],
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
