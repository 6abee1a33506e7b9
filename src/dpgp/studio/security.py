"""Who may ask the studio: the browser that was given its address, on this machine, and nobody else.

A page of another site can make a browser send requests here, but it knows neither the token nor can
it forge the headers ``Host``, ``Origin`` and ``Sec-Fetch-Site``, which are checked first.
"""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_NAMES = ("127.0.0.1", "localhost")
SAME_SITE = (None, "none", "same-origin")
READS = ("GET", "HEAD")

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

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = tuple(f"{name}:{port}" for name in LOCAL_NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and add headers to the answer."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and self._may_ask(scope):
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "http":
            await PlainTextResponse("Not found.", 404, HEADERS)(scope, receive, send)

    def _may_ask(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        return (
            headers.getlist("host") in [[host] for host in self.hosts]
            and self._is_own_page(scope["method"], headers)
            and self._knows_token(scope["path"])
        )

    def _is_own_page(self, method: str, headers: Headers) -> bool:
        """Browsers name the origin of every request that changes something."""
        origin, own = headers.get("origin"), f"http://{headers['host']}"
        from_here = origin == own or (origin is None and method in READS)
        return from_here and headers.get("sec-fetch-site") in SAME_SITE

    def _knows_token(self, path: str) -> bool:
        _, first, *_ = (*path.split("/"), "")
        return hmac.compare_digest(first.encode(), self.token.encode())


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
