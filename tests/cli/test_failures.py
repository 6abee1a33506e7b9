"""Commands that fail say what was spent, and claim to have spent nothing only where it is so."""

import os
import signal
import time
from importlib import import_module

import numpy as np
import pytest
import typer

import dpgp
from dpgp.cli.output import failures_in_words
from dpgp.inference.few.target import TargetFit
from dpgp.json_document import write_document
from dpgp.model.fitted import FittedModel
from dpgp.privacy.exact_sums import UnevenArithmeticError
from dpgp.private import fit


@pytest.fixture
def arguments(tmp_path):
    path = tmp_path / "table.csv"
    lines = [f"{x:.3f},{x:.3f}" for x in np.linspace(0, 1, 40)]
    path.write_text("\n".join(["age,height", *lines]))
    options = ["--feature", "age:0:1", "--target", "height:0:1", "--epsilon", 1, "--delta", 1e-6]
    return ["fit", path, *options, "-o", tmp_path / "model.json", "--yes"]


def fail_with(error, monkeypatch, owner=TargetFit, name="add"):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(owner, name, fail)


@pytest.mark.parametrize(
    ("error", "code", "begins"),
    [
        (KeyboardInterrupt(), 1, "Stopped. Spent by then: (0."),
        (ValueError("it cannot be."), 2, "Error: it cannot be. Spent by then: (0."),
        (UnevenArithmeticError("uneven."), 1, "Error: uneven. Spent by then: (0."),
        (RuntimeError("a fault"), 1, "Spent by then: (0."),
    ],
    ids=repr,
)
def test_a_fit_that_fails_says_what_it_spent(invoke, arguments, monkeypatch, error, code, begins):
    fail_with(error, monkeypatch)
    result = invoke(*arguments)
    assert result.exit_code == code
    (line,) = [line for line in result.stderr.splitlines() if "Spent" in line]
    assert line.startswith(begins)
    assert "stage 1. It counts against the budget of these people" in line


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("it cannot be.")], ids=repr)
def test_a_fit_that_fails_before_its_first_release_spent_nothing(
    invoke, arguments, monkeypatch, error
):
    fail_with(error, monkeypatch, fit, "planned_steps")
    result = invoke(*arguments)
    assert "Spent by then" not in result.stderr
    assert ("Nothing was spent." in result.stderr) == isinstance(error, KeyboardInterrupt)


def test_a_model_that_cannot_be_written_is_spent(invoke, arguments, monkeypatch):
    fail_with(OSError(28, "No space left on device"), monkeypatch, FittedModel, "save")
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "no space left on device" in result.stderr
    assert "Spent by then: (1, 1e-06)-differential privacy" in result.stderr


def test_a_file_that_appears_during_a_fit_is_left_and_the_model_kept(
    invoke, arguments, monkeypatch, tmp_path
):
    command = import_module("dpgp.cli.fit")
    path, fit_study = tmp_path / "model.json", command.fit_study

    def fit_while_others_write(*study):
        path.write_text("another's")
        return fit_study(*study)

    monkeypatch.setattr(command, "fit_study", fit_while_others_write)
    result = invoke(*arguments)
    assert result.exit_code == 2
    (kept,) = set(tmp_path.glob("model*")) - {path}
    assert f"The model is in '{kept}'" in result.stderr
    assert "Spent by then" in result.stderr
    assert path.read_text() == "another's"
    assert dpgp.load(kept).certificate.is_private


@failures_in_words()
def ask_to_end():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def test_a_request_to_end_stops_like_ctrl_c(capsys):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit) as caught:
        ask_to_end()
    assert caught.value.exit_code == 1
    assert capsys.readouterr().err == "Stopped. Nothing was spent.\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_question_that_is_not_answered_spends_nothing(capsys):
    with pytest.raises(typer.Exit), failures_in_words():
        raise typer.Abort
    assert capsys.readouterr().err == "Stopped. Nothing was spent.\n"


def test_temporary_names_do_not_show(tmp_path):
    folder = tmp_path / "model.json"
    folder.mkdir()
    with pytest.raises(OSError, match=r"model\.json") as caught:
        write_document({}, folder)
    assert caught.value.filename == str(folder)
    assert list(tmp_path.iterdir()) == [folder]
