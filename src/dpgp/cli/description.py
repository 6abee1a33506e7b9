"""A fitted model in plain values for machines, and in tables for people: nothing private in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from dpgp.cli.consent import print_pairs
from dpgp.cli.output import print_table

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.privacy.certificate import Certificate
    from dpgp.regressor import PrivateGPRegressor


def describe(model: PrivateGPRegressor) -> dict[str, Any]:
    """Return what is public of a model: guarantee, bounds, and what was learned."""
    from dpgp.model_file.guarantee import certificate_to_json
    from dpgp.report.guarantee import guarantee_in_words
    from dpgp.report.released import posterior_of

    posterior = posterior_of(model, 0)
    certificate = model.certificate_
    targets = _box_rows(model.target_box_, "target")
    return {
        "guarantee": {
            **certificate_to_json(certificate),
            "is_private": certificate.is_private,
            "in_words": guarantee_in_words(certificate),
        },
        "inputs": _box_rows(model.inputs_.box, "input"),
        "targets": [row | _learned(model, k) for k, row in enumerate(targets)],
        "features": posterior.features.dimension,
        "kernel": str(posterior.kernel),
        "inputs_warped": model.inputs_.warp is not None,
        "health": list(model.health_),
    }


def _box_rows(box: Box, kind: str) -> list[dict[str, Any]]:
    names = box.names or [f"{kind} {position + 1}" for position in range(len(box.low))]
    return [
        {"name": str(name), "low": float(low), "high": float(high)}
        for name, low, high in zip(names, box.low, box.high, strict=True)
    ]


def _learned(model: PrivateGPRegressor, target: int) -> dict[str, Any]:
    import numpy as np

    from dpgp.report.released import posterior_of

    draws = np.exp(posterior_of(model, target).thetas[:, -1])
    low, median, high = model.target_box_.half_width[target] * np.quantile(draws, [0.05, 0.5, 0.95])
    return {
        "noise_std": {"median": float(median), "low_90": float(low), "high_90": float(high)},
        "interval_95_in_stds": float(model.calibration_[target].factor(0.95)),
    }


def print_guarantee(console: Console, certificate: Certificate) -> None:
    """Print the guarantee in words, in green, or in red where there is none."""
    from dpgp.report.guarantee import guarantee_in_words

    words, private = guarantee_in_words(certificate), certificate.is_private
    console.print(
        Panel(
            words,
            title=certificate.title if private else "NOT PRIVATE",
            title_align="left",
            border_style="green" if private else "bold red",
        )
    )


def print_health(console: Console, model: PrivateGPRegressor) -> None:
    """Print what looks wrong with a model; nothing where all is well."""
    from dpgp.report.health import LOOKS_WRONG

    found = model.health_
    if found:
        text = "\n".join(f"• {escape(sentence)}" for sentence in found)
        console.print(Panel(text, title=LOOKS_WRONG, title_align="left", border_style="yellow"))


def print_model(console: Console, model: PrivateGPRegressor) -> None:
    """Print guarantee, columns, what was learned, and every release."""
    from dpgp.experiments.tables import Table
    from dpgp.privacy.rounding import text_up

    about = describe(model)
    print_guarantee(console, model.certificate_)
    print_health(console, model)
    print_table(console, Table("Columns", ("column", "from", "to"), _column_rows(about)))
    console.print("[bold]Model[/]")
    print_pairs(console, _model_rows(about))
    console.print()
    certificate = model.certificate_
    together = "" if certificate.mu is None else f"Together μ = {text_up(certificate.mu, 4)}. "
    print_table(
        console,
        Table(
            "What was released",
            certificate.HEADINGS,
            [[escape(cell) for cell in row] for row in certificate.rows()],
            f"{together}Neighbours: {certificate.neighbours.value} {certificate.unit}.",
        ),
    )


def _column_rows(about: dict[str, Any]) -> list[list[str]]:
    return [
        [f"{kind} {escape(column['name'])}", f"{column['low']:g}", f"{column['high']:g}"]
        for kind, key in (("[dim]input[/]", "inputs"), ("[dim]target[/]", "targets"))
        for column in about[key]
    ]


def _model_rows(about: dict[str, Any]) -> list[list[str]]:
    rows = [
        ["features", str(about["features"])],
        ["inputs warped by private histograms", "yes" if about["inputs_warped"] else "no"],
    ]
    for target in about["targets"]:
        noise, name = target["noise_std"], target["name"]
        rows += [
            [f"sd of an observation of {name}", f"{noise['median']:.3g}"],
            ["  with 90 % probability", f"{noise['low_90']:.3g} to {noise['high_90']:.3g}"],
            ["  95 % intervals, each side", f"{target['interval_95_in_stds']:.2f} std"],
        ]
    return rows
