"""Saved models predict the same to the last bit, tell nothing of the rows, and cannot do harm."""

from __future__ import annotations

import copy
import errno
import json
import math
import os
import re
import stat
import tracemalloc
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as sk

import dpgp
from dpgp import NormalizedKernel, PrivateGPClassifier, PrivateGPRegressor, ProductKernel
from dpgp.json_document import layout
from dpgp.kernels.known import kernel_to_json, own_kernel_from_json
from dpgp.model.file import FORMAT, ModelFileError
from dpgp.model.file.model import decode, encode
from dpgp.model.file.releases import LAWS
from dpgp.model.fitted import FittedModel
from dpgp.privacy.certificate import StudyRecord
from dpgp.steps import ResidualHistograms, TargetHistograms
from dpgp.verify.file import verify

SEED = 987_654_321


def rows(columns: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(columns)
    X = generator.uniform(0.0, 10.0, (n, columns))
    return X, np.sin(X[:, 0]) + 0.1 * generator.standard_normal(n)


def fitted(columns: int, targets: int | None = None, **options) -> PrivateGPRegressor:
    X, y = rows(columns)
    if targets is not None:
        y = np.column_stack([y * (k + 1) / targets for k in range(targets)])
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(-2.0, 3.0), stages=1)
    return gp.set_params(**({"random_state": SEED} | options)).fit(X, y)


def with_frame() -> PrivateGPRegressor:
    X, y = rows(2)
    frame = pd.DataFrame(X, columns=["größe_cm", "weight"])
    bounds = {"weight": (0, 11), "größe_cm": (-1.5, 10)}
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=bounds, target_bounds=[(-2, 2)], random_state=1)
    return gp.fit(frame, y)


