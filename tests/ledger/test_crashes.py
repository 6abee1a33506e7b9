"""Real processes, real kills, real disks that are full: no release is ever lost."""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from ledger_fits import X, Y, regressor

from dpgp.ledger import Ledger, LedgerError
from dpgp.ledger.records import Closed, Reserved
from dpgp.privacy.books import BudgetError, mu_of_guarantee
from dpgp.privacy.calibration import epsilon_of_mu
from dpgp.privacy.noise import SecureNoise

HERE = Path(__file__).parent


def run(code, *arguments, **options):
    """Run a piece of Python in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=HERE, capture_output=True, text=True, timeout=600, check=False, **options,
    )  # fmt: skip


def check_kills(path, kills, seed):
    Ledger(path, 500.0, 1e-5)
    done = subprocess.run(
        [sys.executable, HERE / "ledger_fits.py", path, str(kills), str(seed)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    ledger, reports = Ledger(path), done.stdout.split()
    ledger.check()
    records = ledger.records()
    reserved = [record for record in records if isinstance(record, Reserved)]
    closed = {record.fit: record for record in records if isinstance(record, Closed)}
    # a fit of which noise was drawn has an entry, and what the entry says is never less
    drawn = 1 + sum(sum("d" in fit for fit in report.split("f")) for report in reports)
    counted = [fit for fit in reserved if fit.fit not in closed or closed[fit.fit].releases]
    assert len(reports) == kills
    assert drawn <= len(counted)
    assert len(counted) <= 1 + sum(report.count("f") for report in reports)
    account = ledger.account()
    assert len(account.running) == len(reserved) - len(closed)
    assert account.costs()[0].squares >= drawn * min(r.mu for r in reserved) ** 2 * (1 - 1e-9)
    return reports, account


def test_kills_at_random_points_lose_nothing(tmp_path):
    reports, account = check_kills(tmp_path / "s.ledger", 16, 0)
    assert account.running  # some kills did hit a fit between reservation and end
    assert any(report[-1] == "d" for report in reports)


@pytest.mark.slow
def test_a_thousand_kills_lose_nothing(tmp_path):
    check_kills(tmp_path / "s.ledger", 1000, 1)


def test_sixteen_processes_never_overspend(tmp_path):
    """Five of them fit: μ² is what adds up, exactly."""
    mu = mu_of_guarantee(1.0, 1e-5) * 5.2**0.5
    epsilon = epsilon_of_mu(mu, 1e-5)
    ledger = Ledger(tmp_path / "s.ledger", epsilon, 1e-5)
    done = run(RACE, ledger.path)
    assert done.returncode == 0, done.stderr
    outcomes = done.stdout.split()
    assert sorted(outcomes) == ["BudgetError"] * 11 + ["fitted"] * 5
    ledger.check()
    assert ledger.spent_epsilon <= epsilon


RACE = """
import os, sys
import dpgp
from ledger_fits import X, Y, regressor
gp = regressor(sys.argv[1], epsilon=1.0, delta=1e-5)
regressor(None).fit(X, Y)
ready, go = os.pipe()
children = []
for _ in range(16):
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        try:
            gp.fit(X, Y)
        except dpgp.BudgetError:
            os._exit(3)
        os._exit(0)
    children.append(child)
os.close(go)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(*({0: "fitted", 3: "BudgetError"}.get(code, code) for code in codes))
"""


def never_drawn(*_):
    raise AssertionError("noise was drawn")


def test_a_full_disk_refuses_before_noise_is_drawn(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "s.ledger", 3.0, 1e-5)
    monkeypatch.setattr(SecureNoise, "draw", never_drawn)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # no file may grow beyond
    try:
        with pytest.raises(LedgerError, match="disk"):
            regressor(ledger).fit(X, Y)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    ledger.check()
    assert len(ledger.entries()) == 1


READ_ONLY = """
import os, sys
import dpgp
from dpgp.privacy.noise import SecureNoise
from ledger_fits import X, Y, regressor
regressor(sys.argv[1]).fit(X, Y)  # everything is imported while Python's own files can be read
os.chmod(sys.argv[1], 0o444)
if os.getuid() == 0:  # who may write everything must become somebody else
    os.setgid(65534)
    os.setuid(65534)
def draw(*_):
    print("noise was drawn")
SecureNoise.draw = draw
try:
    regressor(sys.argv[1]).fit(X, Y)
except dpgp.LedgerError as error:
    print(error)
"""


def test_a_read_only_file_refuses_before_noise_is_drawn():
    with tempfile.TemporaryDirectory() as folder:  # others may enter: not so pytest's own
        Path(folder).chmod(0o755)
        ledger = Ledger(Path(folder) / "s.ledger", 3.0, 1e-5)
        done = run(READ_ONLY, ledger.path)
        assert "cannot use the ledger" in done.stdout, done.stdout + done.stderr
        assert "readonly" in done.stdout
        assert "noise was drawn" not in done.stdout
        assert len(ledger.entries()) == 3


def test_a_crash_between_reservation_and_end_leaves_the_budget_spent(tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 1.0, 1e-6)
    code = (
        "import os, sys; from dpgp.privacy.noise import SecureNoise; from ledger_fits import *\n"
        "SecureNoise.draw = lambda *_: os._exit(9)\n"
        "regressor(sys.argv[1], epsilon=1.0).fit(X, Y)"
    )
    assert run(code, ledger.path).returncode == 9
    assert ledger.spent_epsilon == pytest.approx(1.0)
    with pytest.raises(BudgetError, match="nothing is left"):
        regressor(ledger).fit(X, Y)
