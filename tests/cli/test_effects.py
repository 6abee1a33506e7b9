"""``dpgp effects``, and what ``dpgp show`` says of the inputs that matter."""

import json

import numpy as np
import pandas as pd
import pytest

from dpgp import PrivateGPRegressor

NAMES = ["dose", "[bold]age[/]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("effects")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 1, (500, 2)), columns=NAMES)
    gp = PrivateGPRegressor(5.0, 1e-5, bounds=(0, 1), target_bounds=(0, 2), stages=1)
    gp.set_params(random_state=0).fit(X, X["dose"]).save(folder / "two.json")
    both = X.to_numpy()
    gp.set_params(features="linear").fit(both[:, :1], both[:, 0]).save(folder / "one.json")
    gp.fit(both, both).save(folder / "targets.json")
    return folder


def test_effects_prints_tables(folder, invoke):
    result = invoke("effects", folder / "two.json", "--along", "dose")
    assert result.exit_code == 0, result.output
    for words in ("Importance for dose", "Interactions for dose", "Average of dose", *NAMES):
        assert words in result.stdout


def test_effects_for_machines(folder, invoke):
    result = invoke("effects", folder / "two.json", "--along", "dose", "--json")
    found = json.loads(result.stdout)
    assert found["target"] == "dose"
    assert found["importance"]["input"][0] == "dose"
    assert set(found["interactions"]) == {"input", "with", "share", "share_low", "share_high"}
    assert found["along dose"]["dose"][-1] == 1.0


def test_one_input_has_no_interactions(folder, invoke):
    found = json.loads(invoke("effects", folder / "one.json", "--json").stdout)
    assert "interactions" not in found
    assert found["importance"]["input"] == ["input"]


def test_effects_draws_a_figure(folder, tmp_path, invoke, refused):
    path = tmp_path / "effects.svg"
    result = invoke("effects", folder / "two.json", "-o", path)
    assert result.exit_code == 0, result.output
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    assert str(path) in result.stdout.replace("\n", "")
    refused(invoke("effects", folder / "two.json", "-o", path), 2, "exists", "--force")
    refused(invoke("effects", folder / "two.json", "-o", tmp_path / "a.txt"), 2, ".png, .svg, .pdf")


def test_effects_refuses_what_cannot_be_meant(folder, tmp_path, invoke, refused):
    refused(invoke("effects", folder / "two.json", "--along", "height"), 2, "must be an input of")
    refused(invoke("effects", folder / "two.json", "--target", "y"), 2, "--target must be one of")
    refused(invoke("effects", folder / "targets.json"), 2, "target 1, target 2")
    refused(invoke("effects", tmp_path / "none.json"), 4, "cannot read")
    assert invoke("effects", folder / "targets.json", "--target", "target 2").exit_code == 0


def test_show_lists_the_most_important_inputs(folder, invoke):
    text = invoke("show", folder / "two.json").stdout
    assert "What matters for dose" in text
    assert "█" in text
    about = json.loads(invoke("show", folder / "two.json", "--json").stdout)
    assert about["importance"]["dose"]["input"] == NAMES
    assert "What matters" not in invoke("show", folder / "one.json").stdout
    targets = json.loads(invoke("show", folder / "targets.json", "--json").stdout)
    assert set(targets["importance"]) == {"target 1", "target 2"}
