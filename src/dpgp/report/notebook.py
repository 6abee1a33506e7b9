"""What a notebook shows of a fitted model and of a plan: cards, text and a curve.

Released values and public choices only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from dpgp.effects.reliability import told_reliability
from dpgp.markup import BAD, GOOD, bullets, calls, card, pairs, paragraph, table
from dpgp.model.fitted import COLUMN_HEADINGS
from dpgp.report.guarantee import guarantee_in_words
from dpgp.report.health import LOOKS_WRONG
from dpgp.report.style import BLUE, INK, VERMILION, shown_panels, shown_style

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.planning.plan import Curve, Plan


NEXT = (".plot()", ".importance()", '.save("model.json")')
NUMBERS_NEXT = (".predict(X, return_std=True)", ".predict_interval(X)")
CLASSES_NEXT = (".predict_proba(X)", ".predict_proba_interval(X)")
PLAN_NEXT = (".plot()", ".epsilon_for(error=…)", ".curve(epsilons=[…])")


def model_html(model: FittedModel, name: str = "FittedModel") -> str:
    """Return a card of a fitted model: the guarantee, the columns, what was learned, what next.

    ``name`` is that of the class whose card it is.
    """
    certificate = model.certificate
    promise = f"({certificate.epsilon:g}, {certificate.delta:g})-differential privacy"
    parts = [
        paragraph(guarantee_in_words(certificate)),
        table(COLUMN_HEADINGS, model.column_rows()),
        pairs(_facts(model)),
        *([paragraph(LOOKS_WRONG), bullets(model.health)] if model.health else []),
        calls("Next:", _next_calls(model, name)),
    ]
    title = promise if certificate.is_private else "NOT PRIVATE"
    colour = GOOD if certificate.is_private else BAD
    return card(f"{name}, fitted: {title}", parts, colour)


def _next_calls(model: FittedModel, name: str) -> tuple[str, ...]:
    certificate = () if name == "FittedModel" else (".certificate_",)
    return (*(CLASSES_NEXT if model.outcome.labels else NUMBERS_NEXT), *NEXT, *certificate)


def _facts(model: FittedModel) -> list[tuple[str, str]]:
    warped = "inputs warped by private histograms" if model.inputs.warp else "inputs not warped"
    features = model.posteriors[0].features.dimension
    facts = [("features", f"{features}, {warped}"), ("stages", f"{len(model.stages[0])}")]
    for k, name in enumerate(model.target_names):
        share = model.explained(target=k)
        facts.append((f"explained of {name}", f"about {share} of the variance (R²)"))
    told = told_reliability(model)
    if told is not None:
        facts.append(("AUC", f"about {told.auc_in_words}"))
    for k, name in enumerate([] if model.outcome.law_is_known else model.target_names):
        # how far observations scatter, with the range of equally likely draws that differ
        low, median, high = model.noise_quantiles(k)
        within = f", between {low:.3g} and {high:.3g} with 90 % probability" if low < high else ""
        facts.append((f"noise of {name}", f"sd {median:.3g}{within}"))
    return facts


def plan_html(plan: Plan) -> str:
    """Return a card of a plan: what to expect of a fit, and why it is designed so."""
    parts = [pairs(plan_rows(plan)), bullets(plan.why), calls("Next:", PLAN_NEXT)]
    return card("Plan, made without data", parts)


def plan_rows(plan: Plan) -> list[tuple[str, str]]:
    """Return what the forecast says, name by name."""
    from dpgp.planning.forecast import BEYOND_THEM

    forecast, design = plan.forecast, plan.design
    return [
        ("rows", f"{plan.n:,}"),
        ("guarantee", f"epsilon = {plan.epsilon:g}, delta = {plan.delta:g}"),
        (
            f"expected error of the {plan.question.options.outcome.estimated}",
            f"{forecast.rmse:.3g}",
        ),
        ("eight functions in ten", f"{forecast.low:.3g} to {forecast.high:.3g}; {BEYOND_THEM}"),
        ("share of the target's range", f"{forecast.relative:.2%}"),
        ("width of a 95 % interval", f"{forecast.interval_width:.3g}"),
        ("features", f"{design.n_features} ({', '.join(design.features)})"),
        ("stages", ", ".join(f"{share:.1%}" for share in design.stages)),
    ]


def plan_text(plan: Plan) -> str:
    """Return the plan as plain text."""
    rows = plan_rows(plan)
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {value}" for name, value in rows]
    return "\n".join(["Plan, made without data", *lines, "Why", *(f"- {w}" for w in plan.why)])


BAND = "band: eight plausible functions in ten"


def draw_curve(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw forecast error against ε on logarithmic axes, and what remains without noise."""
    from dpgp.planning.plan import EPSILONS

    curve = plan.curve(epsilons=sorted({*EPSILONS, plan.epsilon}))
    with shown_style():
        axes = shown_panels(1, 1, (6.4, 4.0))[0][0] if ax is None else ax
        _draw(axes, curve, plan)
    return axes


def _error_in_words(plan: Plan) -> str:
    outcome = plan.question.options.outcome
    return f"error of the {outcome.estimated}, {outcome.scale_of_errors}"


def _draw(axes: Axes, curve: Curve, plan: Plan) -> None:
    epsilons = curve.values
    axes.fill_between(epsilons, curve.low, curve.high, color=BLUE, alpha=0.15, lw=0)
    axes.plot(epsilons, curve.rmse, color=BLUE, label=f"expected error; {BAND}")
    axes.plot(epsilons, curve.floor, color=INK, ls="--", lw=1.2, label="without privacy")
    axes.plot(plan.epsilon, plan.forecast.rmse, "o", color=VERMILION, label="this plan", zorder=3)
    axes.set(xscale="log", yscale="log", xlabel="ε", ylabel=_error_in_words(plan))
    ticks = [value for value in (0.1, 0.3, 1.0, 3.0, 10.0) if epsilons[0] <= value <= epsilons[-1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()
    levels = _levels(float(curve.low.min()), float(curve.high.max()))
    axes.set_yticks(levels, [f"{level:g}" for level in levels])
    axes.yaxis.minorticks_off()
    axes.set_title(f"What ε buys with {plan.n:,} rows")
    axes.legend()


def _levels(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, … within a range."""
    decades = np.arange(np.floor(np.log10(low)) - 1, np.ceil(np.log10(high)) + 1)
    levels = np.outer(10.0**decades, [1.0, 2.0, 5.0]).ravel()
    return [float(level) for level in levels if low * 0.8 <= level <= high * 1.25]
