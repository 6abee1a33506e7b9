"""A studio without a network: the application, asked by a client that can forge every header."""

import json
import time
from pathlib import Path

import anyio
import httpx

from dpgp.studio.entrance import Entrance
from dpgp.studio.server import application
from random_studies import girls as girls

PLACE, SESSION, PORT = "a-place-that-nobody-can-guess", "nor-this-session", 8123
HOST = f"127.0.0.1:{PORT}"
COOKIE = {"cookie": f"dpgp-studio={SESSION}"}
OWN = {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin", **COOKIE}


def application_of(studio, show=None):
    """The application of a studio whose secrets the client knows."""
    entrance = Entrance(PORT, studio.desk.folder, show)
    entrance.place, entrance.session = PLACE, SESSION
    return application(studio, entrance), entrance


class Client:
    """Sends requests to an application, as a browser of this machine or as somebody else."""

    def __init__(self, app):
        self.app = app

    def send(self, method, path, headers=OWN, **options):
        async def sent():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                request = client.build_request(method, path, **options)
                request.headers = httpx.Headers(
                    [*headers.items(), ("content-type", "application/json")]
                )
                return await client.send(request)

        return anyio.run(sent)

    def ask(self, question, expect=200, **body):
        response = self.send("POST", f"/{PLACE}/api/{question}", content=json.dumps(body))
        assert response.status_code == expect, response.text
        return response.json()

    def put(self, place, content, name="girls.csv", expect=200):
        path = f"/{PLACE}/api/{place}"
        response = self.send("PUT", path, params={"name": name}, content=content)
        assert response.status_code == expect, response.text
        return response.json()

    def ended(self, key):
        """Wait for the end of a fit."""
        while (job := self.ask("job", key=key))["status"] in ("running", "stopping"):
            time.sleep(0.05)
        return job


STUDY = {
    "title": "Girls",
    "targets": {"height_cm": ["70", "190"]},
    "features": {"age": ["2", "18"]},
    "rows": "300",
    "epsilon": "1",
    "delta": "1e-6",
}

FAKE_WORKER = str(Path(__file__).with_name("fake_worker.py"))
