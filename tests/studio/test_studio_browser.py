"""The whole way in headless Chromium: from a file to a report, by pointer and by keyboard."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from studio_client import girls
from typer.testing import CliRunner

import dpgp
from chromium import launched, missing
from dpgp import Ledger
from dpgp.cli import app
from dpgp.cli.people import read_people
from dpgp.privacy import noise
from dpgp.studio.asked import PAPERS

pytestmark = pytest.mark.browser

SLOW = 120_000  # milliseconds that a forecast or a fit may take on a busy machine
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


class Run:
    """A studio in a process of its own, with a folder for everything it is given and writes."""

    def __init__(self, folder):
        self.folder = folder
        script = Path(__file__).with_name("run_studio.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(folder / "results")],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address, self.page = self.says(), self.says()
        self.origin = self.address.partition("#")[0]

    def says(self):
        return self.process.stdout.readline().strip()

    def end(self):
        """Press Ctrl-C, and return what is printed after it."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)[0]


@pytest.fixture
def run(tmp_path):
    started = Run(tmp_path)
    yield started
    if started.process.poll() is None:
        started.end()
    assert started.process.returncode == 0


@pytest.fixture
def page(browser, run):
    """A page of the studio; nothing may go wrong in it, and nothing leave this machine."""
    troubles, requests = [], []
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.set_default_timeout(SLOW)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(run.address)
    yield page
    page.close()
    assert [
        url for url in requests if not url.startswith((run.origin, "data:", "blob:", "about:"))
    ] == []
    assert [text for text in troubles if "400" not in text] == []


def test_each_browser_gets_in_once_with_a_code_of_its_own(browser, run):
    """By the file that a browser is opened on, by the address, and by the next address."""

    def visit(address):
        page = browser.new_context().new_page()
        page.goto(address)
        return page

    file = Path(run.page.removeprefix("file://"))
    assert file.exists()
    by_file = visit(run.page)
    by_file.wait_for_selector("#upload")
    assert not file.exists()
    home = by_file.url
    assert re.fullmatch(re.escape(run.origin) + r"[\w-]{43}/", home)
    by_file.reload()
    by_file.wait_for_selector("#upload")
    assert by_file.evaluate("document.cookie") == ""
    by_file.go_back()
    assert by_file.url == "about:blank"  # the history has nothing of the way in

    visit(run.address).wait_for_selector("#upload")
    late = visit(run.address)
    late.wait_for_selector("text=The studio stays closed")
    accessible(late)
    assert late.url == run.origin
    another = run.says()
    assert another.partition("#")[0] == run.origin
    late.goto(another)
    late.wait_for_selector("#upload")

    assert visit(home).inner_text("body") == "Not found."


