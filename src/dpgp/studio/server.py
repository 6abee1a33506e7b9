"""The studio's server: on this machine alone, for browsers that bring a code."""

from __future__ import annotations

import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import uvicorn

from dpgp.ledger import Ledger
from dpgp.studio.app import application
from dpgp.studio.desk import Desk
from dpgp.studio.entrance import HOST, Entrance
from dpgp.studio.jobs import WORKER, FitJob, Jobs
from dpgp.studio.questions import Studio


class Server(uvicorn.Server):
    """A server that says when it can be visited, and when it was told to end."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._ending = ready, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say that this is the end, and end."""
        self._ending()
        await super().shutdown(sockets)

    def end_with_terminal(self) -> None:
        """End as at Ctrl-C when the terminal is closed, unless that was told not to matter."""

        def end(*_: Any) -> None:
            self.should_exit = True

        closed = getattr(signal, "SIGHUP", None)  # Windows has none
        if closed is not None and signal.getsignal(closed) is not signal.SIG_IGN:  # nohup
            signal.signal(closed, end)


def serve(
    show: Callable[[str], None],
    *,
    browse: Callable[[Path], None] | None = None,
    port: int = 0,
    ledger: Ledger | None = None,
    folder: Path,
    worker: Sequence[str] = WORKER,
) -> list[FitJob]:
    """Serve until Ctrl-C or the end of the terminal, and return the fits that this stopped.

    ``show`` is given an address that lets one browser in, and another when that one is opened
    again; ``browse`` a page that leads there. Port 0 takes any that is free.
    """
    with socket.create_server((HOST, port)) as listening:
        found = listening.getsockname()[1]
        studio = Studio(Desk(), Jobs(folder, worker), ledger)
        stopped: list[FitJob] = []
        entrance = Entrance(found, studio.desk.folder, show)
        config = uvicorn.Config(
            application(studio, entrance),
            access_log=False,  # it would hold the place that the cookie is for
            log_level="error",
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=3,
        )

        def ready() -> None:
            show(entrance.address())
            if browse is not None:
                browse(entrance.page())

        server = Server(config, ready, lambda: stopped.extend(studio.jobs.stop()))
        server.end_with_terminal()
        with closing(studio), suppress(KeyboardInterrupt):  # uvicorn repeats it when all is closed
            server.run([listening])
    return stopped


def open_browser(page: Path) -> None:
    """Show the studio, if this machine has a browser to show it in."""
    if not webbrowser.open(page.as_uri()):
        print("Open the address above in a browser on this machine.", file=sys.stderr)
