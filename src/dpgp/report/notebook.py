"""What a notebook shows of a fitted model and of a plan: released values and public choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgp.html_cards import BAD, GOOD, bullets, calls, card, pairs, sentence, table
from dpgp.model.fitted import COLUMN_HEADINGS
from dpgp.report.guarantee import guarantee_in_words
from dpgp.report.health import LOOKS_WRONG
from dpgp.report.plan_report import plan_rows

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.planning.plan import Plan


def model_html(model: FittedModel, name: str = "FittedModel") -> str:
    """Return a card of a fitted model: the guarantee, the columns, what was learned, what next.

    ``name`` is that of the class whose card it is.
    """
    certificate = model.certificate
    promise = f"({certificate.epsilon:g}, {certificate.delta:g})-differential privacy"
    parts = [
        sentence(guarantee_in_words(certificate)),
        table(COLUMN_HEADINGS, model.column_rows()),
        pairs(_facts(model)),
        *_health(model),
        calls("Next:", NEXT if name == "FittedModel" else (*NEXT, ".certificate_")),
    ]
    title = promise if certificate.is_private else "NOT PRIVATE"
    colour = GOOD if certificate.is_private else BAD
    return card(f"{name}, fitted: {title}", parts, colour)


NEXT = (
    ".plot()",
    ".importance()",
    ".predict(X, return_std=True)",
    ".predict_interval(X)",
    '.save("model.json")',
)


def _health(model: FittedModel) -> list[str]:
    """Return what looks wrong, as a list under a heading; nothing where all is well."""
    found = model.health
    return [sentence(LOOKS_WRONG), bullets(found)] if found else []


def _facts(model: FittedModel) -> list[tuple[str, str]]:
    warped = "inputs warped by private histograms" if model.inputs.warp else "inputs not warped"
    features = model.posteriors[0].features.dimension
    names = [] if model.outcome.law_is_known else model.target_names
    return [
        ("features", f"{features}, {warped}"),
        ("stages", f"{len(model.stages[0])}"),
        *((f"noise of {name}", _noise(model, k)) for k, name in enumerate(names)),
    ]


def _noise(model: FittedModel, target: int) -> str:
    """Say how far observations scatter, with the range of the equally likely draws."""
    low, median, high = model.noise_quantiles(target)
    return f"sd {median:.3g}, between {low:.3g} and {high:.3g} with 90 % probability"


def plan_html(plan: Plan) -> str:
    """Return a card of a plan: what to expect of a fit, and why it is designed so."""
    parts = [pairs(plan_rows(plan)), bullets(plan.why), calls("Next:", PLAN_NEXT)]
    return card("Plan, made without data", parts)


PLAN_NEXT = (".plot()", ".epsilon_for(error=…)", ".curve(epsilons=[…])")