def accessible(page):
    """No violation that axe finds, in light and in dark, and no sideways scrolling on a phone."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python is not installed; `make test-slow` installs it.")
    size = page.viewport_size
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options={"iframes": False})
        assert found.violations_count == 0, found.generate_report()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.set_viewport_size(size)


def upload(page, path):
    page.set_input_files("#upload", path)


def say_columns(page, roles, rows, **bounds):
    for k, role in roles.items():
        page.select_option(f"#role-{k}", role)
    for field, value in bounds.items():
        page.fill(f"#{field.replace('_', '-')}", value)
    page.fill("#rows", str(rows))


def go_on(page):
    page.get_by_role("button", name="Continue").click()


def fit(page):
    """Consent on the page of the budget, and wait for the end."""
    page.wait_for_selector("#forecast .facts")
    go_on(page)
    page.check("#agree")
    page.get_by_role("button", name=re.compile("^Spend ε")).click()


@pytest.fixture
def demo(tmp_path):
    """The table of the demo, of whom one in four, and some of them incomplete."""
    people = read_people()
    table = np.column_stack([people.X, people.height])[::4]
    lines = [",".join("" if np.isnan(x) else f"{x:g}" for x in row) for row in table]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,weight_kg,height_cm", *lines]) + "\n", encoding="utf-8")
    return path, len(table)


def seeded_command(monkeypatch, *arguments):
    """The command line with the noise of the seeded worker."""
    monkeypatch.setattr(noise, "noise_source", lambda _: noise.SimulatedNoise(0))
    result = CliRunner().invoke(app, [str(a) for a in (*arguments, "--yes")])
    assert result.exit_code == 0, result.output


def same_models(one, other, X):
    ours, theirs = dpgp.load(one), dpgp.load(other)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.certificate.releases == theirs.certificate.releases


def test_the_whole_way_on_the_people_of_the_demo(page, run, demo, monkeypatch):
    path, rows = demo
    page.wait_for_selector("#upload")
    accessible(page)
    page.click("#tab-ledger")
    page.wait_for_selector("#new-path")
    accessible(page)
    assert page.input_value("#new-path").endswith("study.ledger")
    page.fill("#new-path", str(run.folder / "study.ledger"))
    page.check("#protects-row")
    page.check("#neighbours-add-remove")
    page.get_by_role("button", name="Create the ledger").click()
    page.wait_for_selector("text=History")
    page.click("#tab-study")

    upload(page, path)
    page.wait_for_selector("#role-0")
    accessible(page)
    go_on(page)
    assert page.evaluate("document.activeElement.id") == "roles"
    assert "Choose a column to predict." in page.inner_text("#roles-fault")
    accessible(page)
    say_columns(page, {0: "number", 1: "number", 2: "target"}, rows)
    for button in page.locator(".hint button").all():
        button.click()
    page.fill("#high-0", "80")
    page.fill("#title", "Height <b>& more</b>")
    page.check("#missing-ignore")
    page.check("#secret-rows")
    accessible(page)
    go_on(page)

    page.wait_for_selector("#forecast polyline.line")
    accessible(page)
    before = page.inner_text("#forecast .facts")
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#epsilon") == "2"
    page.wait_for_selector("text=at most 89 % sure")
    assert page.inner_text("#forecast .facts") != before
    page.fill("#error", "5")
    page.click("#find")
    page.wait_for_selector("#find:enabled")
    assert 0 < float(page.input_value("#epsilon")) < 2
    page.fill("#epsilon", "1")
    page.keyboard.press("Tab")
    fit(page)

    page.wait_for_selector("#progress")
    accessible(page)
    page.wait_for_selector("iframe.report")
    accessible(page)
    assert page.inner_text("h1") == "Height <b>& more</b>"
    report = page.frame_locator("iframe.report")
    assert report.locator("h1").inner_text() == "Height <b>& more</b>"
    report.locator("#input-0").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="model.json").click()
    model = run.folder / "downloaded.json"
    download.value.save_as(model)
    found = page.locator(".papers a").all_inner_texts()
    assert found == [paper.name for paper in PAPERS]

    page.click("#tab-ledger")
    page.wait_for_selector("text=SIMULATION, NOT PRIVATE")
    page.set_input_files("#verify", model)
    page.wait_for_selector("text=downloaded.json does NOT hold what it promises")
    accessible(page)

    (folder,) = (run.folder / "results").iterdir()
    other = run.folder / "command.json"
    study = folder / "study.yaml"
    Ledger(run.folder / "study.ledger").check()
    seeded_command(monkeypatch, "fit", path, "--study", study, "-o", other)
    same_models(model, other, [[10.0, 30.0], [40.0, 80.0]])
    assert run.end() == ""


def test_levels_are_one_a_line_or_between_commas(page):
    page.wait_for_selector("#upload")
    read = """async (text) => {
        const study = await import(document.scripts[0].src.replace("studio.js", "study.js"));
        return study.levelsOf(text);
    }"""
    for text, levels in {
        "m, w": ["m", "w"],
        "early, 8 h\nlate; 16 h\n": ["early, 8 h", "late; 16 h"],
        '"a, b"; c "d", """e"""': ["a, b", 'c "d"', '"e"'],
        " ": [],
    }.items():
        assert page.evaluate(read, text) == levels


AWKWARD = '\ufeffid;"Größe; cm";age: years;Sex;no\r\n'


def test_an_awkward_file_by_keyboard_alone(page, run, monkeypatch):
    rng = np.random.default_rng(0)
    age = rng.uniform(2, 18, 300)
    rows = [f"p{k // 3};{80 + 5 * a:.1f};{a:.2f};{'mw'[k % 2]};x" for k, a in enumerate(age)]
    path = run.folder / "Größe 'n' all.csv"
    path.write_bytes((AWKWARD + "\r\n".join(rows) + "\r\n").encode())

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)

    def tab_to(selector):
        for _ in range(60):
            if page.evaluate(f"document.activeElement.matches({selector!r})"):
                return
            press("Tab")
        raise AssertionError(f"{selector} cannot be reached")

    page.wait_for_selector("#path")
    tab_to("#path")
    page.keyboard.type(str(path))
    press("Enter")
    page.wait_for_selector("#role-1")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    tab_to("#role-1")
    page.keyboard.type("predict it")
    tab_to("#low-1")
    page.keyboard.type("70")
    press("Tab")
    page.keyboard.type("190,5")
    tab_to("#role-2")
    page.keyboard.type("predict from it: a n")
    tab_to("#low-2")
    page.keyboard.type("2")
    press("Tab")
    page.keyboard.type("18")
    tab_to("#role-3")
    page.keyboard.type("predict from it: a c")
    tab_to("#levels-3")
    page.keyboard.type("m, w")
    tab_to("#several-no")
    press("ArrowDown")
    tab_to("#unit")
    page.keyboard.type("id")
    tab_to("#most-rows")
    press("Control+A")
    page.keyboard.type("3")
    tab_to("#rows")
    page.keyboard.type("300")
    press("Enter")
    page.wait_for_selector("#forecast .facts")
    tab_to("#epsilon")
    press("Control+A")
    page.keyboard.type("2")
    press("Tab")
    page.wait_for_selector("text=at most 89 % sure")
    tab_to("button.primary")
    press("Enter")
    page.wait_for_selector("#agree")
    accessible(page)
    tab_to("#agree")
    press("Space")
    tab_to("button.primary")
    press("Enter")
    page.wait_for_selector("iframe.report")

    (folder,) = (run.folder / "results").iterdir()
    other = run.folder / "command.json"
    columns = ["--target", "Größe; cm:70:190.5", "--feature", "age: years:2:18"]
    columns += ["--category", "Sex:m,w"]
    people = ["--unit", "id", "--max-rows-per-unit", 3, "--epsilon", 2, "--delta", 1e-6]
    seeded_command(monkeypatch, "fit", path, *columns, *people, "-o", other)
    same_models(folder / "model.json", other, [[10.0, "m"], [4.0, "w"]])


def people(run, rows=600):
    """A table of made-up people: who is ill, and how often they saw a doctor."""
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, rows)
    ill = np.where(rng.random(rows) < age / 100, "yes", "no")
    visits = rng.poisson(age / 20)
    lines = [f"{a:.1f},{i},{v}" for a, i, v in zip(age, ill, visits, strict=True)]
    path = run.folder / "people.csv"
    path.write_text("\n".join(["age,ill,visits", *lines]) + "\n", encoding="utf-8")
    return path


def to_columns(page, run, kind, target):
    path = people(run)
    page.wait_for_selector("#upload")
    upload(page, path)
    page.wait_for_selector("#role-0")
    page.check(f"#kind-{kind}")
    say_columns(page, {0: "number", target: "target"}, 600, low_0="18", high_0="80")
    return path


NUMBERS = {
    "1,5": (1.5, None), "2.9": (2.9, None), "0,125": (0.125, None), "\u22123": (-3, -3),
    "2,900": (None, 2900), "12,000,000": (12000000, 12000000), "2 900": (2900, 2900),
    "2,900.5": (2900.5, None), "2.900,5": (2900.5, None), "1e-6": (1e-6, None),
    "12,34,567": (None, None), "one": (None, None), "": (None, None),
}  # fmt: skip


def test_numbers_are_read_as_people_type_them(page, run):
    page.wait_for_selector("#upload")
    read = "async (text) => { const dom = await import(`${location.pathname}assets/dom.js`); "
    read += "return [dom.numberOf(text), dom.countOf(text)]; }"
    for text, expected in NUMBERS.items():
        assert page.evaluate(read, text) == list(expected), text


def test_a_number_that_may_be_two_is_asked_for_again_and_a_count_is_not(page, run):
    page.wait_for_selector("#upload")
    upload(page, people(run))
    page.wait_for_selector("#role-0")
    go_on(page)
    assert page.locator("#roles-fault").count() == 1
    say_columns(page, {0: "number", 2: "target"}, "2,900", low_0="18", high_0="80", low_2="0")
    assert page.locator("#roles-fault").count() == 0  # whichever column was chosen
    page.fill("#high-2", "2,900")
    go_on(page)
    words = "Write 2900 or 2.9: 2,900 may be either."
    assert page.inner_text("#high-2-fault") == words
    assert page.locator(".fault").count() == 1
    page.fill("#high-2", "2 900")
    go_on(page)
    page.wait_for_selector("#forecast .facts")
    go_on(page)
    page.wait_for_selector("#agree")
    assert "visits, from 0 to 2900" in page.inner_text("dl")
    assert "2,900" in page.inner_text("dl")


def test_a_model_that_is_removed_is_missed_on_its_page(page, run):
    to_columns(page, run, "counts", 2)
    page.fill("#low-2", "0")
    page.fill("#high-2", "20")
    go_on(page)
    fit(page)
    page.wait_for_selector("iframe.report")
    shutil.rmtree(run.folder / "results")
    page.reload()
    page.wait_for_selector("text=is no longer in")
    assert "stays spent: count all of it, ε = 1" in page.inner_text(".warning")
    assert page.locator("iframe, .papers").count() == 0
    accessible(page)


def test_yes_or_no(page, run, monkeypatch):
    path = to_columns(page, run, "classes", 1)
    page.select_option("#role-2", "target")
    go_on(page)
    assert "predicted alone" in page.inner_text("#role-2-fault")
    assert "first class" in page.inner_text("#no-1-fault")
    accessible(page)
    page.select_option("#role-2", "none")
    page.fill("#no-1", "no")
    page.fill("#yes-1", " yes ")
    go_on(page)
    page.wait_for_selector("#forecast .facts")
    before = page.inner_text("#forecast .facts")
    assert "the probability of ill = yes" in before
    page.fill("#prevalence", "200")
    go_on(page)
    assert "between 0 and 100" in page.inner_text("#prevalence-fault")
    accessible(page)
    page.fill("#prevalence", "5")
    page.keyboard.press("Tab")
    page.wait_for_function(
        "(before) => ![before, ''].includes(document.querySelector('.facts')?.innerText ?? '')",
        arg=before,
    )
    fit(page)
    page.wait_for_selector("iframe.report")
    assert page.locator(".warning").count() == 0
    accessible(page)
    (folder,) = (run.folder / "results").iterdir()
    other = run.folder / "command.json"
    columns = ["--classes", "ill:no,yes", "--feature", "age:18:80"]
    budget = ["--epsilon", 1, "--delta", 1e-6]
    seeded_command(monkeypatch, "fit", path, *columns, *budget, "-o", other)
    same_models(folder / "model.json", other, [[30.0], [70.0]])


def test_counts(page, run, monkeypatch):
    path = to_columns(page, run, "counts", 2)
    page.fill("#low-2", "-1")
    page.fill("#high-2", "20")
    go_on(page)
    assert "never below 0" in page.inner_text("#low-2-fault")
    page.fill("#low-2", "0")
    go_on(page)
    page.wait_for_selector("#forecast .facts")
    go_on(page)
    page.wait_for_selector("#agree")
    assert "visits, from 0 to 20, counted in whole numbers" in page.inner_text("dl")
    accessible(page)
    page.go_back()
    fit(page)
    page.wait_for_selector("iframe.report")
    (folder,) = (run.folder / "results").iterdir()
    other = run.folder / "command.json"
    columns = ["--target", "visits:0:20", "--counts", "--feature", "age:18:80"]
    budget = ["--epsilon", 1, "--delta", 1e-6]
    seeded_command(monkeypatch, "fit", path, *columns, *budget, "-o", other)
    same_models(folder / "model.json", other, [[30.0], [70.0]])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1,2\n3,4\n", "does not name the columns"),
        ("age,größe\n1,2\n".encode("utf-16"), "UTF-8"),
        (b"", "does not name the columns"),
        (b"PAR1xxxx", "damaged"),
    ],
)
def test_files_that_are_no_tables(page, run, content, words):
    path = run.folder / "table.csv"
    path.write_bytes(content)
    page.wait_for_selector("#upload")
    upload(page, path)
    page.wait_for_selector(".alarm")
    assert words in page.inner_text(".alarm")
    assert page.evaluate("document.activeElement.className") == "alarm"
    accessible(page)


LASTING = 400_000
"""Rows of a fit that a page sees in its stages before it is over."""


def to_consent(page, run, content=None, rows=300):
    path = run.folder / "girls.csv"
    path.write_text(girls(rows) if content is None else content, encoding="utf-8")
    page.wait_for_selector("#upload")
    upload(page, path)
    page.wait_for_selector("#role-0")
    bounds = {"low_0": "2", "high_0": "18", "low_1": "70", "high_1": "190"}
    say_columns(page, {0: "number", 1: "target"}, rows, **bounds)
    go_on(page)


def test_a_missing_cell_is_found_before_anything_is_spent(page, run):
    to_consent(page, run, "age,height_cm\n" + "3,90\n" * 40 + "5,\n")
    fit(page)
    page.wait_for_selector("#spent")
    words = page.inner_text("#spent")
    assert "column 'height_cm' has missing cells" in words.lower()
    assert "“contribute nothing”" in words
    assert words.endswith("Nothing was spent.")
    accessible(page)
    page.get_by_role("link", name="Change the study").click()
    assert page.input_value("#low-0") == "2"  # what was typed is still there


def test_cancelling_says_what_was_spent(page, run):
    to_consent(page, run, rows=LASTING)
    fit(page)
    page.wait_for_selector("text=/Stage [2-6] of/")
    page.click("#cancel")
    page.wait_for_selector("#spent")
    assert "Spent by then:" in page.inner_text("#spent")
    assert "stage 1" in page.inner_text("#spent")
    accessible(page)
    (folder,) = (run.folder / "results").iterdir()
    assert "Spent by then:" in (folder / "spent.txt").read_text(encoding="utf-8")
    page.click("#tab-study")
    page.wait_for_selector("text=was stopped")


def test_two_tabs_spend_once_and_ctrl_c_says_what(page, run):
    to_consent(page, run, rows=LASTING)
    page.wait_for_selector("#forecast .facts")
    go_on(page)
    page.check("#agree")
    spend = page.get_by_role("button", name=re.compile("^Spend ε"))
    spend.evaluate("(button) => { button.form.requestSubmit(); button.form.requestSubmit(); }")
    page.wait_for_selector("text=/Stage [2-6] of/")
    page.goto("about:blank")  # it would go on asking
    printed = run.end()
    assert "Spent by then:" in printed
    assert len(list((run.folder / "results").iterdir())) == 1
