"""``dpgp show``: a model and its certificate, to read or for machines; nothing private in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.panel import Panel

from dpgp.cli.arguments import Json, ModelFile
from dpgp.cli.output import (
    Screen,
    TextTable,
    failures_in_words,
    print_json,
    print_pairs,
    print_table,
    shown,
)
from dpgp.plain_text import in_a_line

if TYPE_CHECKING:
    from dpgp.effects.records import Importance
    from dpgp.model.fitted import FittedModel
    from dpgp.privacy.certificate import Certificate

MOST_INPUTS, BAR = 8, 20
"""Inputs that are printed with a bar, and characters of a bar that is full."""


def show(
    model: ModelFile,
    json: Json = False,
) -> None:
    """Show a model: its guarantee, columns, what matters, and every release.

    Examples:

    dpgp show girls.json

    dpgp show girls.json --json
    """
    with failures_in_words():
        fitted = load_model(model)
        several = range(fitted.n_targets if fitted.options.columns > 1 else 0)
        matters = [fitted.importance(target=k) for k in several]
    if json:
        found = {answer.target: answer.to_dict() for answer in matters}
        print_json({**describe(fitted), "importance": found})
    else:
        print_model(Screen(), fitted, matters)


def load_model(path: Path) -> FittedModel:
    """Return the model of a file; a ModelFileError where there is none."""
    from dpgp.model.file import load

    with in_words(path):
        model: FittedModel = load(path)
    return model


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Let errors about a model's file name it."""
    from dpgp.checked_values import ModelFileError

    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"'{path}' is no model: {error}") from None
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise ModelFileError(
            f"cannot read '{path}': {reason}; name a model that dpgp fit wrote."
        ) from None


def describe(model: FittedModel) -> dict[str, Any]:
    """Return what is public of a model: guarantee, bounds, and what was learned."""
    from dpgp.model.file.guarantee import certificate_to_json
    from dpgp.report.guarantee import guarantee_in_words

    posterior = model.posteriors[0]
    certificate = model.certificate
    targets = model.options.target_box.named_bounds("target")
    return {
        "id": model.id,
        "guarantee": {
            **certificate_to_json(certificate),
            "is_private": certificate.is_private,
            "in_words": guarantee_in_words(certificate),
        },
        "inputs": model.inputs.box.named_bounds("input"),
        "targets": [row | _learned(model, k) for k, row in enumerate(targets)],
        "features": posterior.features.dimension,
        "kernel": str(posterior.kernel),
        "inputs_warped": model.inputs.warp is not None,
        "weights": None if model.weights is None else model.weights.finding(),
        "health": list(model.health),
    }


def _learned(model: FittedModel, target: int) -> dict[str, Any]:
    from dpgp.effects.reliability import told_reliability
    from dpgp.inference.conformal import COVERAGE

    if model.outcome.is_joint:
        return {"classes": _of_classes(model)}
    explained: dict[str, Any] = {"explained": vars(model.explained(target=target))}
    told = told_reliability(model)
    if told is not None:
        explained["reliability"] = {**told.to_dict(), "auc": vars(told.auc)}
    if model.outcome.law_is_known:
        return explained
    low, median, high = model.noise_quantiles(target)
    ends = (low, high) if low < high else (None, None)  # draws that are equal tell no uncertainty
    return explained | {
        "noise_std": {"median": median, "low_90": ends[0], "high_90": ends[1]},
        "interval_95_in_stds": float(model.calibrations[target].factor(COVERAGE)),
    }


def _of_classes(model: FittedModel) -> list[dict[str, Any]]:
    """Return the average probability of every class, and how much of it is explained."""
    return [
        {
            "label": label,
            "average": float(model.average(target=k).mean[0]),
            "explained": vars(model.explained(target=k)),
        }
        for k, label in enumerate(model.outcome.labels)
    ]


def print_guarantee(console: Console, certificate: Certificate) -> None:
    """Print the guarantee in words, in green, or in red where there is none."""
    from dpgp.report.guarantee import guarantee_in_words

    words, private = guarantee_in_words(certificate), certificate.is_private
    console.print(
        Panel(
            shown(words),
            title=certificate.title if private else "NOT PRIVATE",
            title_align="left",
            border_style="green" if private else "bold red",
        )
    )


