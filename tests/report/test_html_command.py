"""``dpgp report``: where the page goes, and what is refused in one sentence."""

import pytest
from report_models import fitted
from typer.testing import CliRunner

from dpgp.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    fitted("one input").save(folder / "girls.json")
    return folder


def invoke(*arguments):
    arguments = ["report", *(str(argument) for argument in arguments)]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})


def refused(result, code, *parts):
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def test_writes_beside_the_model_and_says_where(folder):
    result = invoke(folder / "girls.json", "--title", "Girls < 18")
    assert result.exit_code == 0, result.output
    assert str(folder / "girls.html") in result.stdout
    page = (folder / "girls.html").read_text(encoding="utf-8")
    assert "<h1>Girls &lt; 18</h1>" in page
    assert "dpgp.load(&#x27;girls.json&#x27;)" in page
    refused(invoke(folder / "girls.json"), 2, "exists", "--force")
    assert invoke(folder / "girls.json", "--force").exit_code == 0


def test_refuses_what_cannot_be_meant(folder, tmp_path):
    model = folder / "girls.json"
    refused(invoke(model, "-o", model, "--force"), 2, "is read by this command")
    refused(invoke(model, "-o", tmp_path / "none" / "out.html"), 2, "there is no folder")
    refused(invoke(tmp_path / "none.json"), 4, "cannot read")
    (tmp_path / "other.json").write_text("{}")
    refused(invoke(tmp_path / "other.json"), 4, "is no model")
    assert not (tmp_path / "other.html").exists()


def test_an_estimator_writes_the_same_page(folder, tmp_path):
    fitted("one input").report(tmp_path / "page.html", title="Girls")
    assert "<h1>Girls</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")
