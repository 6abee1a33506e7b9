"""Names, labels and texts of a model file reach the screen as text: no markup, no control."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from dpgp import PrivateGPRegressor
from dpgp.cli.output import print_json, shown
from dpgp.model.file.model import encode

X = np.linspace(0.0, 1.0, 60)[:, None]
MARKUP = [
    "[/nothing]",
    "[bold green]✔ AUDITED[/]",
    "[link=http://a.example]x[/link]",
    "a\\",
    ":skull:",
]
HTML = "<script>alert('&')</script>"
CONTROLS = ["\x1b[2J", "\x1b]0;title\x07", "a\rb", "a\nb", "\u202eb", "\x9b31m"]


@pytest.fixture(scope="module")
def model():
    gp = PrivateGPRegressor(
        bounds=(0, 1), target_bounds=(0, 1), stages=1, features="linear", random_state=0
    )
    return gp.fit(X, X[:, 0]).model_


@pytest.fixture(scope="module")
def document(model):
    return encode(model)


def written(document, text, path):
    """A file that says ``text`` wherever a file may say something."""
    changed = copy.deepcopy(document)
    changed |= {"about": text, "dpgp_version": text, "created": text}
    changed["inputs"]["names"] = [text]
    changed["targets"]["names"] = [f"{text} target"]
    changed["guarantee"]["statement"] = text
    for number, release in enumerate(changed["guarantee"]["releases"]):
        release["label"] = f"{text} {number}"
    path.write_text(json.dumps(changed), encoding="utf-8")
    return path


@pytest.mark.parametrize("text", MARKUP)
def test_markup_is_printed_as_it_stands(document, text, invoke, tmp_path):
    path = written(document, text, tmp_path / "model.json")
    result = invoke("show", path, columns=200)
    assert result.exit_code == 0, result.output
    assert result.output.count(text) >= 4  # a column, its target, the learned noise, releases
    shown_json = invoke("show", path, "--json")
    assert json.loads(shown_json.stdout)["inputs"][0]["name"] == text


@pytest.mark.parametrize("text", MARKUP)
def test_predict_repeats_markup_as_it_stands(document, text, invoke, tmp_path):
    path = written(document, text, tmp_path / "model.json")
    (tmp_path / "new.csv").write_text("other\n0.5\n")
    result = invoke("predict", path, tmp_path / "new.csv", columns=200)
    assert result.exit_code == 4
    assert f"no column '{text}'" in result.stderr


@pytest.mark.parametrize("text", CONTROLS, ids=repr)
def test_control_characters_of_a_file_do_not_reach_the_screen(document, text, invoke, tmp_path):
    path = written(document, text, tmp_path / "model.json")
    for arguments in (["show", path], ["show", path, "--json"]):
        result = invoke(*arguments)
        assert result.exit_code == 4
        assert text not in result.output
    assert shown(text).isprintable()


def test_json_for_machines_escapes_what_is_not_plain(capsys):
    value = {"output": "a\x1b\x9b\u202e\udcffß.json"}
    print_json(value)
    text = capsys.readouterr().out
    assert json.loads(text) == value
    assert "ß" in text
    assert not {"\x1b", "\x9b", "\u202e"} & set(text)


@pytest.mark.parametrize("text", [HTML, MARKUP[0]])
def test_reports_and_cards_escape(model, text):
    from dpgp.report.html import report_html

    box = replace(model.options.box, names=(text,))
    target_box = replace(model.options.target_box, names=(text,))
    releases = tuple(replace(r, label=text) for r in model.certificate.releases)
    gp = replace(
        model,
        options=replace(model.options, box=box, target_box=target_box),
        inputs=replace(model.inputs, box=box),
        certificate=replace(model.certificate, releases=releases),
    )
    for page in (report_html(gp), gp._repr_html_(), gp.certificate._repr_html_()):
        assert HTML not in page
        assert ("&lt;script&gt;" in page) == (text == HTML)
