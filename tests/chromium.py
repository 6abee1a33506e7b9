"""A headless Chromium for tests that need one."""

import os
import shutil
from contextlib import contextmanager

import pytest

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(reason: str) -> None:
    """Skip, or fail where DPGP_REQUIRE_EXTERNAL=1."""
    if os.environ.get("DPGP_REQUIRE_EXTERNAL") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@contextmanager
def launched():
    """Start the browser, and close it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed; `make test-slow` installs it.")
    chromium = shutil.which("chromium")
    if chromium is None:
        missing("there is no Chromium on the path; install the package chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()
