"""``dpgp verify``, ``sign`` and ``audit``: what a file proves, who vouches for it, and attacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dpgp.cli.arguments import Json, ModelFile
from dpgp.cli.output import STOPPED, Screen, failures_in_words, print_files, print_json, shown
from dpgp.cli.show import in_words, load_model
from dpgp.progress import working
from dpgp.study.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpgp.verify import Finding


def verify(
    model: ModelFile,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Public key of the signer, to check the signature.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Recompute the guarantee of a model, independently, from its file alone.

    Uses dp-accounting and none of the code that planned the noise. Ends
    with exit code 1 where anything does not hold.

    Examples:

    dpgp verify girls.json

    dpgp verify girls.json --key curator.pub
    """
    from dpgp.verify.file import ONLY_THE_SIGNER, PROVES

    with failures_in_words(), working("Verifying"):
        findings = _findings(model, key)
    holds = all(finding.holds for finding in findings)
    if json:
        checks = [vars(finding) for finding in findings]
        print_json({"holds": holds, "checks": checks, "proves": PROVES, "not": ONLY_THE_SIGNER})
    else:
        _print(Screen(), findings, key is not None)
    if not holds:
        raise typer.Exit(STOPPED)


def _findings(model: Path, key: Path | None) -> list[Finding]:
    from dpgp.verify import Finding
    from dpgp.verify import verify as verified
    from dpgp.verify.signature import is_signed_by

    with in_words(model):
        findings = [*verified(model), *_is_a_model(model)]
    if key is not None:
        signed = is_signed_by(model, key)
        findings.append(Finding("it is signed by the owner of the key", signed, str(key)))
    return findings


def _is_a_model(path: Path) -> Iterator[Finding]:
    """Return whether the file is one that every other command would take, field by field."""
    from dpgp.checked_values import ModelFileError
    from dpgp.model.file import load
    from dpgp.model.log_odds import log_odds_follow
    from dpgp.verify import Finding

    question = "all that it holds is what a model holds"
    try:
        model = load(path)
    except ModelFileError as error:
        yield Finding(question, False, str(error))
        return
    yield Finding(question, True, f"model {model.id}")
    if model.log_odds:
        question = "its probabilities are those of its functions"
        yield Finding(question, log_odds_follow(model), "log odds, and shares of all classes")


def _print(console: Console, findings: list[Finding], signed: bool) -> None:
    from dpgp.verify.file import ONLY_THE_SIGNER, PROVES

    for finding in findings:
        mark = "[green]yes[/]" if finding.holds else "[bold red]NO[/] "
        console.print(f"{mark}  {finding.question} [dim]{shown(finding.detail)}[/]", soft_wrap=True)
    who = "What you take from its signer" if signed else "What only its publisher can vouch for"
    for title, sentences in (("What the file proves", PROVES), (who, ONLY_THE_SIGNER)):
        console.print(f"[bold]{title}[/]")
        for sentence in sentences:
            console.print(f"  {sentence}", soft_wrap=True, highlight=False)


def sign(
    model: Annotated[
        Path | None, typer.Argument(help="A model that dpgp fit wrote.", show_default=False)
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your private key.", show_default=False),
    ] = None,
    create_key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Make a key first: NAME.key to keep secret, NAME.pub to publish.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Sign a model with your name: an Ed25519 signature in a file beside it.

    Signing says: this model is ours, and what its file cannot prove is so.
    Needs the extra sign: pip install '.\\[sign]' in a checkout.

    Examples:

    dpgp sign --create-key curator

    dpgp sign girls.json --key curator.key
    """
    from dpgp.verify import signature

    with failures_in_words():
        if create_key is not None:
            try:
                print_files(Screen(), list(signature.create_key(create_key)))
            except FileExistsError as error:
                raise UsageError(
                    f"'{error.filename}' exists; choose another name for the key."
                ) from None
        if model is None:
            if create_key is None:
                raise UsageError("nothing to sign was named; add a model, or --create-key NAME.")
            return
        if key is None:
            raise UsageError("no key was named; add --key curator.key, or --create-key curator.")
        if not load_model(model).certificate.is_private:
            raise UsageError(f"'{model}' is a simulation, not private; fit it without a seed.")
        print_files(Screen(), [signature.sign(model, key)])


def audit(
    rows: Annotated[
        int, typer.Option(min=1, help="Number of rows of the run with canaries: that of your data.")
    ] = 5000,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Thousands of neighbours and of releases: minutes.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Chooses the made-up tables, never the noise.")] = 0,
    json: Json = False,
) -> None:
    """Attack our own releases: neighbours, many releases, canaries.

    On made-up tables; reads no data and spends nothing. Replays fits on
    neighbouring tables with the same released history and compares exact
    integers; releases worst-case neighbours many times and bounds ε from
    below; guesses canaries in one run; looks for noise that repeats.
    Ends with exit code 1 where an attack found more than is claimed.

    Examples:

    dpgp audit

    dpgp audit --rows 20000 --thorough
    """
    from dpgp.audit.run import QUICK, THOROUGH
    from dpgp.audit.run import audit as attacks

    console, found = Screen(), []
    with failures_in_words(), working("Attacking"):
        for attack in attacks(THOROUGH if thorough else QUICK, rows, seed):
            found.append(attack)
            if not json:
                mark = "[green]holds[/]" if attack.holds else "[bold red]BROKEN[/]"
                line = f"{mark}  {attack.name}: [dim]{shown(attack.detail)}[/]"
                console.print(line, soft_wrap=True, highlight=False)
    holds = all(attack.holds for attack in found)
    if json:
        print_json({"holds": holds, "attacks": [vars(attack) for attack in found]})
    if not holds:
        raise typer.Exit(STOPPED)
