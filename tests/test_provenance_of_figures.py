"""Every figure and table of numbers on the pages that claim something says how it was made.

A section that holds one has a line "Made by `COMMAND`, COMMIT, MACHINE.", and the command exists:
an experiment of `dpgp reproduce`, another command, a target of the Makefile, or a script.
"""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from dpgp.cli import app
from dpgp_experiments import REGISTRY

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/comparison.md", "docs/speed.md")
MADE_BY = re.compile(r"Made by `(?P<command>[^`]+)`, [0-9a-f]{7,}[^.\n]*(core|machine)[^.\n]*\.")
FIGURE = re.compile(r"^!\[", re.MULTILINE)
NUMBER = re.compile(r"[*\d.,±()%/∞ −-]*\d[*\d.,±()%/∞ −-]*")


def sections(text):
    """Yield the heading and text of every part of a page, what stands before the first included."""
    for part in re.split(r"^(?=#)", text, flags=re.MULTILINE):
        if part.strip():
            yield part.partition("\n")[0], part


def claims(text):
    """Whether a part shows a picture, or a row of a table with two numbers."""
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("|")]
    numbers = (sum(bool(NUMBER.fullmatch(cell.strip())) for cell in row) for row in rows)
    return bool(FIGURE.search(text)) or any(count >= 2 for count in numbers)


def exists(command):
    program, first, *others = shlex.split(command)
    if program == "make":
        return re.search(rf"^{re.escape(first)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    if program == "python":
        return (ROOT / first).is_file()
    assert program == "dpgp", command
    return others[0] in REGISTRY if first == "reproduce" else first in get_command(app).commands


CLAIMS = [
    (page, heading, text)
    for page in PAGES
    for heading, text in sections((ROOT / page).read_text(encoding="utf-8"))
    if claims(text)
]


@pytest.mark.parametrize(
    ("page", "heading", "text"), CLAIMS, ids=[f"{p}: {h}" for p, h, _ in CLAIMS]
)
def test_what_is_claimed_says_how_it_was_made(page, heading, text):
    found = MADE_BY.search(text)
    assert found, f'{page}, "{heading}": add a line "Made by `COMMAND`, COMMIT, MACHINE."'
    assert exists(found["command"]), found["command"]


def test_every_page_claims_something_and_other_tables_do_not():
    assert {page for page, _, _ in CLAIMS} == set(PAGES)
    assert not claims("| a | b |\n|---|---|\n| 3 layers | 0.01, as in the paper |\n")
    assert claims("| a | **0.79 ± 0.01** | 1.6 (2.0) |\n")


@pytest.mark.parametrize(
    "command", ["make nothing", "python benchmarks/none.py", "dpgp reproduce no"]
)
def test_commands_that_are_not_there_are_noticed(command):
    assert not exists(command)
