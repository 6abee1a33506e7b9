"""The studio's server, on this machine alone, and its application: pages, and their questions."""

from __future__ import annotations

import json
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from dpgp.cli.output import words
from dpgp.ledger import Ledger
from dpgp.plain_text import as_sentence
from dpgp.privacy.books import BudgetError
from dpgp.studio.asked import REPORT, refused_by_system
from dpgp.studio.desk import Desk
from dpgp.studio.entrance import COOKIE, DOOR, HOST, Doorkeeper, Entrance
from dpgp.studio.jobs import WORKER, FitJob, Jobs
from dpgp.studio.ledgers import verified
from dpgp.studio.questions import Body, Studio, Values, table_values
from dpgp.study.errors import Face, RefusedError, UsageError


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


# --- the application: any ASGI server can run it --------------------------------------------------


MOST_JSON = 2**20
"""Bytes of a question; a study of a thousand columns has less."""
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
REPORT_POLICY = "sandbox allow-scripts; frame-ancestors 'self'"  # the page brings its own besides
A_FAULT = "Something failed in the studio that should not have. It spent nothing."
STAYS_CLOSED = "An address works once, and not for long: open the one that the terminal shows last."
NOT_UNDERSTOOD = "the page sent no question; load it again."
MENDABLE = (ValueError, TypeError, BudgetError, OSError, ClientDisconnect)


def application(studio: Studio, entrance: Entrance) -> ASGIApp:
    """Return the guarded application: outside, a page that asks for a code; inside, the rest."""
    questions = {
        "open": studio.open_path,
        "forecast": studio.forecast,
        "epsilon": studio.epsilon,
        "consent": studio.consent,
        "fit": studio.fit,
        "job": studio.job,
        "cancel": studio.cancel,
        "jobs": studio.list_jobs,
        "ledger": studio.show_ledger,
        "choose-ledger": studio.choose_ledger,
        "forget-ledger": studio.forget_ledger,
    }
    routes = [
        Route("/", partial(_asset, name="index.html")),
        Route("/assets/{name}", _asset),
        Route("/papers/{key}/{name}", partial(_paper, studio)),
        Route("/api/upload", partial(_upload, studio), methods=["PUT"]),
        Route("/api/verify", partial(_verify, studio), methods=["PUT"]),
        *(
            Route(f"/api/{name}", partial(_answer, ask), methods=["POST"])
            for name, ask in questions.items()
        ),
    ]

    app = Starlette(
        routes=[
            Route("/", partial(_asset, name="enter.html")),
            Route("/assets/{name}", _asset),
            Route(DOOR, partial(_enter, entrance), methods=["POST"]),
            Mount(f"/{entrance.place}", routes=routes),
        ],
        exception_handlers={Exception: _fault},
    )
    return Doorkeeper(app, entrance)


async def _enter(entrance: Entrance, request: Request) -> Response:
    """Exchange a code for the cookie."""
    try:
        body = await _body(request)
    except UsageError as error:
        return _refusal(error)
    if not entrance.admits(body.get("code")):
        return JSONResponse({"message": STAYS_CLOSED}, 403)
    response = JSONResponse({"home": entrance.home})
    response.set_cookie(
        COOKIE, entrance.session, path=entrance.home, httponly=True, samesite="strict"
    )
    return response


async def _answer(ask: Callable[[Body], Values], request: Request) -> Response:
    """Answer a question in JSON; what a user can mend is one sentence."""
    try:
        return JSONResponse(await run_in_threadpool(ask, await _body(request)))
    except MENDABLE as error:
        return _refusal(error)


def _refusal(error: Exception) -> Response:
    """Return what a user can mend in the page's words, with the code of the rule that it breaks."""
    message = refused_by_system(error) if isinstance(error, OSError) else words(error, Face.PAGE)
    code = error.code if isinstance(error, RefusedError) else RefusedError.code
    return JSONResponse({"message": as_sentence(message), "code": code}, 400)


async def _body(request: Request) -> dict[str, Any]:
    """Return what a page sends, if it is little."""
    text = b""
    async for chunk in request.stream():
        text += chunk
        if len(text) > MOST_JSON:
            raise UsageError("the question is too long.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(NOT_UNDERSTOOD) from None
    if not isinstance(body, dict):
        raise UsageError(NOT_UNDERSTOOD)
    return body


async def _upload(studio: Studio, request: Request) -> Response:
    try:
        table = await studio.desk.take(request.query_params.get("name", ""), request.stream())
        return JSONResponse(table_values(table))
    except MENDABLE as error:
        return _refusal(error)


async def _verify(studio: Studio, request: Request) -> Response:
    try:
        path = await studio.desk.copy(secrets.token_hex(16), request.stream())
        try:
            return JSONResponse(await run_in_threadpool(verified, path))
        finally:
            path.unlink(missing_ok=True)
    except MENDABLE as error:
        return _refusal(error)


async def _paper(studio: Studio, request: Request) -> Response:
    try:
        path, paper = studio.paper(request.path_params["key"], request.path_params["name"])
    except UsageError as error:
        return _not_found(as_sentence(words(error, Face.PAGE)))
    headers = {"Content-Security-Policy": REPORT_POLICY} if paper.name == REPORT else None
    return FileResponse(path, media_type=paper.media_type, headers=headers)


async def _asset(request: Request, name: str | None = None) -> Response:
    folder = files("dpgp.studio") / "assets"
    wanted = name or request.path_params["name"]
    if wanted not in {entry.name for entry in folder.iterdir()}:
        return _not_found()
    return Response((folder / wanted).read_bytes(), media_type=MEDIA_TYPES[Path(wanted).suffix])


def _not_found(message: str = "Not found.") -> Response:
    return Response(message, 404, media_type="text/plain")


async def _fault(_: Request, __: Exception) -> Response:
    return JSONResponse({"message": A_FAULT}, 500)
