"""What a stranger may hand us, as functions of bytes: a target returns, or it has found something.

Each lets through the one error that the code promises for bad input, and nothing else. An audit
hook turns any attempt to start a program or to open a connection into a finding.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import dpgp
from dpgp.cli import app
from dpgp.cli.fit import read_rows
from dpgp.ledger import Ledger, LedgerError
from dpgp.ledger.account import Account
from dpgp.ledger.ledger import FitPrice
from dpgp.ledger.records import Other, record_from_json, record_to_json
from dpgp.model.file import ModelFileError
from dpgp.privacy.books import GaussianRelease
from dpgp.privacy.neighbours import Neighbours
from dpgp.private.tables import TableError
from dpgp.study.columns import Column
from dpgp.study.study import Study
from dpgp.verify import verify

FORBIDDEN = (
    "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn", "subprocess.Popen",
    "socket.connect", "pickle.find_class",
)  # fmt: skip
FOLDER = Path(tempfile.mkdtemp(prefix="dpgp-fuzz-"))
watching = []


class CodeExecutionError(BaseException):
    """Input made the program reach for another program."""


def watch(event, arguments):
    if watching and event in FORBIDDEN:
        raise CodeExecutionError(event)


def watched(target):
    def run(data):
        watching.append(target)
        try:
            target(data)
        finally:
            watching.pop()

    run.__name__ = target.__name__
    return run


def clear(error):
    """An error is a sentence or a few, with words of its own."""
    assert 0 < len(str(error)) < 5000


def written(name, data):
    path = FOLDER / f"{os.getpid()}-{name}"
    path.write_bytes(data)
    return path


@watched
def model_file(data):
    path = written("model.json", data)
    for read in (dpgp.load, verify):
        try:
            read(path)
        except ModelFileError as error:
            clear(error)


@watched
def ledger_file(data):
    path = written("s.ledger", data)
    try:
        ledger = Ledger(path)
        ledger.check()
        ledger.epsilon_left()
    except LedgerError as error:
        clear(error)
    finally:
        for rest in FOLDER.glob(f"{os.getpid()}-s.ledger*"):
            rest.unlink()


@watched
def ledger_records(data):
    """Records as JSON, a line each: what is behind the chain of hashes, which a forger can mend."""
    records = []
    for line in data.split(b"\n")[:20]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        try:
            record = record_from_json(value)
        except LedgerError:
            continue
        assert record_from_json(record_to_json(record)) == record
        records.append(record)
    try:
        account = Account.of(records) if records else None
        if account is not None and not any(cost.others for cost in account.costs()):
            account.worst()
            account.mu_left()
    except LedgerError as error:
        clear(error)


STUDY = Study(
    features=(Column("age", 0.0, 1.0),),
    targets=(Column("height", 0.0, 1.0),),
    epsilon=1.0,
    delta=1e-6,
    unit="id",
)


@watched
def csv_table(data):
    path = written("table.csv", data)
    try:
        rows = read_rows(str(path), STUDY)
    except (TableError, ValueError) as error:
        clear(error)
    else:
        batches = [batch.rows() for file in rows.files for batch in file.batches()]
        assert all(np.isfinite(batch.targets).all() for batch in batches)
        assert sum(len(batch) for batch in batches) == len(rows)


@watched
def command_line(data):
    """A line of words is a command; NUL separates them."""
    words = data.decode("utf-8", "replace").split("\0")[:12]
    if words and words[0] in ("demo", "audit", "plan", "reproduce"):
        return  # they compute for long, and read nothing
    written("model.json", MODEL)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            (Path(folder) / "m.json").write_bytes(MODEL)
            (Path(folder) / "t.csv").write_bytes(CSV)
            result = CliRunner().invoke(app, words)
        finally:
            os.chdir(here)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2, 4), result.exit_code


def _model():
    X = np.linspace(0.0, 1.0, 30)[:, None]
    options = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 1}
    gp = dpgp.PrivateGPRegressor(**options, calibrate=False, random_state=0)
    path = FOLDER / "seed.json"
    gp.fit(X, X[:, 0]).save(path, overwrite=True)
    return json.dumps(json.loads(path.read_text(encoding="utf-8"))).encode()


def _ledger():
    path = FOLDER / "seed.ledger"
    ledger = Ledger(path, 3.0, 1e-5, disjoint=["a", "b"])
    price = FitPrice(1.0, 1e-6, 0.2, 1e-18, ("one",), Neighbours.REPLACE, "row", False)
    release = GaussianRelease("one", 1.0, 10.0, 10, 2.0**40)
    ledger.reserve(price)
    part = ledger.partition("a")
    ledger.close(part.reserve(price).fit, "complete", [release])
    records = (*ledger.records(), Other("mean", None, 0.1, 0.0))
    lines = [json.dumps(record_to_json(record)).encode() for record in records]
    return path.read_bytes(), b"\n".join(lines)


CSV = b"id,age,height\n1,0.5,0.25\n2,0.1,1\n3,,NaN\n"
COMPLETE_CSV = CSV[: CSV.index(b"3,")]
MODEL = _model()
LEDGER, RECORDS = _ledger()
COMMANDS = [
    "fit\0t.csv\0--target\0height:0:1\0--feature\0age:0:1\0--epsilon\x001\0--delta\x001e-6",
    "show\0m.json\0--json",
    "verify\0m.json",
    "predict\0m.json\0t.csv\0-o\0out.csv",
    "ledger\0create\0s.ledger\0--epsilon\x001\0--delta\x001e-5",
    "ledger\0show\0m.json",
    "statement\0m.json\0-o\0x.md",
    "sign\0m.json\0--key\0m.json",
    "fit\0--study\0t.csv",
]
SEEDS = {
    "model_file": [MODEL, b"{}", b'{"kind": "dpgp model", "guarantee": {}}'],
    "ledger_file": [LEDGER, b"SQLite format 3\0", b""],
    "ledger_records": [RECORDS, b"{}"],
    "csv_table": [
        CSV,
        COMPLETE_CSV,
        CSV.replace(b",", b";"),
        b'id,age,height\n"1","0.5",1\n',
        b"PAR1PAR1",
    ],
    "command_line": [line.encode() for line in COMMANDS],
}
TARGETS = {
    target.__name__: target
    for target in (model_file, ledger_file, ledger_records, csv_table, command_line)
}
sys.addaudithook(watch)
