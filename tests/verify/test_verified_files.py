"""A stranger recomputes the claim of a file, and finds every lie that a file can be caught at."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest

import dpgp
from dpgp.json_document import digest
from dpgp.model.file import ModelFileError
from dpgp.privacy.calibration import epsilon_of_mu
from dpgp.verify import verify
from dpgp.verify.claim import composed_epsilon, read_claim, recomputed_mu

X = np.linspace(0.0, 1.0, 60)[:, None]
Y = X[:, 0] ** 2


def saved(path, **options):
    defaults = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 2}
    units = options.pop("units", None)
    gp = dpgp.PrivateGPRegressor(**(defaults | options)).fit(X, Y, units=units)
    gp.save(path)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("verify") / "model.json", epsilon=1.0, delta=1e-6)


def failed(path):
    return {finding.question for finding in verify(path) if not finding.holds}


VARIANTS = {
    "large epsilon": {"epsilon": 20.0},
    "small epsilon": {"epsilon": 0.05, "delta": 1e-9},
    "people who come and go": {
        "neighbours": "add-remove",
        "max_rows_per_unit": 3,
        "units": [k // 3 for k in range(60)],
    },
    "people": {"max_rows_per_unit": 2, "units": [k // 3 for k in range(60)]},
    "incomplete rows": {"missing": "ignore"},
}


@pytest.mark.parametrize("options", VARIANTS.values(), ids=list(VARIANTS))
def test_every_claim_holds(tmp_path, options):
    assert failed(saved(tmp_path / "model.json", **options)) == set()


def test_another_library_finds_the_same_epsilon(model):
    claim = read_claim(json.loads(model.read_text())["guarantee"])
    assert composed_epsilon(claim) == pytest.approx(1.0, rel=2e-3)
    assert epsilon_of_mu(recomputed_mu(claim), 1e-6) == pytest.approx(1.0, rel=1e-9)


EDITS = {
    "less noise": (lambda g: lower(g, "noise_std", 0.5), "ε and δ follow from the noise"),
    "smaller epsilon": (lambda g: g.update(epsilon=0.9), "ε and δ follow from the noise"),
    "smaller delta": (lambda g: g.update(delta=9e-7), "ε and δ follow from the noise"),
    "one more release": (lambda g: g["releases"].append(g["releases"][0]), "ε and δ follow"),
    "smaller sensitivity": (lambda g: lower(g, "sensitivity", 0.5), "sensitivities follow"),
    "smaller mu": (lambda g: g.update(mu=0.1), "μ is the root of the sum of squares"),
    "several rows": (lambda g: g.update(rows_per_unit=2), "sensitivities follow"),
    "finer noise": (lambda g: lower(g, "smallest_scale", 2.0**40), "the integer noise"),
    "coarse noise": (lambda g: lower(g, "smallest_scale", 1e-9), "the integer noise"),
    "a seed": (lambda g: g.update(seeded=True), "it claims to be private"),
    "no noise": (lambda g: lower(g, "noise_std", 0.0), "ε and δ follow from the noise"),
    "a larger query": (lambda g: lower(g, "size", 2.0), "sensitivities follow"),
}


def lower(guarantee, name, factor):
    for release in guarantee["releases"]:
        release[name] *= factor


@pytest.mark.parametrize(("edit", "question"), EDITS.values(), ids=list(EDITS))
def test_lies_about_numbers_are_found(model, tmp_path, edit, question):
    document = json.loads(model.read_text())
    edit(document["guarantee"])
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(document))
    assert "the file is undamaged" in failed(path)
    del document["digest"]
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    assert any(found.startswith(question) for found in failed(path))


def test_damage_is_found_whatever_the_layout(model, tmp_path):
    document = json.loads(model.read_text())
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document, indent=7))
    assert failed(path) == set()
    document["models"][0]["weights"][0] += 1e-9
    path.write_text(json.dumps(document))
    assert failed(path) == {"the file is undamaged"}


@pytest.mark.parametrize(
    "guarantee",
    [None, [], {}, {"releases": []}, {"releases": [3], "mechanism": {}}, {"epsilon": "x"}],
)
def test_other_files_are_refused(tmp_path, guarantee):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"kind": "dpgp model", "guarantee": guarantee}))
    with pytest.raises(ModelFileError):
        verify(path)
    path.write_text("[1]")
    with pytest.raises(ModelFileError):
        verify(path)


@pytest.mark.parametrize("options", [{"random_state": 0}, {"epsilon": math.inf}], ids=str)
def test_a_simulation_is_no_guarantee(tmp_path, options):
    found = failed(saved(tmp_path / "model.json", **options))
    assert "it claims to be private" in found


def test_a_certificate_says_all_that_it_takes(model, tmp_path):
    guarantee = json.loads(model.read_text())["guarantee"]
    assert guarantee["mechanism"]["name"] == "discrete Gaussian"
    assert guarantee["mechanism"]["grid_bits"] == 40
    assert "OpenDP" in guarantee["mechanism"]["random_source"]
    assert guarantee["versions"]["dpgp"] == dpgp.__version__
    assert set(guarantee["versions"]) == {"dpgp", "python", "numpy", "scipy", "opendp"}
    proofs = Path(dpgp.__file__).parents[2] / "docs" / "proofs"
    for release in guarantee["releases"]:
        assert release["query"] in ("gram", "histograms", "count")
        assert not proofs.exists() or (proofs / f"{release['proof']}.md").exists()
    ledger = dpgp.Ledger(tmp_path / "s.ledger", 3.0, 1e-5)
    booked = json.loads(saved(tmp_path / "m.json", ledger=ledger, random_state=0).read_text())
    assert booked["guarantee"]["ledger"] == ledger.entries()[1].link
    ledger.check(booked["guarantee"]["ledger"])
    assert "seed" in booked["guarantee"]["mechanism"]["random_source"]
    loaded = dpgp.load(tmp_path / "m.json")
    assert loaded.certificate.provenance.ledger == ledger.entries()[1].link


def test_verification_imports_none_of_our_calibration():
    import dpgp.verify.claim as claim

    for module in Path(claim.__file__).parent.glob("*.py"):
        tree = ast.parse(module.read_text("utf-8"))
        names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ours = {name for name in names if name and name.startswith("dpgp")}
        allowed = (
            "dpgp.verify",
            "dpgp.checked_values",
            "dpgp.package",
            "dpgp.json_document",
            "dpgp.packed",
        )
        assert all(name.startswith(allowed) for name in ours)
