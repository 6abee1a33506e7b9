"""However a studio ends, no copy of a table and no spending is lost: real processes and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from studio_client import STUDY, girls

from dpgp import Ledger
from dpgp.studio import desk as desks
from dpgp.studio.desk import PREFIX, SUFFIX, PrivateFolder, sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks of Unix")

COMMAND = "from dpgp.cli import app; app()"


def as_in_a_terminal():
    """Undo what a shell in the background, or nohup, has told these tests to ignore."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Run:
    """`dpgp studio` in a process of its own, and a browser that was let in."""

    def __init__(self, folder, *options, preexec_fn=as_in_a_terminal):
        self.results = folder / "results"
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "studio", "--no-browser", "-o", self.results, *options],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(folder), "COLUMNS": "300"},
            preexec_fn=preexec_fn,
        )
        address = urlsplit(self.process.stderr.readline().split()[-1])
        origin = f"http://{address.netloc}"
        self.browser = httpx.Client(base_url=origin, headers={"origin": origin}, timeout=120)
        self.home = self.browser.post("/enter", json={"code": address.fragment}).json()["home"]

    def ask(self, question, **body):
        response = self.browser.post(f"{self.home}api/{question}", content=json.dumps(body))
        assert response.status_code == 200, response.text
        return response.json()

    def upload(self, rows=300):
        """Send a table, and return its key."""
        sent, place = (
            {"params": {"name": "g.csv"}, "content": girls(rows)},
            f"{self.home}api/upload",
        )
        return self.browser.put(place, **sent).json()["table"]

    def fit_until_something_is_booked(self):
        """Fit so many rows that there is time to look before the fit has ended."""
        rows = 400_000
        asked = {"table": self.upload(rows), "study": STUDY | {"rows": str(rows)}}
        key = self.ask("consent", **asked)["key"]
        self.ask("fit", **asked, key=key)
        while self.ask("job", key=key)["released"] < 2:
            time.sleep(0.05)

    def workers(self):
        """The processes of its fits."""
        pid = self.process.pid
        return [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for child in (thread / "children").read_text().split()
        ]

    def end(self, number):
        """Send a signal, and return what is said after it."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=60)[1]


@pytest.fixture
def start(tmp_path):
    """Return a function that starts studios; all are ended."""
    started = []

    def start(*options, **how):
        started.append(Run(tmp_path, *options, **how))
        return started[-1]

    yield start
    for run in started:
        run.browser.close()
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()


def folders(tmp_path):
    return set(tmp_path.glob(f"*{PREFIX}*"))


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_copies_go_with_the_studio(start, tmp_path, number):
    run = start()
    run.upload()
    (folder,) = folders(tmp_path)
    assert len(list(folder.iterdir())) == 1
    run.end(number)
    assert run.process.returncode == 0
    assert folders(tmp_path) == set()


def test_copies_of_a_killed_studio_go_at_the_next_start_and_those_of_a_living_one_stay(
    start, tmp_path
):
    living, killed = start(), start()
    living.upload()
    (copies,) = [f for f in folders(tmp_path) if list(f.iterdir())]
    killed.upload()
    killed.end(signal.SIGKILL)
    assert len(folders(tmp_path)) == 2
    third = start()
    assert len(folders(tmp_path)) == 2  # its own, and that of the living one
    assert len(list(copies.iterdir())) == 1
    for run in (living, third):
        run.end(signal.SIGINT)
    assert folders(tmp_path) == set()


def test_nohup_is_respected(start):
    run = start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        run.process.wait(timeout=5)
    assert run.upload()
    run.end(signal.SIGTERM)
    assert run.process.returncode == 0


def ended(pid):
    """Wait for the end of a process that is not ours."""
    for _ in range(600):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_that_was_spent_is_forgotten(start, tmp_path, number):
    ledger = Ledger(tmp_path / "s.ledger", epsilon=3.0, delta=1e-5, protects="row")
    run = start("--ledger", str(ledger.path))
    run.fit_until_something_is_booked()
    (worker,) = run.workers()
    words = run.end(number)
    assert ended(worker)
    (folder,) = run.results.iterdir()
    spent = (folder / "spent.txt").read_text(encoding="utf-8")
    if number == signal.SIGKILL:
        assert spent == (
            "This fit did not say how it ended. Where there is no model beside this file, count "
            "all of it, ε = 1 at δ = 1e-06, against the budget of these people. The ledger counts "
            "it.\n"
        )
    else:
        assert "Spent by then:" in spent
        assert spent.strip() in words
    assert ledger.spent_epsilon > 0.0
    assert not (folder / "model.json").exists()


def test_a_fit_that_ends_well_leaves_no_word_of_a_bad_end(start):
    run = start()
    run.fit_until_something_is_booked()
    (folder,) = run.results.iterdir()
    assert (folder / "spent.txt").exists()
    while run.ask("jobs")["jobs"][0]["status"] == "running":
        time.sleep(0.1)
    assert (folder / "model.json").exists()
    assert not (folder / "spent.txt").exists()


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(desks, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_sweep_takes_abandoned_folders_and_nothing_else(temporary):
    abandoned, elsewhere = temporary / f"{PREFIX}a{SUFFIX}", temporary / "elsewhere"
    alike = temporary / f"{PREFIX}march"  # somebody's own
    for folder in (abandoned, elsewhere, alike):
        folder.mkdir()
        (folder / "table").write_text("1,2")
    link, file = f"{PREFIX}link{SUFFIX}", f"{PREFIX}file{SUFFIX}"
    (temporary / link).symlink_to(elsewhere)
    (temporary / file).write_text("1")
    (abandoned / "link").symlink_to(elsewhere / "table")
    mine = PrivateFolder()
    sweep()
    names = {path.name for path in temporary.iterdir()}
    assert names == {"elsewhere", alike.name, link, file, mine.path.name}
    assert (elsewhere / "table").exists()
    mine.remove()
    assert not mine.path.exists()


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give things away")
def test_a_sweep_leaves_other_users_folders(temporary):
    theirs = temporary / f"{PREFIX}theirs{SUFFIX}"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    sweep()
    assert theirs.exists()


def test_a_folder_that_is_not_locked_yet_is_not_taken_for_abandoned(temporary, monkeypatch):
    """A studio that starts while another sweeps."""
    locked = desks._locked

    def swept_before(folder):
        monkeypatch.setattr(desks, "_locked", locked)
        sweep()
        return locked(folder)

    monkeypatch.setattr(desks, "sweep", lambda: None)
    monkeypatch.setattr(desks, "_locked", swept_before)
    mine = PrivateFolder()
    assert mine.path.exists()
    assert mine.path.stat().st_mode & 0o777 == 0o700
    mine.remove()
