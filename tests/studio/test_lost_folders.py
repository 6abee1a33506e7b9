"""Nothing outlives its files: whatever folder is removed, a sentence says so and what to do."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from studio_client import FAKE_WORKER, PLACE, STUDY, girls

import dpgp
from dpgp import Ledger

ALL_OF_IT = "count all of it, ε = 1 at δ = 1e-06, against the budget of these people."


@pytest.fixture
def started(open_studio):
    """Return a function that starts a fit of a studio, and returns it with its folder."""

    def started(mode, ledger=None):
        worker = None if mode is None else (sys.executable, FAKE_WORKER, mode)
        client, studio = open_studio(worker, ledger)
        asked = {"table": client.put("upload", girls().encode())["table"], "study": STUDY}
        key = client.ask("consent", **asked)["key"]
        return client, studio, key, Path(client.ask("fit", **asked, key=key)["folder"])

    return started


def until_something_is_released(client, key):
    while not client.ask("job", key=key)["released"]:
        time.sleep(0.02)


@pytest.mark.parametrize("whole", [False, True])
def test_a_fit_whose_folder_is_removed_ends_with_what_it_spent(started, whole):
    client, studio, key, folder = started("waits")
    until_something_is_released(client, key)
    shutil.rmtree(studio.jobs.folder if whole else folder)
    client.ask("cancel", key=key)
    job = client.ended(key)
    assert (job["status"], job["message"]) == ("stopped", "Spent by then: half of it.")
    assert (folder / "spent.txt").read_text("utf-8") == "Spent by then: half of it.\n"
    assert (folder / "study.yaml").exists()  # of whose table it was
    assert client.ask("jobs")["jobs"] == [job]


def test_where_no_word_can_be_kept_the_page_says_them(started):
    client, studio, key, folder = started("waits")
    until_something_is_released(client, key)
    shutil.rmtree(studio.jobs.folder)
    studio.jobs.folder.write_text("a file is where the folder was", encoding="utf-8")
    client.ask("cancel", key=key)
    message = client.ended(key)["message"]
    kept = f"This could not be written to {folder}: keep these words."
    assert message == f"Spent by then: half of it. {kept}"
    asked = {"table": client.put("upload", girls().encode())["table"], "study": STUDY}
    key = client.ask("consent", **asked)["key"]
    message = client.ask("fit", **asked, key=key, expect=400)["message"]
    assert "cannot be read or written" in message
    assert message.endswith("start the studio with another folder: dpgp studio -o FOLDER.")
    assert len(client.ask("jobs")["jobs"]) == 1


def test_a_fit_that_spent_nothing_needs_no_folder_to_end(started):
    client, studio, key, _ = started("stops early and loses its folder")
    assert client.ended(key)["message"] == "Nothing was spent."
    assert list(studio.jobs.folder.iterdir()) == []


@pytest.mark.parametrize("has_ledger", [False, True])
def test_a_model_that_is_removed_after_the_fit_stays_spent(started, tmp_path, has_ledger):
    ledger = Ledger(tmp_path / "s.ledger", 3.0, 1e-5) if has_ledger else None
    client, _, key, folder = started("fits", ledger)
    assert client.ended(key)["message"] == ""
    shutil.rmtree(folder)
    job = client.ask("job", key=key)
    gone = f"is no longer in {folder}; bring it back from a copy."
    counted = f"{ALL_OF_IT} The ledger counts it." if has_ledger else ALL_OF_IT
    assert job["message"] == f"The model {gone} What it spent stays spent: {counted}"
    assert (job["status"], job["papers"]) == ("done", [])
    response = client.send("GET", f"/{PLACE}/papers/{key}/model.json")
    assert (response.status_code, response.text) == (404, f"'model.json' {gone}")
    assert client.ask("cancel", key=key) == client.ask("jobs")["jobs"][0] == job


def test_a_model_that_was_paid_for_is_saved_though_its_folder_was_removed(started):
    client, studio, key, folder = started(None)
    until_something_is_released(client, key)
    shutil.rmtree(studio.jobs.folder)
    job = client.ended(key)
    assert (job["status"], job["message"]) == ("done", "")
    assert len(job["papers"]) == 6
    assert dpgp.load(folder / "model.json").certificate.epsilon == 1.0


def test_a_table_whose_copy_is_removed_is_chosen_again(open_studio):
    client, studio = open_studio()
    asked = {"table": client.put("upload", girls().encode())["table"], "study": STUDY}
    shutil.rmtree(studio.desk.folder)
    message = client.ask("consent", **asked, expect=400)["message"]
    assert message == "'girls.csv' is no longer there; choose the file again."
    again = client.put("upload", girls().encode())["table"]
    assert "key" in client.ask("consent", table=again, study=STUDY)
    if os.name == "posix":
        assert studio.desk.folder.stat().st_mode & 0o777 == 0o700


def test_a_ledger_that_is_removed_is_missed_in_words(open_studio, tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 3.0, 1e-5)
    client, _ = open_studio(ledger=ledger)
    asked = {"table": client.put("upload", girls().encode())["table"], "study": STUDY}
    ledger.path.unlink()
    lost = f"The ledger '{ledger.path}' is no longer there; bring it back from a copy, or choose "
    shown = client.ask("ledger")
    assert shown["lost"].startswith(lost)
    assert shown["lost"].endswith("What it has counted stays spent.")
    for question in ("forecast", "consent", "fit"):  # none goes on as if there had been no ledger
        assert client.ask(question, **asked, expect=400)["message"] == shown["lost"]
    message = client.ask("choose-ledger", path=str(ledger.path), expect=400)["message"]
    assert message.endswith("type its whole path, or create one.")
    assert client.ask("forget-ledger")["lost"] == ""
    assert "key" in client.ask("consent", **asked)
