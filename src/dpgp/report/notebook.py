"""What a notebook shows of a fitted model and of a plan: released values and public choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpgp.cards import BAD, GOOD, bullets, calls, card, pairs, sentence, table
from dpgp.report.guarantee import guarantee_in_words
from dpgp.report.health import LOOKS_WRONG
from dpgp.report.plan_report import plan_rows
from dpgp.report.released import column_names, posterior_of

if TYPE_CHECKING:
    from dpgp.planning import Plan
    from dpgp.regressor import PrivateGPRegressor


def model_html(model: PrivateGPRegressor) -> str:
    """Return a card of a fitted model: the guarantee, the columns, what was learned, what next."""
    certificate = model.certificate_
    promise = f"({certificate.epsilon:g}, {certificate.delta:g})-differential privacy"
    parts = [
        sentence(guarantee_in_words(certificate)),
        table(("column", "role", "from", "to"), _column_rows(model)),
        pairs(_facts(model)),
        *_health(model),
        calls("Next:", NEXT),
    ]
    title = promise if certificate.is_private else "NOT PRIVATE"
    colour = GOOD if certificate.is_private else BAD
    return card(f"{type(model).__name__}, fitted: {title}", parts, colour)


NEXT = (
    ".plot()",
    ".certificate_",
    ".predict(X, return_std=True)",
    ".predict_interval(X)",
    '.save("model.json")',
)


def _health(model: PrivateGPRegressor) -> list[str]:
    """Return what looks wrong, as a list under a heading; nothing where all is well."""
    found = model.health_
    return [sentence(LOOKS_WRONG), bullets(found)] if found else []


def _column_rows(model: PrivateGPRegressor) -> list[tuple[str, str, str, str]]:
    boxes = (("input", model.inputs_.box), ("target", model.target_box_))
    return [
        (name, kind, f"{low:g}", f"{high:g}")
        for kind, box in boxes
        for name, low, high in zip(column_names(box, kind), box.low, box.high, strict=True)
    ]


def _facts(model: PrivateGPRegressor) -> list[tuple[str, str]]:
    warped = "inputs warped by private histograms" if model.inputs_.warp else "inputs not warped"
    features = posterior_of(model, 0).features.dimension
    names = column_names(model.target_box_, "target")
    return [
        ("features", f"{features}, {warped}"),
        ("stages", f"{len(model.release_[0])}"),
        *((f"noise of {name}", _noise(model, k)) for k, name in enumerate(names)),
    ]


def _noise(model: PrivateGPRegressor, target: int) -> str:
    """Say how far observations scatter, with the range of the equally likely draws."""
    draws = model.target_box_.half_width[target] * np.exp(posterior_of(model, target).thetas[:, -1])
    low, median, high = np.quantile(draws, [0.05, 0.5, 0.95])
    return f"sd {median:.3g}, between {low:.3g} and {high:.3g} with 90 % probability"


def plan_html(plan: Plan) -> str:
    """Return a card of a plan: what to expect of a fit, and why it is designed so."""
    parts = [pairs(plan_rows(plan)), bullets(plan.why), calls("Next:", PLAN_NEXT)]
    return card("Plan, made without data", parts)


PLAN_NEXT = (".plot()", ".epsilon_for(error=…)", ".curve(epsilons=[…])")
