"""``dpgp sites``: one fit of the rows of several custodians, which nobody shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgp.cli.arguments import Force, Json, LedgerPath, Partition, Yes
from dpgp.cli.consent import check_may_spend
from dpgp.cli.fit import (
    checked_output,
    checked_source,
    of_study,
    read_rows,
    report_model,
    save_model,
    show_and_ask,
    with_earlier,
)
from dpgp.cli.output import Screen, failures_in_words, print_files, shown
from dpgp.progress import working
from dpgp.study.errors import UsageError
from dpgp.study.study import Study

app = typer.Typer(
    no_args_is_help=True,
    help="Fit the rows of several custodians together; none shows a row.",
)

RosterFile = Annotated[
    Path, typer.Option(metavar="FILE", help="Who takes part: the same file at every site.")
]


@app.command()
def key(
    name: Annotated[str, typer.Argument(help="Name of a site, or coordinator.")],
) -> None:
    """Make a party's key: NAME.key to keep secret, and a public line for the roster.

    Examples:

    dpgp sites key north
    """
    from dpgp.sites import create_key

    path = Path(f"{name}.key")
    with failures_in_words():
        try:
            public = create_key(path)
        except FileExistsError:
            raise UsageError(f"'{path}' exists; choose another name for the key.") from None
    console = Screen()
    print_files(console, [path])
    console.print(
        f"[dim]for the roster:[/] {shown(name)}: {public}", soft_wrap=True, highlight=False
    )


@app.command()
def coordinate(
    roster: RosterFile,
    key: Annotated[Path, typer.Option(metavar="FILE", help="The coordinator's key.")],
) -> None:
    """Lead one joint fit: wait for all sites, add up what they send, end with them.

    The coordinator has no rows, and sees noisy totals alone.

    Examples:

    dpgp sites coordinate --roster roster.yaml --key coordinator.key
    """
    from dpgp.sites import coordinate as lead

    console = Screen()
    with failures_in_words():
        rounds = lead(roster, key, lambda words: console.print(shown(words), highlight=False))
    console.print(f"the fit is complete, after {rounds} sums", highlight=False)


@app.command()
def fit(
    data: Annotated[str, typer.Argument(help="This site's table: CSV or Parquet.")],
    study: Annotated[
        Path, typer.Option(metavar="FILE", help="The study file: the same at every site.")
    ],
    roster: RosterFile,
    site: Annotated[str, typer.Option(metavar="NAME", help="This site's name in the roster.")],
    key: Annotated[Path, typer.Option(metavar="FILE", help="This site's key.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    ledger: LedgerPath = None,
    partition: Partition = None,
    yes: Yes = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Take part in a joint fit with this site's table; all sites end with one model.

    Examples:

    dpgp sites fit north.csv --study growth.yaml --roster roster.yaml \\
        --site north --key north.key -o growth.json
    """
    from dpgp.blas import thread_count
    from dpgp.privacy.noise import noise_source
    from dpgp.private.fit import fit_in
    from dpgp.sites import Site
    from dpgp.study.file import with_study_file

    with failures_in_words():
        said = with_study_file(
            Study(data=data, output=output, ledger=ledger, partition=partition), study
        )
        source, purse, options = checked_source(said), said.purse, said.options
        path = checked_output(said, source, force)
        check_may_spend(yes)
        raw = read_rows(source, said)
        seat = Site(site, roster, key)
        with seat.meeting(options, len(raw), noise_source(None)) as meeting:
            counted = meeting.agreement.rows
            show_and_ask(said, said.rows if counted is None else counted, yes=yes, json=json)
            with working("Fitting"):
                fitted = fit_in(meeting, raw, options, thread_count(None), purse)
        model = with_earlier(of_study(fitted, said))
        save_model(model, path, overwrite=force)
    report_model(model, path, json)
