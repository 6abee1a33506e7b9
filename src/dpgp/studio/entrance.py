"""How a browser gets in: by a code that works once, and stands in no command line.

Everybody on a machine can read command lines. So a browser is opened on a file that only its owner
can read. It leads to an address whose fragment, which browsers send to nobody, is a code; the page
there exchanges it for a cookie, by which the studio knows the browser from then on.
"""

from __future__ import annotations

import hmac
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

HOST = "127.0.0.1"
COOKIE = "dpgp-studio"
MINUTES = 10
"""How long a code is good for."""
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
