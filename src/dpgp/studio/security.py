"""Who may ask the studio: a browser of this machine that was let in, and nobody else.

A page of another site can make a browser send requests here, but it can forge none of the headers
``Host``, ``Origin`` and ``Sec-Fetch-Site``, and its requests come without the cookie.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpgp.studio.entrance import COOKIE, Entrance

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
