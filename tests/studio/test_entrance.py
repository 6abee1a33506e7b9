"""A code lets one browser in, once and soon, and no command line shows it."""

import json
import os
import re
import sys
import webbrowser
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from studio_client import HOST, OWN, PLACE, SESSION, application_of
from test_security import STRANGERS, without

from dpgp.studio import entrance as entrances
from dpgp.studio.server import open_browser

OUTSIDE = without("cookie")


@pytest.fixture
def door(open_studio):
    """Return a function that comes with a code, the entrance, and the addresses that it shows."""
    client, studio = open_studio()
    shown = []
    client.app, entrance = application_of(studio, shown.append)

    def come(code, headers=OUTSIDE):
        return client.send("POST", "/enter", headers, content=json.dumps({"code": code}))

    return come, entrance, shown


def code_of(address):
    assert address.startswith(f"http://{HOST}/#")
    code = urlsplit(address).fragment
    assert len(code) >= 43  # 256 bits
    return code


def test_a_code_is_exchanged_for_a_cookie_that_opens_the_studio(door, client):
    come, entrance, shown = door
    response = come(code_of(entrance.address()))
    assert response.json() == {"home": f"/{PLACE}/"}
    cookie, *rest = response.headers["set-cookie"].split("; ")
    assert cookie == f"dpgp-studio={SESSION}"
    assert {"httponly", "samesite=strict", f"path=/{plain(PLACE)}/"} == {plain(r) for r in rest}
    assert client.send("GET", f"/{PLACE}/", {"host": HOST, "cookie": cookie}).status_code == 200
    assert shown == []


def plain(text):
    return text.casefold()


def refused(response):
    assert response.status_code == 403
    assert "terminal shows last" in response.json()["message"]
    assert "set-cookie" not in response.headers
    return True


def test_a_code_works_once_and_opened_again_shows_another(door):
    come, entrance, shown = door
    code = code_of(entrance.address())
    assert come(code).status_code == 200
    assert refused(come(code))
    (another,) = shown
    assert come(code_of(another)).status_code == 200
    assert refused(come(code_of(another)))


def test_a_code_is_good_for_some_minutes(door, monkeypatch):
    come, entrance, shown = door
    now = entrances.time.monotonic()
    early, late = code_of(entrance.address()), code_of(entrance.address())
    monkeypatch.setattr(entrances.time, "monotonic", lambda: now + 60 * entrances.MINUTES - 1)
    assert come(early).status_code == 200
    monkeypatch.setattr(entrances.time, "monotonic", lambda: now + 60 * entrances.MINUTES + 1)
    assert refused(come(late))
    assert len(shown) == 1


@pytest.mark.parametrize(
    "code", ["", None, 0, [], {}, True, "x" * 43, "\0", PLACE, SESSION, "é", ["x"]]
)
def test_who_guesses_learns_nothing_and_shows_nothing(door, code):
    come, entrance, shown = door
    good = code_of(entrance.address())
    page = entrance.page()
    assert refused(come(code))
    assert shown == []
    assert page.exists()
    assert come(good).status_code == 200


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=list(STRANGERS))
def test_no_other_site_may_try_a_code(door, headers):
    come, entrance, _ = door
    code = code_of(entrance.address())
    assert come(code, headers).status_code == 404
    assert come(code).status_code == 200


@pytest.mark.parametrize("content", ["", "[]", "{", b"\xff"])
def test_what_is_no_code_is_refused(client, content):
    assert client.send("POST", "/enter", OUTSIDE, content=content).status_code == 400


def test_the_page_outside_may_be_read_from_anywhere_on_this_machine_and_has_no_secret(client):
    from_a_file = {"host": HOST, "sec-fetch-site": "cross-site"}
    page = client.send("GET", "/", from_a_file)
    assert page.status_code == 200
    for name in re.findall(r'(?:src|href)="(assets/[^"]+)"', page.text):
        asset = client.send("GET", f"/{name}", from_a_file)
        assert asset.status_code == 200
        assert PLACE not in asset.text + page.text
    assert client.send("GET", "/", {**from_a_file, "host": "attacker.example"}).status_code == 404


@pytest.fixture
def command_lines(tmp_path, monkeypatch):
    """A browser that writes down its command line, as everybody on the machine can read it."""
    script, seen = tmp_path / "browser", tmp_path / "seen.txt"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(seen)!r}, 'w').write(repr(sys.argv))\n"
    )
    script.chmod(0o700)
    monkeypatch.setattr(webbrowser, "_tryorder", [str(script)])
    monkeypatch.setitem(
        webbrowser._browsers, str(script), [None, webbrowser.GenericBrowser([str(script), "%s"])]
    )
    return lambda: seen.read_text()


def test_no_command_line_has_a_secret(door, command_lines):
    come, entrance, _ = door
    open_browser(entrance.page())
    seen = command_lines()
    secrets = [PLACE, SESSION, *entrance._good_until]
    assert len(secrets) == 3
    assert not [secret for secret in secrets if secret in seen]
    (address,) = re.findall(r"file://[^']+", seen)
    page = entrances.Path(url2pathname(urlsplit(address).path))
    (leads_to,) = set(re.findall(r"http://[^\"]+", page.read_text(encoding="utf-8")))
    assert come(code_of(leads_to)).status_code == 200
    assert not page.exists()


def test_only_its_owner_can_read_the_page(door):
    _, entrance, _ = door
    before = os.umask(0)
    try:
        page = entrance.page()
    finally:
        os.umask(before)
    assert page.stat().st_mode & 0o777 == 0o600
    assert page.parent.stat().st_mode & 0o777 == 0o700


def test_the_page_goes_with_the_studio(open_studio):
    _, studio = open_studio()
    page = application_of(studio)[1].page()
    studio.close()
    assert not page.exists()


def test_a_cookie_of_another_studio_opens_nothing(client):
    other = {**OWN, "cookie": f"dpgp-studio=x; dpgp-studio={SESSION}x"}
    assert client.send("GET", f"/{PLACE}/", other).status_code == 404
