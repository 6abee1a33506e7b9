"""What the build of the documentation site does not check, or only after minutes."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
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
    rng = np.random.default_rng(0)
    age, weight = rng.uniform(2, 18, 500), rng.uniform(10, 60, 500)
    height = 75 + 5 * age + 0.3 * weight + 4 * rng.standard_normal(500)
    table = pd.DataFrame({"age": age, "weight_kg": weight, "height_cm": height})
    table.to_csv(tmp_path / "girls.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def readme_blocks(language):
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_python_of_the_readme_runs(girls, capsys):
    mpl.use("Agg")
    (example,) = readme_blocks("python")
    exec(example, {})
    pyplot.close("all")
    assert "(1, 1e-06)-differential privacy" in capsys.readouterr().out
    assert (girls / "girls.json").exists()


def test_commands_of_the_readme_run(girls):
    (example,) = readme_blocks("sh")
    for line in example.replace("\\\n", " ").splitlines():
        _, *arguments = shlex.split(line)
        answer = ["--yes"] if arguments[0] == "fit" else []
        result = CliRunner().invoke(app, arguments + answer)
        assert result.exit_code == 0, result.output
    assert (girls / "girls.html").exists()