def print_health(console: Console, model: FittedModel) -> None:
    """Print what looks wrong with a model; nothing where all is well."""
    from dpgp.report.health import LOOKS_WRONG

    found = model.health
    if found:
        text = "\n".join(f"• {shown(sentence)}" for sentence in found)
        console.print(Panel(text, title=LOOKS_WRONG, title_align="left", border_style="yellow"))


def print_importance(console: Console, importance: Importance) -> None:
    """Print the most important inputs with bars, or that none may matter."""
    if importance.may_be_constant:
        console.print(shown(importance.to_be_explained), highlight=False)
        console.print()
        return
    pairs = list(zip(importance.inputs, importance.total, strict=True))[:MOST_INPUTS]
    rows = [
        [shown(name), _bar(share.value), share.percent, share.interval] for name, share in pairs
    ]
    left = len(importance.inputs) - len(rows)
    more = f" The {left} others matter less." if left else ""
    caption = f"Share of the variance that an input has a part in, 95 % intervals.{more}"
    headings = ("input", "", "share", "interval")
    title = f"What matters for {shown(importance.target)}"
    print_table(console, TextTable(title, headings, rows, caption))


def print_reliability(console: Console, model: FittedModel) -> None:
    """Print shares of yes by their predictions; nothing where none were released."""
    from dpgp.effects.reliability import told_reliability

    told = told_reliability(model)
    if told is not None:
        print_table(console, TextTable(shown(told.title), *told.text_table(), told.note))


def _bar(share: float) -> str:
    return ("█" * round(BAR * share)).ljust(BAR, "·")


def print_model(console: Console, model: FittedModel, matters: list[Importance]) -> None:
    """Print guarantee, columns, what was learned and what matters, and every release."""
    from dpgp.privacy.rounding import text_up

    about = describe(model)
    print_guarantee(console, model.certificate)
    print_health(console, model)
    print_table(console, TextTable("Columns", ("column", "from", "to"), _column_rows(about)))
    console.print("[bold]Model[/]")
    weighed = [] if model.weights is None else [["rows", str(model.weights)]]
    print_pairs(console, _model_rows(about) + weighed)
    console.print()
    for importance in matters:
        print_importance(console, importance)
    print_reliability(console, model)
    certificate = model.certificate
    together = "" if certificate.mu is None else f"Together μ = {text_up(certificate.mu, 4)}. "
    print_table(
        console,
        TextTable(
            "What was released",
            certificate.HEADINGS,
            [[shown(cell) for cell in row] for row in certificate.rows()],
            f"{together}{certificate.relation}",
        ),
    )


def _column_rows(about: dict[str, Any]) -> list[list[str]]:
    return [
        [f"{kind} {shown(column['name'])}", *map(shown, _extent(column))]
        for kind, key in (("[dim]input[/]", "inputs"), ("[dim]target[/]", "targets"))
        for column in about[key]
    ]


def _extent(column: dict[str, Any]) -> tuple[str, str]:
    if "levels" in column:
        return f"levels {in_a_line(map(str, column['levels']))}", ""
    if "unit" in column:
        return column["low"], column["high"]
    return f"{column['low']:g}", f"{column['high']:g}"


def _model_rows(about: dict[str, Any]) -> list[list[str]]:
    from dpgp.effects.records import Share

    study = about["guarantee"].get("study")
    words = {"title": "study", "id": "study id", "sha256": "study file, SHA-256"}
    rows = [
        ["id", about["id"]],
        *([word, study[key]] for key, word in words.items() if study and study[key] is not None),
        ["features", str(about["features"])],
        ["inputs warped by private histograms", "yes" if about["inputs_warped"] else "no"],
    ]
    for target in about["targets"]:
        for each in target.get("classes", ()):
            share, whole = Share(**each["explained"]), f"{each['average']:.1%} on average"
            rows.append([f"{target['name']} = {each['label']}", f"{whole}; explained (R²) {share}"])
        if "explained" not in target:
            continue
        share, name = Share(**target["explained"]), target["name"]
        rows.append([f"explained of {name} (R²)", f"about {share} of the variance"])
        if "noise_std" not in target:
            continue
        noise = target["noise_std"]
        rows.append([f"sd of an observation of {name}", f"{noise['median']:.3g}"])
        if noise["low_90"] is not None:
            within = f"{noise['low_90']:.3g} to {noise['high_90']:.3g}"
            rows.append(["  with 90 % probability", within])
        rows.append(["  95 % intervals, each side", f"{target['interval_95_in_stds']:.2f} std"])
    return rows
