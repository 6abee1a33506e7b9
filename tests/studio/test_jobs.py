"""Fits of a studio: started once however many tabs ask, stopped with what they spent, recorded."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from studio_client import FAKE_WORKER, STUDY, girls

from dpgp import Ledger


def worker(mode):
    return (sys.executable, FAKE_WORKER, mode)


@pytest.fixture
def consented(open_studio):
    """Return a function that opens a studio and consents to a study."""

    def consented(mode, study=STUDY):
        client, studio = open_studio(worker(mode))
        table = client.put("upload", girls().encode())["table"]
        asked = {"table": table, "study": study}
        return client, studio, {**asked, "key": client.ask("consent", **asked)["key"]}

    return consented


def folders(studio):
    return sorted(path.name for path in studio.jobs.folder.iterdir())


def test_many_tabs_start_one_fit(consented):
    client, studio, asked = consented("waits")
    with ThreadPoolExecutor(8) as tabs:
        jobs = list(tabs.map(lambda _: client.ask("fit", **asked), range(8)))
    assert {job["key"] for job in jobs} == {asked["key"]}
    assert len(folders(studio)) == 1
    client.ask("cancel", key=asked["key"])
    client.ended(asked["key"])
    assert client.ask("fit", **asked)["status"] == "stopped"  # a late tab starts nothing either
    assert len(folders(studio)) == 1


def test_one_fit_at_a_time(consented):
    client, _, asked = consented("waits")
    client.ask("fit", **asked)
    other = {"table": asked["table"], "study": {**STUDY, "epsilon": "2"}}
    key = client.ask("consent", **other)["key"]
    assert (
        "another fit is running"
        in client.ask("fit", **other, key=key, expect=400)["message"].lower()
    )


def test_a_consent_is_to_one_study_one_file_and_one_ledger(consented, tmp_path):
    client, studio, asked = consented("fits")
    changed = {**asked, "study": {**STUDY, "epsilon": "2"}}
    assert "consent" in client.ask("fit", **changed, expect=400)["message"]
    path = tmp_path / "people.csv"
    path.write_text(girls(), encoding="utf-8")
    table = client.ask("open", path=str(path))["table"]
    named = {"table": table, "study": STUDY}
    key = client.ask("consent", **named)["key"]
    path.write_text(girls(200), encoding="utf-8")
    assert "changed since" in client.ask("fit", **named, key=key, expect=400)["message"]
    studio.ledger = Ledger(tmp_path / "s.ledger", 3.0, 1e-5)
    assert "changed since" in client.ask("fit", **asked, expect=400)["message"]
    assert not studio.jobs.folder.exists()


def test_the_same_study_again_is_another_consent_that_says_so(consented):
    client, _, asked = consented("fits")
    client.ask("fit", **asked)
    assert client.ended(asked["key"])["status"] == "done"
    again = client.ask("consent", table=asked["table"], study=STUDY)
    assert (again["before"], again["key"] == asked["key"]) == (1, False)


def test_cancelling_says_what_was_spent_and_leaves_a_record(consented):
    client, studio, asked = consented("waits")
    client.ask("fit", **asked)
    assert client.ask("cancel", key=asked["key"])["status"] in ("stopping", "stopped")
    job = client.ended(asked["key"])
    assert (job["status"], job["message"]) == ("stopped", "Spent by then: half of it.")
    assert job["papers"] == []
    (folder,) = studio.jobs.folder.iterdir()
    assert (folder / "spent.txt").read_text(encoding="utf-8") == "Spent by then: half of it.\n"
    assert client.ask("cancel", key=asked["key"])["status"] == "stopped"


def test_a_fit_that_dies_counts_as_spent(consented):
    client, studio, asked = consented("dies")
    client.ask("fit", **asked)
    job = client.ended(asked["key"])
    assert job["status"] == "failed"
    assert "count all of it, ε = 1 at δ = 1e-06" in job["message"]
    assert len(folders(studio)) == 1


def test_a_fit_that_is_stopped_before_its_first_release_spent_nothing(consented):
    client, studio, asked = consented("stops early")
    client.ask("fit", **asked)
    job = client.ended(asked["key"])
    assert (job["status"], job["message"]) == ("stopped", "Nothing was spent.")
    assert folders(studio) == []


def test_what_was_refused_spent_nothing_and_leaves_nothing(consented):
    client, studio, asked = consented("refuses")
    client.ask("fit", **asked)
    job = client.ended(asked["key"])
    assert job["status"] == "failed"
    assert "“contribute nothing”" in job["message"]
    assert job["message"].endswith("Nothing was spent.")
    assert folders(studio) == []


def test_a_studio_that_ends_stops_its_fits(consented):
    client, studio, asked = consented("waits")
    client.ask("fit", **asked)
    (job,) = studio.jobs.stop()
    studio.close()
    assert (job.status, job.message) == ("stopped", "Spent by then: half of it.")


def test_results_lie_in_a_folder_of_their_own(consented):
    client, studio, asked = consented("fits", {**STUDY, "title": "../../Äpfel & \n Birnen/"})
    client.ask("fit", **asked)
    job = client.ended(asked["key"])
    folder = Path(job["folder"])
    assert folder.parent == studio.jobs.folder
    assert folder.name.endswith("-äpfel-birnen")
    assert {paper["name"] for paper in job["papers"]} == {
        "model.json", "study.yaml", "fit_in_python.py",
    }  # fmt: skip


def test_nobody_learns_of_fits_by_guessing(client):
    for question in ("job", "cancel"):
        assert "no such fit" in client.ask(question, key="0" * 64, expect=400)["message"]
        assert "no such fit" in client.ask(question, expect=400)["message"]
