"""What the build of the documentation site does not check, or only after minutes."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import tomllib
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot
from typer.testing import CliRunner

from dpgp.cli import app

DOCS = Path(__file__).parents[1] / "docs"
README = DOCS.parent / "README.md"
PAGES = [page for page in DOCS.rglob("*.md") if "_build" not in page.parts]
RUN_ELSEWHERE = {"model-file.md", "report.md"}  # by tests, and in tutorials/publishing.md


@pytest.fixture(scope="module")
def check_links():
    return runpy.run_path(str(DOCS / "check_links.py"))


def test_links_lead_somewhere(check_links):
    assert check_links["broken_links"]() == []


def test_documents_that_code_names_exist(check_links):
    assert check_links["missing_documents"]() == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_are_run_when_the_site_is_built(page):
    text = page.read_text(encoding="utf-8")
    assert "```python" not in text or page.name in RUN_ELSEWHERE
    assert "{code-cell}" not in text or text.startswith("---\nfile_format: mystnb\n")


@pytest.fixture
def girls(tmp_path, monkeypatch):
    """A folder with the table that README speaks of."""
    (tmp_path / "examples").mkdir()
    shutil.copy(DOCS.parent / "examples/girls.csv", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    return tmp_path / "examples"


def test_the_made_up_table_is_what_its_script_writes():
    script = runpy.run_path(str(DOCS.parent / "examples/make_girls.py"))
    table = (DOCS.parent / "examples/girls.csv").read_text(encoding="utf-8")
    assert script["make_girls"]() == table


def readme_blocks(language):
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_python_of_the_readme_runs(girls, capsys):
    mpl.use("Agg")
    (example,) = readme_blocks("python")
    exec(example, {})
    pyplot.close("all")
    assert "(1, 1e-06)-differential privacy" in capsys.readouterr().out
    assert (girls / "girls-in-python.json").exists()


def test_commands_of_the_readme_run(girls, monkeypatch):
    _, example = readme_blocks("sh")
    monkeypatch.chdir(girls.parent)
    for line in example.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(line)
        if program == "cd":
            monkeypatch.chdir(arguments[0])
            continue
        answer = ["--yes"] if arguments[0] == "fit" else []
        result = CliRunner().invoke(app, arguments + answer)
        assert result.exit_code == 0, result.output
    assert (girls / "girls.html").exists()


def test_extras_that_are_named_exist():
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [page.read_text(encoding="utf-8") for page in (*PAGES, README)]
    texts += [path.read_text(encoding="utf-8") for path in (DOCS.parent / "src").rglob("*.py")]
    named = {
        extra
        for text in texts
        for found in re.findall(r"pip install ['\"]?\.\\*\[([\w,]+)\]|install\('(\w+)'\)", text)
        for extra in "".join(found).split(",")
    }
    assert {"demo", "studio", "onnx", "sign"} <= named
    assert named <= set(project["optional-dependencies"])
