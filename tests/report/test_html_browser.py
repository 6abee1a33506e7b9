"""The page in headless Chromium: from a file, without a network, by keyboard and by pointer."""

import numpy as np
import pytest
from level_names import LEVELS
from level_names import fitted as with_levels
from numpy.testing import assert_allclose
from report_models import AWKWARD, fitted, named, predictions

from chromium import launched
from dpgp.report.html import report_html

pytestmark = pytest.mark.browser

COLUMNS = ("mean", "functionLow", "functionHigh", "lower", "upper")


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.fixture
def open_report(browser, tmp_path):
    """Return a function that opens a model's report; nothing may go wrong or leave the file."""
    troubles, requests, pages = [], [], []

    def open_one(name, width=1280, height=900, **options):
        path = tmp_path / "report.html"
        model = fitted(name) if isinstance(name, str) else name
        path.write_text(report_html(model, **options), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield open_one
    for page in pages:
        page.close()
    assert troubles == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert sum(url.startswith("file:") for url in requests) == len(pages)


def numbers(page, plot):
    """The table of a plot, in full precision."""
    cells = page.locator(f"#{plot}-numbers tbody data")
    values = cells.evaluate_all("nodes => nodes.map((node) => Number(node.value))")
    return np.array(values).reshape(-1, 1 + len(COLUMNS))


def slider(page, k):
    return float(page.locator(f"#input-{k}").input_value())


def check_curve(page, name, plot, axis, target=0):
    """The curve is Python's, at the point the sliders are at."""
    gp = fitted(name)
    table = numbers(page, plot)
    X = np.tile([slider(page, k) for k in range(gp.options.columns)], (len(table), 1))
    X[:, axis] = table[:, 0]
    assert_allclose(X[[0, -1], axis], [0.0, 10.0])
    expected = predictions(gp, X, target)
    for column, key in enumerate(COLUMNS, start=1):
        assert_allclose(table[:, column], expected[key], rtol=0, atol=1e-6, err_msg=key)
    return table


def test_keys_on_a_slider_change_the_curve_to_what_python_predicts(open_report):
    page = open_report("two inputs")
    before = check_curve(page, "two inputs", "curve-1", axis=1)
    was = slider(page, 0)
    page.focus("#input-0")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    assert slider(page, 0) > was
    after = check_curve(page, "two inputs", "curve-1", axis=1)
    assert np.abs(after - before).max() > 1e-3
    page.keyboard.press("Home")
    assert slider(page, 0) == 0.0
    check_curve(page, "two inputs", "curve-1", axis=1)
    check_curve(page, "two inputs", "curve-0", axis=0)


def test_many_inputs_are_seen_one_at_a_time(open_report):
    page = open_report("five inputs")
    check_curve(page, "five inputs", "curve-0", axis=0)
    page.select_option("#axis", "2")
    page.focus("#input-0")
    page.keyboard.press("End")
    assert slider(page, 0) == 10.0
    check_curve(page, "five inputs", "curve-0", axis=2)


def test_categories_are_chosen_and_drawn_level_by_level(open_report):
    page = open_report("categories")
    assert page.locator("#input-2 option").all_inner_texts() == ["</script>", "b", "c", "4"]
    page.select_option("#axis", "2")
    page.select_option("#input-1", "1")
    table, gp = numbers(page, "curve-0"), fitted("categories")
    X = np.tile([slider(page, k) for k in range(3)], (4, 1))
    X[:, 2] = np.arange(4.0)
    assert_allclose(table[:, 0], X[:, 2])
    expected = predictions(gp, X, 0)
    for column, key in enumerate(COLUMNS, start=1):
        assert_allclose(table[:, column], expected[key], rtol=0, atol=1e-6, err_msg=key)


def test_several_targets_have_a_selector(open_report):
    page = open_report("several targets")
    first = check_curve(page, "several targets", "curve-0", axis=0)
    page.select_option("#target", "1")
    second = check_curve(page, "several targets", "curve-0", axis=0, target=1)
    assert np.abs(first - second).max() > 0.1


def test_layers_of_the_map(open_report):
    page = open_report("two inputs")

    def picture():
        return page.locator("#map image").get_attribute("href")

    mean = picture()
    page.get_by_label("uncertainty of the function").check()
    uncertain = picture()
    assert uncertain != mean
    assert "uncertainty" in page.locator("#map svg").get_attribute("aria-label")
    page.get_by_label("mark where little is known").uncheck()
    assert page.locator("#map .unsure").count() == 0
    page.get_by_label("dots where the data are").check()
    assert page.locator("#map .atoms circle").count() > 0
    page.get_by_label("mean", exact=True).check()
    assert page.locator("#map .atoms circle").count() > 0


def test_pointer_reads_and_moves_the_point(open_report):
    page = open_report("one input")
    page.locator("#curve-0 > svg").scroll_into_view_if_needed()
    box = page.locator("#curve-0 > svg").bounding_box()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"])
    assert "mean target" in page.locator(".tip").inner_text()
    before = slider(page, 0)
    readout = page.locator(".readout").inner_text()
    page.mouse.down()
    page.mouse.up()
    assert slider(page, 0) > before
    assert page.locator(".readout").inner_text() != readout


@pytest.mark.parametrize("name", ["one input", "two inputs", "five inputs"])
def test_phones_need_not_scroll_sideways(open_report, name):
    page = open_report(name, width=390, height=844, title="An_unbroken_" + "title" * 30)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    narrow = page.locator(".plot > svg").first.bounding_box()["width"]
    assert 250 < narrow <= 390


def test_awkward_names_are_text(open_report):
    page = open_report(named(AWKWARD), width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("main b").count() == 0
    assert page.locator("label[for=input-0]").inner_text() == AWKWARD
    assert page.locator("#map svg").get_attribute("aria-label").count(AWKWARD) == 2


def test_print_shows_plots_and_no_controls(open_report):
    page = open_report("two inputs")
    page.emulate_media(media="print")
    assert page.locator("#map svg").is_visible()
    assert page.locator(".readout").is_visible()
    assert not page.locator("#input-0").is_visible()
    assert not page.locator("#map-numbers").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", ["two inputs", "five inputs"])
def test_the_certificate_is_on_one_page_of_paper(open_report, name):
    page = open_report(name, width=680, height=1000)  # A4 within its margins
    page.emulate_media(media="print")
    certificate = page.locator("section[aria-labelledby=certificate]")
    assert certificate.bounding_box()["height"] < 1000
    breaks = certificate.evaluate("(node) => getComputedStyle(node).breakBefore")
    assert breaks == "page"


def test_without_scripts_there_is_a_picture(browser, tmp_path):
    (tmp_path / "report.html").write_text(report_html(fitted("two inputs")), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, viewport={"width": 375, "height": 800})
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    box = page.locator("noscript img, .still img").first.bounding_box()
    assert 200 < box["width"] <= 375
    context.close()


def test_dark_and_light_have_enough_contrast(open_report):
    page = open_report("one input")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for selector in ("body", ".quiet", ".banner .shout", "figcaption", "summary", "caption"):
            assert contrast(page, selector) >= 4.5, (scheme, selector)


def contrast(page, selector):
    """WCAG 2 contrast of a text with what is behind it."""
    found = page.locator(selector).first.evaluate(
        """(node) => {
          const paint = (at) => getComputedStyle(at).backgroundColor;
          const clear = (at) => paint(at) === "rgba(0, 0, 0, 0)";
          let behind = node;
          while (behind.parentElement && clear(behind)) behind = behind.parentElement;
          return [getComputedStyle(node).color, paint(behind)];
        }"""
    )
    light, dark = sorted((luminance(colour) for colour in found), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    channels = np.array([float(part) for part in colour[colour.index("(") + 1 : -1].split(",")][:3])
    linear = np.where(
        channels <= 0.04045 * 255, channels / 255 / 12.92, ((channels / 255 + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])


OUTSIDE = """() => {
  const wide = document.documentElement.clientWidth + 1, outside = [];
  document.querySelectorAll("main *").forEach((node) => {
    const box = node.getBoundingClientRect();
    if (box.width && !node.closest(".scroll, pre, noscript") && (box.right > wide || box.left < -1))
      outside.push(node.outerHTML.slice(0, 80));
  });
  return outside;
}"""
LABELS = """(pictures) => pictures.flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll(".label")].filter((text) => text.querySelector("tspan"));
  const boxes = texts.map((text) => text.getBoundingClientRect()), troubles = [];
  const words = texts.map((text) => text.textContent);
  if (new Set(words).size < words.length) troubles.push(`the same: ${words}`);
  boxes.forEach((a, k) => {
    if (a.left < frame.left - 2 || a.right > frame.right + 2 || a.bottom > frame.bottom + 1)
      troubles.push(`outside: ${words[k]}`);
    boxes.slice(k + 1).forEach((b) => {
      const shared = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (shared > 1.5) troubles.push(`over: ${words[k]}`);
    });
    const name = svg.querySelector(":scope > .name:last-of-type").getBoundingClientRect();
    if (a.bottom > name.top + 2) troubles.push(`over the name of the axis: ${words[k]}`);
  });
  return troubles;
})"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", LEVELS)
def test_levels_have_room_whatever_they_are_called(open_report, name, width):
    page = open_report(with_levels(name, 1, 2), width=width)
    for axis in ("1", "2"):
        page.select_option("#axis", axis)
        assert page.locator("#curve-0 > svg .label tspan").count() > 1
        assert page.evaluate(OUTSIDE) == []
        assert page.locator("#curve-0 > svg").evaluate_all(LABELS) == []
    assert page.locator(".panel").evaluate_all(LABELS) == []
    panel = page.locator(".controls").bounding_box()
    for select in page.locator(".controls select").all():
        box = select.bounding_box()
        assert box["x"] >= panel["x"]
        assert box["x"] + box["width"] <= panel["x"] + panel["width"]


def test_of_yes_and_no_every_axis_is_a_probability(open_report):
    page = open_report(with_levels("real", 1, 2, yes_no=True))
    names = page.locator("svg .name[transform]").all_text_contents()
    names.remove("observed share")  # of the one plot of what came true
    assert len(names) > 3
    assert all("P(hypertension = yes)" in name for name in names)
    assert page.get_by_label("centiles of new observations").count() == 0
    page.select_option("#axis", "1")
    assert page.locator("#curve-0 .band.observation").count() == 0
