"""Nobody but the studio's own page is answered, and nobody learns why not."""

import re

import pytest
from studio_client import COOKIE, HOST, OWN, PLACE, PORT, SESSION

from dpgp.studio import desk as desks
from dpgp.studio.server import MOST_JSON

HOME = f"/{PLACE}/"
QUESTION = f"/{PLACE}/api/jobs"


def without(*names, **changes):
    return {name: value for name, value in {**OWN, **changes}.items() if name not in names}


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}"])
def test_the_own_page_is_answered(client, host):
    headers = {"host": host, "origin": f"http://{host}", **COOKIE}
    assert client.send("GET", HOME, {"host": host, **COOKIE}).status_code == 200
    assert client.send("POST", QUESTION, headers, content="{}").status_code == 200


STRANGERS = {
    "another host": without(host="attacker.example"),
    "another port": without(host="127.0.0.1:1"),
    "no port": without(host="127.0.0.1"),
    "every address": without(host=f"0.0.0.0:{PORT}"),
    "no host": without("host"),
    "an attacker's name for this machine": without(
        host=f"attacker.example:{PORT}", origin=f"http://attacker.example:{PORT}"
    ),
    "another origin": without(origin="https://attacker.example"),
    "a sandboxed origin": without(origin="null"),
    "an origin of another port": without(origin="http://127.0.0.1:1"),
    "another scheme": without(origin=f"https://{HOST}"),
    "no origin": without("origin"),
    "another site": {**OWN, "sec-fetch-site": "cross-site"},
    "another port of this machine": {**OWN, "sec-fetch-site": "same-site"},
}

BROWSERS_OUTSIDE = {
    "no cookie": without("cookie"),
    "another cookie": without(cookie=f"dpgp-studio={SESSION}x"),
    "an empty cookie": without(cookie="dpgp-studio="),
    "a cookie of another name": without(cookie=f"session={SESSION}"),
    "the place for a cookie": without(cookie=f"dpgp-studio={PLACE}"),
    "no text": without(cookie=b"dpgp-studio=\xff"),
}


@pytest.mark.parametrize("headers", BROWSERS_OUTSIDE.values(), ids=list(BROWSERS_OUTSIDE))
def test_the_place_alone_opens_nothing(client, headers):
    for method, path in (("GET", HOME), ("GET", f"{HOME}assets/studio.js"), ("POST", QUESTION)):
        response = client.send(method, path, headers, content="{}")
        assert (response.status_code, response.text) == (404, "Not found.")


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=list(STRANGERS))
def test_no_other_site_may_ask(client, headers):
    response = client.send("POST", QUESTION, headers, content="{}")
    assert (response.status_code, response.text) == (404, "Not found.")
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "path",
    [
        "/api/jobs",
        "//api/jobs",
        f"/{PLACE}x/",
        f"/{PLACE[:-1]}/",
        "/%00/",
        "/ü/",
        "/assets/studio.js",
    ],
)
def test_nothing_is_there_outside_the_place(client, path):
    for method in ("GET", "POST", "PUT"):
        response = client.send(method, path)
        assert (response.status_code, response.text) == (404, "Not found.")


def test_a_page_of_another_site_cannot_be_told_that_it_may(client):
    headers = without(origin="https://attacker.example")
    preflight = {**headers, "access-control-request-method": "POST"}
    assert client.send("OPTIONS", QUESTION, preflight).status_code == 404
    for response in (client.send("GET", HOME), client.send("POST", QUESTION, content="{}")):
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_answers_are_not_stored_framed_or_sniffed(client):
    asked = client.send("POST", QUESTION, content="{}")
    for response in (client.send("GET", HOME), client.send("GET", "/"), asked):
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["x-content-type-options"] == "nosniff"
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


def test_pages_load_nothing_from_elsewhere(client):
    page = client.send("GET", HOME).text
    names = set(re.findall(r'(?:src|href)="(assets/[^"]+)"', page))
    scripts = client.send("GET", f"{HOME}assets/studio.js").text
    names |= {f"assets/{name}" for name in re.findall(r'from "\./([^"]+)"', scripts)}
    assert len(names) > 5
    for name in names:
        response = client.send("GET", HOME + name)
        assert response.status_code == 200, name
        found = set(re.findall(r"https?://[^\s\"'`]+", response.text))
        assert found <= {"http://www.w3.org/2000/svg"}, name
    assert not re.search(r"https?://", page)


@pytest.mark.parametrize("name", ["..%2f..%2fapp.py", "../app.py", "nothing.js", "%2e%2e", ""])
def test_assets_are_a_fixed_list(client, name):
    assert client.send("GET", f"{HOME}assets/{name}").status_code == 404


@pytest.mark.parametrize("name", ["spent.txt", "..%2fstudy.yaml", "model.json", "%2fetc%2fpasswd"])
def test_papers_are_a_fixed_list_of_fits_that_are_known(client, name):
    assert client.send("GET", f"{HOME}papers/{'0' * 64}/{name}").status_code == 404


@pytest.mark.parametrize("content", ["", "[]", "1", "{", "null", "[" * 100_000, b"\xff\xfe"])
def test_what_is_no_question_is_refused(client, content):
    response = client.send("POST", QUESTION, content=content)
    assert response.status_code == 400
    assert "load it again" in response.json()["message"]


def test_questions_are_bounded(client):
    response = client.send("POST", QUESTION, content=b" " * (MOST_JSON + 1))
    assert (response.status_code, response.json()["message"]) == (400, "The question is too long.")


def test_uploads_are_bounded_and_leave_nothing(open_studio, monkeypatch):
    client, studio = open_studio()
    monkeypatch.setattr(desks, "MOST_BYTES", 2**30 // 2**20)
    refused = client.put("upload", b"age,height\n" + b"1,2\n" * 1000, expect=400)
    assert "type its path" in refused["message"]
    refused = client.put("verify", b"{" * 10_000, expect=400)
    assert list(studio.desk.folder.iterdir()) == []


def test_copies_are_private_and_go_with_the_studio(open_studio):
    client, studio = open_studio()
    folder = studio.desk.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    client.put("upload", b"age,height\n1,2\n", name="..\\..\\c:/girls.csv")
    (copy,) = folder.iterdir()
    assert re.fullmatch("[0-9a-f]{32}", copy.name)
    client.put("upload", b"1,2\n1,2\n", expect=400)
    assert list(folder.iterdir()) == [copy]
    studio.close()
    assert not folder.exists()


def test_a_fault_says_nothing(open_studio, monkeypatch):
    client, studio = open_studio()
    monkeypatch.setattr(studio.jobs, "all", lambda: 1 / 0)
    response = client.send("POST", QUESTION, content="{}")
    assert response.status_code == 500
    assert "division" not in response.text
