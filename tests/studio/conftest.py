"""Studios that are closed at the end."""

import pytest
from studio_client import Client, application_of

from dpgp.studio.desk import Desk
from dpgp.studio.jobs import Jobs
from dpgp.studio.questions import Studio


@pytest.fixture
def open_studio(tmp_path):
    """Return a function that opens a studio, with any worker; all is closed at the end."""
    opened = []

    def open_one(worker=None, ledger=None):
        jobs = Jobs(tmp_path / "results", **({} if worker is None else {"worker": worker}))
        studio = Studio(Desk(), jobs, ledger)
        opened.append(studio)
        return Client(application_of(studio)[0]), studio

    yield open_one
    for studio in opened:
        studio.close()


@pytest.fixture
def client(open_studio):
    return open_studio()[0]
