"""How a browser gets in: by a code that works once, and stands in no command line.

Everybody on a machine can read command lines. So a browser is opened on a file that only its owner
can read. It leads to an address whose fragment, which browsers send to nobody, is a code; the page
there exchanges it for a cookie, by which the studio knows the browser from then on.

A page of another site can make a browser send requests here, but it can forge none of the headers
``Host``, ``Origin`` and ``Sec-Fetch-Site``, and its requests come without the cookie.
"""

from __future__ import annotations

import hmac
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
COOKIE = "dpgp-studio"
MINUTES = 10
"""How long a code is good for."""
LOCAL_NAMES = ("127.0.0.1", "localhost")
SAME_SITE = (None, "none", "same-origin")
READS = ("GET", "HEAD")
DOOR = "/enter"
OUTSIDE = ("/", "/assets/enter.js", "/assets/studio.css")
"""What everybody on this machine may read: the page that asks for a code."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>dpgp studio</title>
<p><a href="{address}">Open the studio</a></p>
"""


class Entrance:
    """The secrets of a studio: codes, the cookie, and the place that the cookie is for.

    Browsers send a cookie to every port of a machine, also those where others listen, but only to
    its own place.
    """

    def __init__(self, port: int, folder: Path, show: Callable[[str], None]) -> None:
        self.port = port
        self.place = secrets.token_urlsafe(32)
        self.session = secrets.token_urlsafe(32)
        self._page = folder / "open-studio.html"
        self._show = show
        self._good_until: dict[str, float] = {}

    @property
    def home(self) -> str:
        """Where the studio is, for those who have the cookie."""
        return f"/{self.place}/"

    def address(self) -> str:
        """Return an address that lets one browser in, if it comes soon."""
        code = secrets.token_urlsafe(32)
        self._good_until[code] = time.monotonic() + 60 * MINUTES
        return f"http://{HOST}:{self.port}/#{code}"

    def page(self) -> Path:
        """Write a page that leads a browser in, and that nobody but its owner can read."""
        descriptor = os.open(self._page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(PAGE.format(address=self.address()))
        return self._page

    def admits(self, code: object) -> bool:
        """Return whether a code is good, which it is no more; show another for one that was."""
        if not isinstance(code, str) or code not in self._good_until:
            return False
        is_good = time.monotonic() < self._good_until[code]
        self._good_until[code] = 0.0
        if is_good:
            self._page.unlink(missing_ok=True)
        else:
            self._show(self.address())
        return is_good

    def knows(self, path: str, cookie: str) -> bool:
        """Return whether somebody who has the cookie asks for something in its place."""
        _, first, *_ = (*path.split("/"), "")
        has_place = hmac.compare_digest(first.encode(), self.place.encode())
        return has_place and hmac.compare_digest(cookie.encode(), self.session.encode())


class Doorkeeper:
    """Lets through what comes from the studio's own page, and says nothing to anybody else."""

    def __init__(self, app: ASGIApp, entrance: Entrance) -> None:
        self.app = app
        self.entrance = entrance
        self.hosts = tuple(f"{name}:{entrance.port}" for name in LOCAL_NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and add headers to the answer."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and self._may_ask(scope):
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "http":
            await PlainTextResponse("Not found.", 404, HEADERS)(scope, receive, send)

    def _may_ask(self, scope: Scope) -> bool:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if headers.getlist("host") not in [[host] for host in self.hosts]:
            return False
        if path in OUTSIDE and method in READS:
            return True
        was_let_in = path == DOOR or any(
            self.entrance.knows(path, cookie) for cookie in _cookies(headers)
        )
        return was_let_in and self._is_own_page(method, headers)

    def _is_own_page(self, method: str, headers: Headers) -> bool:
        """Browsers name the origin of every request that changes something."""
        origin, own = headers.get("origin"), f"http://{headers['host']}"
        from_here = origin == own or (origin is None and method in READS)
        return from_here and headers.get("sec-fetch-site") in SAME_SITE


def _cookies(headers: Headers) -> list[str]:
    """Return all cookies of our name: a page at another port may have set one beside ours."""
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