def with_units() -> PrivateGPRegressor:
    X, y = rows(1)
    options = {"neighbours": "add-remove", "max_rows_per_unit": 2, "missing": "ignore"}
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(-2, 2), **options)
    return gp.set_params(random_state=1, stages=[1.0, 2.0]).fit(X, y, units=np.arange(200) // 2)


def with_classes(columns: int) -> PrivateGPClassifier:
    X, y = rows(columns)
    gp = PrivateGPClassifier(3.0, 1e-5, bounds=(0, 10), classes=(0, 1), random_state=1)
    return gp.fit(X, y > 0)


KERNELS = [sk.ConstantKernel(0.2) * sk.Matern([0.5, 0.7], nu=1.5), sk.RBF(0.4)]
MODELS = {
    "one input": lambda: fitted(1),
    "a frame": with_frame,
    "five inputs": lambda: fitted(5, features=["linear", "additive", "joint"]),
    "linear, one column": lambda: fitted(3, targets=1, features="linear"),
    "two targets": lambda: fitted(2, targets=2, target_bounds=[(-2, 2), (-3, 3)]),
    "kernels, points": lambda: fitted(2, kernel=KERNELS, inducing_points=np.eye(2) * 3 + 1),
    "units": with_units,
    "no noise": lambda: fitted(1, epsilon=math.inf, random_state=None),
    "a count": lambda: fitted(1, target_bounds=(0, 2), counts=True),
    "yes and no": lambda: with_classes(1),
    "yes and no of five inputs": lambda: with_classes(5),
    "plain": lambda: fitted(1, warp=False, calibrate=False, inducing_points=5),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> FittedModel:
    return MODELS[request.param]().model_


@pytest.fixture(scope="module")
def small() -> FittedModel:
    model = fitted(1, inducing_points=4).model_
    study = StudyRecord.of(b"epsilon: 3", "Growth", "G-1")
    return replace(model, certificate=model.certificate.of_study(study))


@pytest.fixture(scope="module")
def document(small: FittedModel) -> dict:
    return encode(small)


def reloaded(gp: FittedModel, folder: Path) -> FittedModel:
    gp.save(folder / "model.json", overwrite=True)
    return dpgp.load(folder / "model.json")


def questions(gp: FittedModel) -> tuple[object, np.ndarray]:
    """Inputs inside and outside the bounds, as a frame where the model has names, and targets."""
    X = np.random.default_rng(1).uniform(-1.0, 12.0, (40, gp.options.columns))
    names = gp.options.box.names
    y = np.zeros((40, gp.n_targets))
    return (X if names is None else pd.DataFrame(X, columns=names)), np.squeeze(y)


def answers(gp: FittedModel) -> list[np.ndarray]:
    X, y = questions(gp)
    return [
        *gp.mean(X, return_std=True),
        *gp.mean(X, return_std=True, latent=True),
        *gp.mean(X, return_cov=True),
        *gp.predict_interval(X, 0.5),
        *gp.predict_interval(X),
        gp.sample_y(X, 3, random_state=5),
        gp.log_predictive_density(X, y),
    ]


def test_predictions_are_the_same_to_the_last_bit(model, tmp_path):
    for ours, theirs in zip(answers(model), answers(reloaded(model, tmp_path)), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


def test_everything_fitted_comes_back(model, tmp_path):
    again = reloaded(model, tmp_path)
    same(again, model)
    assert str(again.certificate) == str(model.certificate)


SINGLE = 1e-6  # records are kept in single precision where nothing is lost by it


def same(ours: object, theirs: object, rtol: float = 0.0) -> None:
    """Compare data classes field by field, whatever arrays they hold."""
    if isinstance(ours, tuple | list):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs, strict=True):
            same(*pair, rtol)
    elif isinstance(ours, dict):
        assert ours == theirs
    elif is_dataclass(ours):
        assert type(ours) is type(theirs)
        for name in (each.name for each in fields(ours)):
            precision = SINGLE if name == "recorded" else rtol
            same(getattr(ours, name), getattr(theirs, name), precision)
    elif isinstance(ours, sk.Kernel):
        assert kernel_to_json(ours) == kernel_to_json(theirs)
    elif rtol and isinstance(ours, np.ndarray):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(ours, theirs)


def test_saving_what_was_loaded_changes_nothing_but_the_date(model, tmp_path):
    model.save(tmp_path / "first.json")
    dpgp.load(tmp_path / "first.json").save(tmp_path / "second.json")
    dateless = [
        re.sub(r'"(created|digest)": "[^"]*"', "", (tmp_path / name).read_text(encoding="utf-8"))
        for name in ("first.json", "second.json")
    ]
    assert dateless[0] == dateless[1]


def test_the_file_holds_no_row_and_no_seed(tmp_path):
    gp = fitted(2)
    X, y = rows(2)
    gp.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    numbers = set(re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text))
    assert len(numbers) > 1000
    scaled = np.concatenate([(X / 5.0 - 1.0).ravel(), (y - 0.5) / 2.5])
    private = {
        repr(float(v)) for v in np.concatenate([X.ravel(), y, scaled, gp.model_.inputs(X).ravel()])
    }
    assert not numbers & private
    assert str(SEED) not in text
    assert os.path.getsize(tmp_path / "model.json") < 30 * 8 * 49 * 49


def test_a_person_can_read_the_file(small, tmp_path):
    small.save(tmp_path / "model.json")
    lines = (tmp_path / "model.json").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith('  "about": "A Gaussian-process regression fitted by dpgp')
    assert "NOT PRIVATE: a seeded simulation of (3, 1e-05)-differential privacy" in lines[1]
    assert 100 < len(lines) < 400
    names = re.findall(r'^  "(\w+)"', "\n".join(lines), flags=re.M)
    assert names[:5] == ["about", "kind", "format", "dpgp_version", "created"]


def test_the_guarantee_is_stated_in_words(tmp_path):
    gp = fitted(1, inducing_points=4, random_state=None, neighbours="add-remove")
    about = encode(gp.model_)["about"]
    assert "one unit added or removed (one row)" in about
    assert "at most exp(3) times as likely from one as from the other, plus 1e-05" in about
    assert reloaded(gp, tmp_path).certificate.is_private
    assert (
        "NOT PRIVATE: no noise"
        in encode(fitted(1, epsilon=math.inf, random_state=None).model_)["about"]
    )


TREES = [
    sk.RBF(0.3),
    sk.RBF([0.1, 1 / 3], length_scale_bounds="fixed"),
    sk.Matern(0.7, nu=math.inf),
    sk.RationalQuadratic(0.4, 2.0, alpha_bounds="fixed"),
    sk.ExpSineSquared(0.4, 1.5, periodicity_bounds="fixed"),
    sk.ConstantKernel(0.1) * sk.DotProduct(0.0, "fixed") ** 2 + sk.WhiteKernel(1e-3),
    NormalizedKernel(sk.DotProduct(1.0)),
    ProductKernel([sk.RBF(0.2), sk.ConstantKernel(2.0) * sk.Matern(0.5)]),
]


@pytest.mark.parametrize("kernel", TREES, ids=str)
def test_kernels_come_back(kernel):
    again = own_kernel_from_json(json.loads(json.dumps(kernel_to_json(kernel))), "kernel", 2)
    U = np.random.default_rng(0).uniform(-1, 1, (7, 2))
    assert type(again) is type(kernel)
    assert again.n_dims == kernel.n_dims
    assert np.array_equal(again.theta, kernel.theta)
    assert np.array_equal(again(U), kernel(U))
    assert kernel_to_json(again) == kernel_to_json(kernel)


def test_an_unknown_kernel_is_not_saved(small):
    class Own(sk.RBF):
        pass

    with pytest.raises(ModelFileError, match="type Own cannot be saved; those that can are"):
        kernel_to_json(Own())


def test_an_unfitted_estimator_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        PrivateGPRegressor().save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file_alone(small, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old")

    def full_disk(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match=r"No space left on device: .*model\.json'"):
        small.save(path, overwrite=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_only_where_that_is_said(small, tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    small.save(path, overwrite=True)
    assert dpgp.load(path).certificate == small.certificate


def test_a_model_that_may_not_replace_a_file_is_kept_beside_it(small, tmp_path):
    path, kept = tmp_path / "model.json", tmp_path / f"model-{small.id[:8]}.json"
    path.write_text("old")
    for _ in range(2):  # the second finds the model there already
        with pytest.raises(FileExistsError, match=r"overwrite=True") as caught:
            small.save(path)
        words = f"'{path}' exists and was left as it is. The model is in '{kept}'"
        assert str(caught.value).startswith(words)
    assert path.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [kept, path]
    assert dpgp.load(kept).id == small.id


def test_a_link_to_nothing_is_a_file_too(small, tmp_path):
    (tmp_path / "model.json").symlink_to(tmp_path / "absent.json")
    with pytest.raises(FileExistsError):
        small.save(tmp_path / "model.json")


def test_a_saved_file_has_usual_permissions(small, tmp_path):
    small.save(tmp_path / "model.json")
    (tmp_path / "other").touch()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def refused(text: str | bytes, folder: Path) -> str:
    path = folder / "model.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ModelFileError) as caught:
        dpgp.load(path)
    message = str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert len(message) < 250
    assert message.endswith(".")
    return message


def test_a_newer_format_is_refused_kindly(document, tmp_path):
    message = refused(json.dumps(document | {"format": FORMAT + 2}), tmp_path)
    assert "written by a newer dpgp (format 7); this one reads up to format 5: upgrade" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1, 2", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON"),
        ('{"a": NaN}', "holds NaN"),
        ('{"a": 1e999}', "larger than any float"),
        ('{"a": -Infinity}', "holds -Infinity"),
        ('{"kind": 1, "kind": 2}', "names a field twice"),
        ("[]", "not a model of dpgp"),
        ("{}", "not a model of dpgp"),
        ('{"kind": "dpgp model"}', "`format` must be"),
        ('{"kind": "dpgp model", "format": true}', "`format` must be"),
        ('{"kind": "dpgp model", "format": 1}', "`the file` lacks the field `about`"),
    ],
)
def test_what_is_no_model_is_refused(text, message, tmp_path):
    assert message in refused(text, tmp_path)


def test_large_files_folders_and_devices_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dpgp.json_document.LARGEST_FILE", 1000)
    assert "larger than 192 MB" in refused(" " * 1001, tmp_path)
    with pytest.raises(ModelFileError, match="not from a folder or a device"):
        dpgp.load(tmp_path)
    with pytest.raises(ModelFileError, match="not from a folder or a device"):
        dpgp.load("/dev/zero")
    with pytest.raises(FileNotFoundError):
        dpgp.load(tmp_path / "missing.json")


def nested(depth: int) -> dict:
    kernel = {"type": "RBF", "length_scale": 1.0, "fixed": []}
    for _ in range(depth):
        kernel = {"type": "Exponentiation", "exponent": 1.0, "kernel": kernel}
    return kernel


def bush(depth: int) -> dict:
    leaf = {"type": "RBF", "length_scale": 1.0, "fixed": []}
    return leaf if depth == 0 else {"type": "Sum", "k1": bush(depth - 1), "k2": bush(depth - 1)}


HARM = [
    (("models", 0, "kernel", "type"), "os.system", "must be one of: ConstantKernel"),
    (("models", 0, "kernel", "type"), "__class__", "must be one of"),
    (("models", 0, "kernel", "type"), ["RBF"], "must be one of"),
    (("models", 0, "kernel"), nested(500), "at most 1000 kernels"),
    (("models", 0, "kernel"), bush(10), "at most 1000 kernels"),
    (("models", 0, "kernel"), "RBF", "object with a `type`"),
    (("features", "type"), "Path", "must be one of: InducingFeatures"),
    (("features", "factors"), [], "list of 1 to 1 items"),
    (("features", "factors", 0, "anchors"), [[0.0, 1.0]], "must hold 1 numbers"),
    (("features", "factors", 0, "kernel", "length_scale"), -1.0, "must be positive"),
    (("features", "factors", 0, "kernel", "length_scale"), "inf", "must hold numbers only"),
    (("features", "factors", 0, "kernel", "fixed"), ["nu"], "must be one of: length_scale"),
    (("features",), {"type": "LinearFeatures", "columns": 10**9, "constant_share": 0.5}, "between"),
    (("models", 0, "weights"), [1.0], "must hold 4 numbers"),
    (("models", 0, "weights"), [1.0, 2.0, 3.0, None], "must hold numbers only"),
    (("models", 0, "weights"), [1.0, 2.0, 3.0, True], "must hold numbers only"),
    (("models", 0, "weights"), [1.0, 2.0, 3.0, 10**400], "finite"),
    (("models", 0, "noise"), -1.0, "must be positive"),
    (("models", 0, "noise"), "nan", "numbers only"),
    (
        ("models", 0, "covariance"),
        [[1.0], [2.0, 1.0], [0, 0, 1.0], [0, 0, 0, 1.0]],
        "semi-definite",
    ),
    (("models", 0, "covariance"), [[1.0]], "must have 4 rows"),
    (("models", 0, "thetas"), [[1.0]], "numbers"),
    (("models", 0, "thetas"), [[1e6, 1e6, 1e6, 1e6]] * 32, "does not predict finite numbers"),
    (("models", 0, "spreads"), [], "must hold 32 numbers"),
    (("models", 0, "calibration", "cdf"), [0.5], "must hold"),
    (("models",), [], "list of 1 to 1000 items"),
    (("models",), {}, "list of 1 to 1000 items"),
    (("inputs", "low"), [11.0], "low < high"),
    (("inputs", "low"), [], "must hold 0 numbers"),
    (("inputs", "names"), ["a", "b"], "one name for each bound"),
    (("inputs", "names"), [1], "must be a text"),
    (("targets", "high"), [[1.0]], "numbers only"),
    (("targets", "as_columns"), 1, "true or false"),
    (("guarantee", "epsilon"), 0.1, "does not follow from the releases"),
    (("guarantee", "delta"), 2.0, "contradict each other"),
    (("guarantee", "mu"), 0.1, "does not follow from the releases"),
    (("guarantee", "mu"), None, "must have `mu` and Gaussian releases"),
    (("guarantee", "releases"), [], "must have `mu` and Gaussian releases"),
    (("guarantee", "releases", 0, "label"), "\x1b[2J", "no control characters"),
    (("guarantee", "releases", 0, "sensitivity"), 1e-3, "smaller than what one unit can change"),
    (("guarantee", "releases", 0, "smallest_scale"), 1e300, "contradicts its `noise_std`"),
    (("guarantee", "releases", 0, "smallest_scale"), 0.5, "contradict each other"),
    (("guarantee", "releases", 0, "coordinates"), 0, "between 1 and"),
    (("guarantee", "rows_per_unit"), 2, "smaller than what one unit can change"),
    (("format",), 10**4000, "whole number between 1 and 1000000"),
    (("inputs", "names"), ["\ud800"], "no control characters"),
    (("inputs", "names"), ["a\u202eb"], "no control characters"),
    (("models", 0, "thetas"), [[0.0] * 4] * 10_000, "at most 64 rows"),
    (("guarantee", "seeded"), "no", "true or false"),
    (("guarantee", "mechanism", "name"), "Laplace", "must be one of: discrete Gaussian"),
    (("guarantee", "mechanism", "grid_bits"), 20, "between 40 and 40"),
    (("guarantee", "versions"), {"dpgp": 1}, "packages and their versions"),
    (("guarantee", "ledger"), "\x1b", "no control characters"),
    (("guarantee", "releases", 0, "query"), "mean", "must be one of: gram, histograms, count"),
    (("guarantee", "releases", 0, "size"), 99.0, "smaller than what one unit can change"),
    (("guarantee", "releases", 0, "proof"), "none", "must be one of: gram_sensitivity"),
    (("guarantee", "neighbours"), "nobody", "must be one of: replace, add-remove"),
    (("settings", "epsilon"), 0.5, "contradict `guarantee`"),
    (("settings", "neighbours"), "add-remove", "contradict `guarantee`"),
    (("settings", "random_state"), 1, "has fields that are not among"),
    (("settings", "features"), "magic", "must be one of: grid"),
    (("stages", 0, "B"), [[1.0]], "must have 4 rows"),
    (("about",), "x" * 10_001, "at most 10000 characters"),
]


@pytest.mark.parametrize(("path", "value", "message"), HARM, ids=lambda part: str(part)[:40])
def test_harmful_values_are_refused(document, tmp_path, path, value, message):
    assert message in refused(json.dumps(changed(document, path, value)), tmp_path)


@pytest.mark.parametrize(
    "findings",
    [
        5,
        [],
        *({name: law} for name in LAWS for law in (None, 5, [], [3], {"a": 1}, [{"bell": "x"}])),
    ],
)
def test_laws_that_are_none_are_refused(document, findings):
    with pytest.raises(ModelFileError, match="findings"):
        decode({**document, "findings": findings})


def test_laws_are_those_of_the_steps_that_find_them():
    assert (ResidualHistograms.label, TargetHistograms.label) == LAWS


def changed(document: dict, path: tuple, value: object) -> dict:
    result = copy.deepcopy(document)
    part = result
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return result


def test_less_noise_for_a_smaller_sensitivity_does_not_deceive_the_books(document, tmp_path):
    forged = copy.deepcopy(document)
    for release in forged["guarantee"]["releases"]:
        for name in ("sensitivity", "noise_std", "smallest_scale"):
            release[name] /= 100.0  # the same μ: only the unit's own bound can tell
    assert "what one unit can change" in refused(json.dumps(forged), tmp_path)


def test_two_inputs_of_one_name_are_refused(tmp_path):
    document = encode(fitted(2, inducing_points=2).model_)
    document["inputs"]["names"] = ["a", "a"]
    assert "one name for each bound" in refused(json.dumps(document), tmp_path)


CHANGES_AFTER_FIT = [
    {"epsilon": 0.1},
    {"neighbours": "add-remove", "max_rows_per_unit": 5},
    {"kernel": object(), "bounds": {"a\n": object()}, "features": {1, 2}},
]


@pytest.mark.parametrize("changes", CHANGES_AFTER_FIT, ids=lambda changes: str(list(changes)))
def test_the_settings_in_a_file_are_those_of_the_fit(changes, tmp_path):
    gp = fitted(1, inducing_points=4)
    before = encode(gp.model_)["settings"]
    gp.set_params(**changes).save(tmp_path / "model.json")
    again = dpgp.load(tmp_path / "model.json")
    assert encode(again)["settings"] == before
    assert again.options.epsilon == again.certificate.epsilon == 3.0


MEGABYTE = 2**20
SIZE = 40 * MEGABYTE
HOSTILE = {  # begins, is repeated, ends
    "deep": (b"", b"[", b""),
    "lists": (b"[", b"[],", b"[]]"),
    "objects": (b"[", b"{},", b"{}]"),
    "numbers": (b"[", b"1.5,", b"1]"),
    "texts": (b"[", b'"ab",', b"1]"),
    "wide characters": (b'["', "\N{DROMEDARY CAMEL}".encode(), b'"]'),
    "one wide character": ('["\N{DROMEDARY CAMEL}'.encode(), b"a", b'"]'),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_takes_no_more_than_six_times_its_size(kind, tmp_path):
    begin, part, end = HOSTILE[kind]
    path = tmp_path / "model.json"
    path.write_bytes(begin + part * (SIZE // len(part)) + end)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            dpgp.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        path.unlink()
    assert peak < 6.1 * SIZE  # about 1 GB for the largest file


@pytest.mark.parametrize("family", ["InducingFeatures", "LinearFeatures"])
def test_features_that_would_fill_the_memory_are_refused_before_they_do(family, document, tmp_path):
    kernel = document["features"]["factors"][0]["kernel"]
    anchors = [[k / 10_000] for k in range(10_000)]
    large = {"type": "InducingFeatures", "kernel": kernel, "anchors": anchors}
    if family == "LinearFeatures":
        linear = {"type": "LinearFeatures", "columns": 1, "constant_share": 0.5}
        large = {"type": "ConcatenatedFeatures", "shares": [1.0] * 4000, "maps": [linear] * 4000}
    tracemalloc.start()
    try:
        message = refused(json.dumps(changed(document, ("features",), large)), tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "too many for a model file" in message
    assert peak < 100 * MEGABYTE


def test_covariances_are_computed_in_bounded_memory(small, monkeypatch):
    X = np.linspace(0, 10, 50)[:, None]
    whole = small.predict(X, return_cov=True)
    monkeypatch.setattr("dpgp.kernels.base.MOST_AT_ONCE", 3 * 33 * 50)
    parts = small.predict(X, return_cov=True)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_grid_of_astronomic_size_is_refused_at_once(tmp_path):
    gp = fitted(2, inducing_points=2)
    document = encode(gp.model_)
    for factor in document["features"]["factors"]:
        factor["anchors"] = [[i / 5000] for i in range(5000)]
    assert "at most 4096 grid points" in refused(json.dumps(document), tmp_path)


def paths(value: object, prefix: tuple = ()) -> list[tuple]:
    """All places of a document; of long lists only the ends."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, part in items:
        if isinstance(value, list) and 2 <= key < len(value) - 1:
            continue
        found.append((*prefix, key))
        if isinstance(part, dict | list):
            found += paths(part, (*prefix, key))
    return found


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [0, -1, 1e308, -1e308, 5e-324, 1e-200, 10**400, "inf", "-inf", "nan", "", "RBF"]
    ),
    st.text(max_size=5),
    st.lists(st.floats(-2, 2), max_size=4),
    st.lists(st.lists(st.floats(-2, 2), max_size=3), max_size=3),
    st.dictionaries(st.sampled_from(["type", "kernel", "k1"]), st.text(max_size=3), max_size=2),
)


def working_or_refused(text: bytes, folder: Path) -> bool:
    path = folder / "model.json"
    path.write_bytes(text)
    try:
        gp = dpgp.load(path)
    except ModelFileError:
        return False
    box = gp.options.box
    X = np.linspace(box.low, box.high, 3)
    X = X if box.names is None else pd.DataFrame(X, columns=box.names)
    with np.errstate(all="ignore"):
        mean, std = gp.mean(X, return_std=True)
        lower, upper = gp.predict_interval(X)
    assert np.isfinite(mean).all()
    assert (std > 0.0).all()
    assert (lower <= upper).all()
    return True


@settings(max_examples=300)
@given(data=st.data())
def test_any_changed_value_is_refused_or_works(document, tmp_path_factory, data):
    changes = data.draw(st.lists(st.sampled_from(paths(document)), min_size=1, max_size=2))
    damaged = document
    for path in changes:
        try:
            damaged = changed(damaged, path, data.draw(JUNK))
        except (TypeError, LookupError):  # the second change is inside of what the first replaced
            continue
    working_or_refused(json.dumps(damaged).encode(), tmp_path_factory.getbasetemp())


@settings(max_examples=100)
@given(data=st.data())
def test_any_missing_or_added_field_is_refused(document, tmp_path_factory, data):
    # a file may tell the versions of more packages, or of fewer, and what more steps found;
    # older ones have no id, no study, no findings and no records
    free = {("guarantee", "versions"), ("findings",)}
    optional = {("id",), ("guarantee", "study"), ("findings",), ("records",)}
    named = [p for p in paths(document) if isinstance(p[-1], str)]
    fields = [p for p in named if p[:-1] not in free and p not in optional]
    path = data.draw(st.sampled_from(fields))
    damaged = copy.deepcopy(document)
    part = damaged
    for step in path[:-1]:
        part = part[step]
    value = part.pop(path[-1])
    if data.draw(st.booleans()):
        part |= {path[-1]: value, "extra": 1}
    assert not working_or_refused(json.dumps(damaged).encode(), tmp_path_factory.getbasetemp())


def lengthened(items: list, how: str) -> list:
    return {"doubled": items + items, "one more": [*items, items[-1]], "none": [],
            "one less": items[:-1], "many": items[:1] * 5000, "wrapped": [items]}[how]  # fmt: skip


@settings(max_examples=150)
@given(data=st.data())
def test_any_list_of_another_length_is_refused_or_works(document, tmp_path_factory, data):
    lists = [path for path in paths(document) if is_filled_list(document, path)]
    damaged = document
    for path in data.draw(st.lists(st.sampled_from(lists), min_size=1, max_size=3, unique=True)):
        how = data.draw(
            st.sampled_from(["doubled", "one more", "none", "one less", "many", "wrapped"])
        )
        try:
            items = at(damaged, path)
            damaged = changed(damaged, path, lengthened(items, how))
        except (TypeError, LookupError):  # inside of what another change replaced
            continue
    working_or_refused(json.dumps(damaged).encode(), tmp_path_factory.getbasetemp())


def at(document: dict, path: tuple) -> list:
    part = document
    for step in path:
        part = part[step]
    return part


def is_filled_list(document: dict, path: tuple) -> bool:
    return isinstance(at(document, path), list) and len(at(document, path)) > 0


@settings(max_examples=200)
@given(data=st.data())
def test_any_changed_bytes_are_refused_or_work(document, tmp_path_factory, data):
    text = bytearray(layout(document).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text) - 1))
        text[start : start + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=4))
    working_or_refused(bytes(text), tmp_path_factory.getbasetemp())


def test_an_intact_document_works(document, tmp_path):
    assert working_or_refused(layout(document).encode(), tmp_path)
    assert decode(document).predict([[5.0]]).shape == (1,)


@pytest.mark.parametrize("rule", ["random", "first"])
def test_a_file_says_which_rows_of_a_person_counted(tmp_path, rule):
    gp = PrivateGPRegressor(
        1.0, 1e-6, bounds=(0, 1), target_bounds=(0, 1), stages=1, max_rows_per_unit=2,
        rows_of_unit=rule, random_state=0,
    )  # fmt: skip
    x = np.linspace(0, 1, 300)
    gp.fit(x[:, None], x, units=np.arange(300) // 3)
    gp.save(tmp_path / "people.json")
    model = dpgp.load(tmp_path / "people.json")
    assert model.options.rows_of_unit == rule
    assert str(model.certificate) == str(gp.certificate_)
    words = {"random": "were drawn at random", "first": "came first in the table"}
    assert words[rule] in str(model.certificate)
    settings = json.loads((tmp_path / "people.json").read_text("utf-8"))["settings"]
    assert settings.get("rows_of_unit") == (rule if rule == "random" else None)
    found = {finding.question: finding.holds for finding in verify(tmp_path / "people.json")}
    assert found["what was asked for is what is promised"]
