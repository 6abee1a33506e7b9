"""Commands of other packages: found when asked for, and missed in one sentence."""

import subprocess
import sys

import pytest

import dpgp.cli

PACKAGE = """
import typer

def greet(name: str) -> None:
    \"\"\"Greet somebody.\"\"\"
    typer.echo(f"good day, {name}")
"""
ENTRY_POINTS = """
[dpgp.commands]
greet = greeting:greet
fit = greeting:greet
absent = no_such_module:command
"""


@pytest.fixture
def greeting(tmp_path, monkeypatch):
    """Install a package that adds a command, one that is ours already, and one that is broken."""
    (tmp_path / "greeting.py").write_text(PACKAGE)
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: greeting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "greeting", raising=False)


@pytest.mark.usefixtures("greeting")
def test_a_package_may_add_a_command(invoke):
    result = invoke("greet", "world")
    assert (result.exit_code, result.stdout) == (0, "good day, world\n")
    assert "Greet somebody" in invoke("greet", "--help").stdout


@pytest.mark.usefixtures("greeting")
def test_a_command_of_ours_is_not_replaced(invoke):
    assert "--epsilon" in invoke("fit", "--help").stdout


@pytest.mark.usefixtures("greeting")
def test_a_broken_command_breaks_no_other(invoke):
    shown = invoke("--help").stdout
    assert "greet" in shown
    assert "absent" not in shown
    assert "No such command" in invoke("absent").stderr


@pytest.mark.usefixtures("greeting")
def test_a_command_that_is_not_asked_for_is_not_imported(invoke):
    assert invoke("--version").exit_code == 0
    assert invoke("show", "--help").exit_code == 0
    assert "greeting" not in sys.modules


def test_missing_experiments_name_the_remedy(invoke, refused, monkeypatch):
    monkeypatch.setattr(dpgp.cli, "entry_points", lambda **_: ())
    for arguments in ([], ["arena", "--seed", 1], ["--help"]):
        refused(invoke("reproduce", *arguments, columns=400), 2, "make experiments")
    assert "reproduce" not in invoke("--help").stdout


def test_an_unknown_command_stays_unknown(invoke):
    result = invoke("reproduct")
    assert result.exit_code == 2
    assert "No such command" in result.stderr


def test_the_product_runs_without_its_laboratory():
    code = (
        "import sys; sys.modules['dpgp_experiments'] = None; "
        "from dpgp.cli import app, demo, fit, people, plan, predict, report, show"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
