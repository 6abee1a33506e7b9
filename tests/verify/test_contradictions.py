"""A file against itself: what it holds and what it was asked for must be among its releases."""

import base64
import json
import math
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_kinds import KINDS

import dpgp.steps
from dpgp.checked_values import ModelFileError
from dpgp.domain import Box
from dpgp.json_document import digest
from dpgp.model.file.model import decode, encode
from dpgp.options import Options
from dpgp.packed import content_digest
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.calibration import epsilon_of_mu
from dpgp.privacy.noise import SecureNoise, SimulatedNoise
from dpgp.privacy.rounding import text_up
from dpgp.sites.masks import JointNoise
from dpgp.steps import Purse, Stage, planned_steps
from dpgp.verify import file as verify_file
from dpgp.verify import verify
from dpgp.verify.claim import read_claim
from dpgp.verify.contents import read_fit
from dpgp.verify.steps import OTHERS, expected_steps


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Composed distributions take half a second, and decide nothing."""
    monkeypatch.setattr(verify_file, "composed_epsilon", lambda claim: None)


def failed(document, folder):
    """Return what does not hold of values with their own digest."""
    document = {name: value for name, value in document.items() if name != "digest"}
    path = folder / "model.json"
    path.write_text(json.dumps({**document, "digest": digest(document)}), encoding="utf-8")
    return {finding.question for finding in verify(path) if not finding.holds}


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_every_kind_hold(document_of, tmp_path, kind):
    assert failed(document_of(kind), tmp_path) == set()


def test_every_step_has_its_line_and_a_kind_that_takes_it(document_of):
    """A new step needs a line in ``dpgp.verify.steps`` and a fit here that takes it."""
    kinds = {kind for kind in dpgp.steps.KINDS if kind is not Stage}
    labels = {kind.label for kind in kinds}
    assert {step.label for step in OTHERS} == labels
    taken = [
        release["label"] for kind in KINDS for release in document_of(kind)["guarantee"]["releases"]
    ]
    assert {re.sub(r"^stage \d+$", "stage", label) for label in taken} == {*labels, "stage"}


# --- public rules --------------------------------------------------------------------------------


@settings(max_examples=300)
@given(
    columns=st.sampled_from([1, 2, 3, 4, 9]),
    targets=st.integers(1, 3),
    rows=st.integers(12, 10**6),
    epsilon=st.sampled_from([0.01, 0.1, 0.5, 1.0, 3.0, 10.0, math.inf]),
    most=st.integers(1, 5),
    asked=st.fixed_dictionaries(
        {},
        optional={
            "neighbours": st.just("add-remove"),
            "missing": st.just("ignore"),
            "stages": st.sampled_from([1, 2, [1.0, 5.0, 2.0]]),
            "warp": st.just(False),
            "calibrate": st.just(False),
            "features": st.just("linear"),
        },
    ),
)
def test_steps_and_shares_are_those_of_a_fit(
    document_of, columns, targets, rows, epsilon, most, asked
):
    options = Options.parse(
        box=Box.from_bounds((0, 1), columns),
        target_box=Box.from_bounds((0, 1), targets, argument="target_bounds"),
        epsilon=epsilon, delta=1e-6, per_person=most > 1, max_rows_per_unit=most, **asked,
    )  # fmt: skip
    mu = mu_of_guarantee(epsilon, 1e-6)
    public = float(rows) if options.row_count_is_public else None
    planned = planned_steps(Purse(options, mu, public))
    document = document_of("one input")
    claim = replace(
        read_claim(document["guarantee"]),
        epsilon=epsilon, neighbours=options.neighbours.value, rows_per_unit=most,
    )  # fmt: skip
    fit = replace(
        read_fit(document, claim),
        claim=claim, mu=mu, n=float(rows), has_public_rows=public is not None, columns=columns,
        coordinates=columns, targets=targets, learns_metric=options.learns_metric,
        may_warp=options.warp, calibrates=options.calibrate, weights=options.stages,
        scale_features=7 if "local scale" in [step.label for step in planned] else None,
    )  # fmt: skip
    expected = expected_steps(fit)
    assert [step.label for step in expected] == [step.label for step in planned]
    if not fit.is_unlimited:
        shares = [step.share(fit) for step in expected]
        assert shares == pytest.approx([step.share for step in planned], rel=1e-9)


# --- forgers -------------------------------------------------------------------------------------


def mended(document):
    """Let everything follow from the releases again, as whoever knows the format would."""
    guarantee = document["guarantee"]
    mu = math.hypot(*(r["sensitivity"] / r["noise_std"] for r in guarantee["releases"]))
    epsilon, delta = epsilon_of_mu(mu, guarantee["delta"]) * (1 + 1e-11), guarantee["delta"]
    document["settings"]["epsilon"] = guarantee["epsilon"] = epsilon
    guarantee["mu"] = mu
    printed, small = text_up(epsilon), text_up(delta)
    guarantee["statement"] = f"({printed}, {small})-differential privacy, mu = {text_up(mu)}."
    about = re.sub(r"exp\(\S+\) times", f"exp({printed}) times", document["about"])
    document["about"] = about
    return document


def scaled(*names, by):
    def edit(releases, place):
        for name in names:
            releases[place][name] *= by

    return edit


def renamed(name, values):
    def edit(releases, place):
        others = [value for value in values if value != releases[place][name]]
        releases[place][name] = others[0]

    return edit


def repeated(releases, place):
    releases.insert(place, releases[place])


def numbered(releases, place):
    releases[place]["coordinates"] += 1


EDITS = {
    "dropped": lambda releases, place: releases.pop(place),
    "repeated": repeated,
    "more noise": scaled("noise_std", "smallest_scale", by=1.01),
    "less noise": scaled("noise_std", "smallest_scale", by=0.99),
    "smaller sensitivity": scaled("sensitivity", by=0.99),
    "larger sensitivity": scaled("sensitivity", by=1.01),
    "both larger": scaled("sensitivity", "noise_std", "smallest_scale", by=1.01),
    "both smaller": scaled("sensitivity", "noise_std", "smallest_scale", by=0.99),
    "larger size": scaled("size", by=1.01),
    "all larger": scaled("size", "sensitivity", "noise_std", "smallest_scale", by=1.01),
    "another query": renamed("query", ("gram", "count")),
    "another name": renamed("label", ("cells of the inputs", "number of rows")),
    "an unknown name": lambda releases, place: releases[place].update(label="stage of fools"),
    "one more number": numbered,
}
FORGED = (
    "one input",
    "two targets",
    "people who come and go",
    "four inputs",
    "yes or no",
    "levels",
)


@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
@pytest.mark.parametrize("kind", FORGED)
def test_no_release_can_be_forged_alone(document_of, tmp_path, kind, edit):
    document = document_of(kind)
    for model in document["models"]:  # large, and nothing that a release is compared with
        model["covariance"] = []
    original = json.dumps(document["guarantee"]["releases"])
    assert failed(mended(document), tmp_path) == set()
    for place in range(len(json.loads(original))):
        releases = json.loads(original)
        edit(releases, place)
        document["guarantee"]["releases"] = releases
        assert failed(mended(document), tmp_path), place


def test_the_order_of_releases_is_that_of_the_steps(document_of, tmp_path):
    document = document_of("one input")
    document["guarantee"]["releases"].reverse()
    assert "the releases are those of its steps" in failed(document, tmp_path)


def all_but_one(document):
    document["guarantee"]["releases"] = document["guarantee"]["releases"][:1]
    mended(document)


def without_targets(document):
    for release in document["guarantee"]["releases"]:
        if release["query"] == "gram":
            release["sensitivity"] /= release["size"]
            release["size"] = 1.0
    mended(document)


def counts_for_histograms(document):
    for release in document["guarantee"]["releases"]:
        if release["query"] == "histograms":
            release.update(query="count", size=1.0, sensitivity=1.0)
    mended(document)


def fewer_rows(document):
    document["guarantee"]["rows_per_unit"] = document["settings"]["max_rows_per_unit"] = 1
    document["about"] = re.sub(r"at most \d+ rows count", "one row counts", document["about"])


def no_people(document):
    document["guarantee"]["per_person"] = False
    document["about"] = re.sub(r"\(one person.*?\)", "(one row)", document["about"])


def of(*names, **values):
    def edit(document):
        part = document
        for name in names:
            part = part[name]
        part.update(values)

    return edit


FORGERIES = {
    "all releases but one": ("one input", all_but_one, "the releases are those of its steps"),
    "no targets": ("one input", without_targets, "every release is its step's query"),
    "renamed": ("one input", counts_for_histograms, "every release is its step's query"),
    "fewer rows": ("people who come and go", fewer_rows, "sensitivities follow from the queries"),
    "rows of nobody": ("people", no_people, "what was asked for is what is promised"),
    "a simulation": (
        "one input",
        of("guarantee", "mechanism", random_source=SimulatedNoise.name),
        "its source of noise is as secret as it claims",
    ),
    "a strange source": (
        "one input",
        of("guarantee", "mechanism", random_source="dice"),
        "its source of noise is as secret as it claims",
    ),
    "a seed": ("one input", of("guarantee", seeded=True), "its source of noise is as secret"),
    "other settings": ("one input", of("settings", epsilon=2.0), "what was asked for"),
    "other neighbours": ("people", of("guarantee", neighbours="add-remove"), "what was asked for"),
    "no warp": ("one input", of("settings", warp=False), "the releases are those of its steps"),
    "no trace": ("one input", of("inputs", warp=None), "what it holds came from its releases"),
    "one stage": ("one input", of("settings", stages=[1.0]), "the releases are those of its steps"),
    "a finding": ("one input", of("findings", ages=[1.0]), "what it holds came from its releases"),
    "no finding": ("one input", lambda d: d.pop("findings"), "what it holds came from its release"),
    "a law": (
        "no warp, no calibration",
        lambda d: d["models"][0].update(calibration={"factors": [-1.0, 1.0], "cdf": [0.1, 0.9]}),
        "what it holds came from its releases",
    ),
    "fewer stages": ("one input", lambda d: d["stages"].pop(), "its stages have the noise"),
    "noise of a target": (
        "two targets",
        lambda d: scaled("sigma_c", by=1.01)(d["stages"][1]["targets"], 1),
        "its stages have the noise of their releases",
    ),
    "noise of features": (
        "four inputs",
        lambda d: scaled("sigma_b", by=0.99)(d["stages"], 2),
        "its stages have the noise of their releases",
    ),
    "words": (
        "one input",
        of("guarantee", statement="(0.1, 1e-06)-differential privacy, mu = 0.02."),
        "its words say what its numbers do",
    ),
    "more words": (
        "one input",
        lambda d: d.update(about=d["about"].replace("exp(3)", "exp(1)")),
        "its words say what its numbers do",
    ),
    "two promises": (
        "one input",
        lambda d: d.update(about=d["about"].replace("Guarantee", "Guarantee: exp(1). Guarantee")),
        "its words say what its numbers do",
    ),
    "other people": (
        "people",
        lambda d: d.update(about=d["about"].replace("at most 2 rows", "at most 9 rows")),
        "its words say what its numbers do",
    ),
    "noise of the number of rows": (
        "weights",
        of("findings", "number of rows", noise=0.1),
        "its findings have the noise",
    ),
    "noise of squares": (
        "classes and weights",
        of("findings", "number of rows", **{"noise of squares": 0.1}),
        "its stages have the noise",
    ),
    "another sum of weights": (
        "weights",
        of("findings", "number of rows", weights=9e3),
        "its stages have the noise",
    ),
    "noise of shares": (
        "one input",
        of("findings", "input histograms", noise=1e-6),
        "its findings have the noise",
    ),
    "noise of shares of a target": (
        "four inputs",
        lambda d: d["findings"]["target histograms"][0].update(noise=1e-6),
        "its findings have the noise",
    ),
    "noise of labels": (
        "yes or no and weights",
        of("findings", "labels by prediction", noise=0.0),
        "its findings have the noise",
    ),
    "no labels": (
        "yes or no",
        lambda d: d["findings"].pop("labels by prediction"),
        "what it holds came from its releases",
    ),
    "no weights": ("weights", of("settings", weight_bound=None), "the releases are those of its"),
    "a larger budget": (
        "one input",
        lambda d: (of("guarantee", epsilon=3.1)(d), of("settings", epsilon=3.1)(d)),
        "ε and δ follow from the noise",
    ),
}


@pytest.mark.parametrize(("kind", "edit", "question"), FORGERIES.values(), ids=list(FORGERIES))
def test_contradictions_are_named(document_of, tmp_path, kind, edit, question):
    document = document_of(kind)
    edit(document)
    assert any(found.startswith(question) for found in failed(document, tmp_path))


OF_RECORDS = "its records are those that its name covers"


@pytest.mark.parametrize(
    ("kind", "other"), [("one input", "incomplete rows"), ("four inputs", "three inputs, additive")]
)
def test_records_of_another_model_are_told_apart(document_of, tmp_path, kind, other):
    document, records = document_of(kind), document_of(other)["records"]
    assert failed({**document, "records": records}, tmp_path) == {OF_RECORDS}
    bound = {"records": records, "records_digest": content_digest(records, "records")}
    assert failed({**document, **bound}, tmp_path) == {"its name is that of its sums"}
    with pytest.raises(ModelFileError, match="records"):
        decode({**without_digest(document), "records": records})


def test_records_are_bound_by_what_they_hold_not_by_how_it_is_packed(document_of, tmp_path):
    document = document_of("four inputs")
    places = document["records"]["places"]
    stored = zlib.compress(zlib.decompress(base64.b64decode(places["zlib"])), 0)
    places["zlib"] = base64.b64encode(stored).decode()
    assert failed(document, tmp_path) == set()
    again = decode(without_digest(document))
    assert again.id == document["id"]
    assert encode(again)["records_digest"] == document["records_digest"]
    assert content_digest(encode(again)["records"], "records") == document["records_digest"]


@pytest.mark.parametrize("kind", ["two inputs", "four inputs"])
def test_records_are_bound_where_they_are_left_out_and_said_not_to_be_where_they_were_not(
    document_of, tmp_path, kind
):
    document = without_digest(document_of(kind))
    alone = encode(decode(document), records=False)
    assert "records" not in alone
    assert decode(alone).id == document["id"]
    assert failed(alone, tmp_path) == set()
    earlier = {name: part for name, part in document.items() if name not in ("id", BINDS)}
    assert decode(earlier).id != document["id"]
    assert failed(earlier, tmp_path) == set()
    (said,) = [
        each.detail for each in verify(tmp_path / "model.json") if each.question == OF_RECORDS
    ]
    assert "NOT CHECKED" in said
    assert BINDS not in encode(decode(earlier))


BINDS = "records_digest"


def without_digest(document):
    return {name: part for name, part in document.items() if name != "digest"}


@pytest.mark.parametrize("own", [SecureNoise(), SimulatedNoise(0)], ids=lambda own: own.name)
def test_the_noise_of_several_sites_is_that_of_its_generator(document_of, tmp_path, own):
    document = document_of("one input")
    seeded = not own.is_private
    for trusted, holds in ((2, True), (0, False), (4, False)):
        joint = JointNoise(own, trusted, 3, lambda totals, scales: totals)
        of("guarantee", seeded=seeded)(document)
        of("guarantee", "mechanism", random_source=joint.name)(document)
        found = failed(document, tmp_path)
        assert ("its source of noise is as secret as it claims" not in found) == holds


@pytest.mark.parametrize("kind", ["one input", "four inputs"])
def test_simulations_contradict_nothing_else(tmp_path, kind):
    from model_kinds import regression

    path = tmp_path / "seeded.json"
    regression(200, 1 if kind == "one input" else 4, stages=2, random_state=0).save(path)
    wrong = [finding.question for finding in verify(path) if not finding.holds]
    assert wrong == ["it claims to be private"]
    assert np.isfinite(json.loads(path.read_text())["guarantee"]["mu"])
