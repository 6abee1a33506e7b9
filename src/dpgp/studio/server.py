"""The studio's server: on this machine alone, at an address that nobody can guess."""

from __future__ import annotations

import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import uvicorn

from dpgp.ledger import Ledger
from dpgp.studio.app import application
from dpgp.studio.desk import Desk
from dpgp.studio.jobs import WORKER, FitJob, Jobs
from dpgp.studio.questions import Studio

HOST = "127.0.0.1"


class Server(uvicorn.Server):
    """A server that says when it can be visited."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._ready()


def serve(
    ready: Callable[[str], None],
    *,
    port: int = 0,
    ledger: Ledger | None = None,
    folder: Path,
    worker: Sequence[str] = WORKER,
) -> list[FitJob]:
    """Serve until Ctrl-C, and return the fits that this stopped.

    ``ready`` is given the address. Port 0 takes any that is free.
    """
    token = secrets.token_urlsafe(32)
    with socket.create_server((HOST, port)) as listening:
        found = listening.getsockname()[1]
        studio = Studio(Desk(), Jobs(folder, worker), ledger)
        config = uvicorn.Config(
            application(studio, token, found),
            access_log=False,  # it would hold the token
            log_level="error",
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=3,
        )
        address = f"http://{HOST}:{found}/{token}/"
        with suppress(KeyboardInterrupt):  # uvicorn repeats it when all is closed
            Server(config, lambda: ready(address)).run([listening])
    return studio.stopped


def open_browser(address: str) -> None:
    """Show the studio, if this machine has a browser to show it in."""
    if not webbrowser.open(address):
        print("Open the address above in a browser on this machine.", file=sys.stderr)
