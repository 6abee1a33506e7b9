"""Recognisable values are planted and the input is broken in every way: nothing repeats them.

Searched are messages with all that stands behind them, warnings, log lines, reprs, pickles, model
files, reports, and what commands print.
"""

import json
import logging
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.sparse import csr_matrix
from sklearn.gaussian_process.kernels import RBF
from typer.testing import CliRunner

from dpgp import BudgetError, Ledger, PrivateGPRegressor
from dpgp.audit import replay, run
from dpgp.audit.tables import CASES
from dpgp.cli import app
from dpgp.inference.few.target import TargetFit
from dpgp.kernels.counts import SpectrumKernel
from dpgp.kernels.given import NormalizedKernel
from dpgp.ledger.tally import RepeatedFitsWarning
from dpgp.paper import dp_gp_inference, dp_gp_learn_hyperparameters
from dpgp.privacy import noise
from dpgp.progress import Journey, watching
from dpgp.report.health import HealthWarning

N = 1873
NUMBER = 123456.789012
TEXT = "CANARY-ZQX"
PERSON = 987654321987654321
ROWS = r"(?<![\d.])1,?87[234](?![\d.])"
TRACES = re.compile(rf"12345[67]|1\.2345|CANARY|ZQX|98765|9\.8765|{ROWS}", re.IGNORECASE)

X = np.full((N, 2), NUMBER)
Y = np.full(N, NUMBER)
UNITS = [PERSON + k for k in range(N)]


def holed(array, value, kind=object):
    array = np.array(array, dtype=kind)
    array.flat[5] = value
    return array


class Talkative:
    """An element whose every conversion fails with its value."""

    def __float__(self):
        raise RuntimeError(TEXT)

    __array__ = __len__ = __str__ = __float__


NOT_MATRICES = {
    "one dimension": Y,
    "a list in one dimension": Y.tolist(),
    "three dimensions": X[None],
    "a scalar": NUMBER,
    "a scalar array": np.array(NUMBER),
    "text": TEXT,
    "bytes": TEXT.encode(),
    "nothing": None,
    "a mapping": {TEXT: NUMBER},
    "a set": {NUMBER, TEXT},
    "a generator": (row for row in X),
    "rows of other lengths": [*X.tolist()[:-1], [NUMBER]],
    "a scalar among rows": [*X.tolist()[:-1], NUMBER],
    "complex": X.astype(complex),
    "complex objects": holed(X, complex(NUMBER, 1)),
    "strings": np.full((N, 2), TEXT),
    "numbers as strings": X.astype(str),
    "bytes in an array": np.full((N, 2), TEXT.encode()),
    "one string": holed(X, TEXT),
    "one string in a list": [*X.tolist()[:-1], [NUMBER, TEXT]],
    "one mapping": holed(X, {TEXT: NUMBER}),
    "one talkative object": holed(X, Talkative()),
    "talkative": Talkative(),
    "a number beyond floats": holed(X, 10**400),
    "NaN": holed(X, np.nan, float),
    "inf": holed(X, np.inf, float),
    "None": holed(X, None),
    "NA": holed(X, pd.NA),
    "masked": np.ma.array(X, mask=holed(X * 0, 1, float)),
    "sparse": csr_matrix(X),
    "dates": np.full((N, 2), "2020-01-01", "M8[D]"),
    "a date among numbers": holed(X, np.datetime64("2020-01-01")),
    "no columns": X[:, :0],
    "records": np.zeros(N, [("a", float), ("b", float)]),
    "more columns": np.full((N, 3), NUMBER),
    "a frame with text": pd.DataFrame({"a": Y, "b": [*Y[1:], TEXT]}),
    "a frame with dates": pd.DataFrame({"a": Y, "b": pd.Timestamp("2020-01-01")}),
    "a frame with holes": pd.DataFrame({"a": holed(Y, None), "b": Y}).convert_dtypes(),
    "a frame of polars with text": pl.DataFrame({"a": Y, "b": [TEXT] * N}),
    "a frame of polars with holes": pl.DataFrame({"a": [None, *Y[1:]], "b": Y}),
    "an arrow table with text": pa.table({"a": Y, "b": [TEXT] * N}),
    "a frame without header": pd.DataFrame(X, columns=[TEXT, str(NUMBER)]),
    "a frame without header, of text": pd.DataFrame(X, columns=[TEXT, TEXT + "2"]),
}
NOT_TARGETS = {
    "a scalar": NUMBER,
    "text": TEXT,
    "nothing": None,
    "another length": Y[1:],
    "another length, as a list": Y.tolist()[1:],
    "three dimensions": Y[:, None, None],
    "no columns": Y[:, None][:, :0],
    "ragged": [*Y.tolist()[:-1], [NUMBER, NUMBER]],
    "complex": Y.astype(complex),
    "strings": np.full(N, TEXT),
    "one string": holed(Y, TEXT),
    "one talkative object": holed(Y, Talkative()),
    "a number beyond floats": holed(Y, 10**400),
    "NaN": holed(Y, np.nan, float),
    "inf": holed(Y, -np.inf, float),
    "a column of text": pd.Series([TEXT] * N),
    "dates": pd.Series(pd.to_datetime(["2020-01-01"] * N)),
    "sparse": csr_matrix(Y[:, None]),
}
NOT_UNITS = {
    "too few": UNITS[1:],
    "too many": [*UNITS, 1],
    "a scalar": PERSON,
    "text": TEXT,
    "a generator": iter(UNITS),
    "two columns": np.array([UNITS, UNITS]).T,
    "NaN": [*UNITS[1:], np.nan],
    "NA": [*UNITS[1:], pd.NA],
    "None": [*UNITS[1:], None],
    "empty": [*UNITS[1:], ""],
    "a fraction": [*UNITS[1:], 0.5],
    "floats": np.array(UNITS, dtype=float),
    "narrow floats": np.array(UNITS, dtype=np.float32),
    "talkative": [*UNITS[1:], Talkative()],
    "pairs": [(TEXT, unit) for unit in UNITS],
    "dates": pd.Series(pd.to_datetime(["2020-01-01"] * N)),
    "a column with a hole": pd.Series([*UNITS[1:], None]),
    "a nullable column with a hole": pd.Series([*UNITS[1:], None], dtype="Int64"),
    "a text column with a hole": pl.Series([*(f"{TEXT}{unit}" for unit in UNITS[1:]), None]),
}


def arguments_of(cases, name):
    return [pytest.param({name: value}, id=f"{name}: {key}") for key, value in cases.items()]


BROKEN = arguments_of(NOT_MATRICES, "X") + arguments_of(NOT_TARGETS, "y")


def behind(error):
    """Return everything that an error and those before it hold."""
    if error is None:
        return ""
    parts = [repr(error.args), repr(getattr(error, "__notes__", "")), repr(vars(error))]
    return "\n".join([*parts, behind(error.__cause__), behind(error.__context__)])


@pytest.fixture
def refuses(caplog, capfd, monkeypatch):
    """Call something that must fail before any noise, and search all that it says."""
    caplog.set_level(logging.DEBUG)

    def draw(*_):
        raise AssertionError("noise was drawn")

    def refuses(call, *arguments, **options):
        monkeypatch.setattr(noise.SecureNoise, "draw", draw)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with pytest.raises((ValueError, TypeError)) as caught:
                call(*arguments, **options)
        said = [behind(caught.value), *(str(warning.message) for warning in warned)]
        said += [caplog.text, *capfd.readouterr()]
        assert not TRACES.search("\n".join(said)), "\n".join(said)

    return refuses


def estimator(**options):
    public = {"bounds": (-1, 1), "target_bounds": (-1, 1), "stages": 1, "features": "linear"}
    return PrivateGPRegressor(**{"neighbours": "add-remove", **public, **options})


FIT = [case for case in BROKEN if case.id != "X: more columns"]  # as many as one likes


@pytest.mark.parametrize("changes", FIT + arguments_of(NOT_UNITS, "units"))
def test_fit_repeats_nothing(refuses, changes):
    bounds = {"a": (-1, 1), "b": (-1, 1)} if hasattr(changes.get("X"), "columns") else (-1, 1)
    refuses(estimator(bounds=bounds).fit, **({"X": X, "y": Y} | changes))


@pytest.mark.parametrize("changes", arguments_of(NOT_UNITS, "units"))
def test_ignoring_missing_values_is_not_ignoring_whose_they_are(refuses, changes):
    refuses(estimator(missing="ignore").fit, X, Y, **changes)


@pytest.mark.parametrize("changes", BROKEN)
def test_the_paper_repeats_nothing(refuses, changes):
    public = {"noise_std": 0.1, "target_bound": 1.0, "epsilon": 1.0, "delta": 1e-5}
    rows, points = {"X": X, "y": Y} | changes, np.zeros((1, 2))
    if not hasattr(rows["X"], "columns") or TEXT not in rows["X"].columns:
        refuses(dp_gp_inference, **rows, inducing_points=points, kernel=RBF(), **public)
    strings = NormalizedKernel(SpectrumKernel(1))
    words = [*[TEXT] * (N - 1), NUMBER]
    refuses(
        dp_gp_inference, words, Y, inducing_points=["a"], kernel=strings,
        prior_mean="coinpress", **public,
    )  # fmt: skip


@pytest.mark.parametrize("changes", BROKEN)
def test_algorithm_2_repeats_nothing(refuses, changes):
    rows = {"X": X.copy(), "y": Y.copy()} | changes
    if hasattr(rows["X"], "columns") and TEXT in rows["X"].columns:
        pytest.skip("names of any spelling are fine without bounds")
    public = {"candidates": [(RBF(), 0.1)], "target_bound": 1.0, "epsilon": 1.0, "delta": 1e-5}
    for bounds in (None, (-1, 1)):
        options = {"inducing_points": np.zeros((1, 2)), "bounds": bounds, **public}
        refuses(dp_gp_learn_hyperparameters, rows["X"], rows["y"], X + 1, Y + 1, **options)
        refuses(dp_gp_learn_hyperparameters, X + 1, Y + 1, rows["X"], rows["y"], **options)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    rows, targets = rng.uniform(-1, 1, (N, 2)), rng.uniform(-1, 1, N)
    rows[7, 0], targets[11] = NUMBER, NUMBER
    return pd.DataFrame(rows, columns=["a", "b"]), targets


@pytest.fixture(scope="module")
def fitted(people):
    units = [f"{TEXT}{unit}" for unit in UNITS]
    return estimator(random_state=0, max_rows_per_unit=2).fit(*people, units=units)


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(0)
    return dp_gp_inference(
        rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, 40), np.zeros((1, 2)), RBF(),
        noise_std=0.1, target_bound=1.0, epsilon=1.0, delta=1e-5, random_state=0,
    )  # fmt: skip


HEADERLESS = "a frame without header, of text"  # scikit-learn's convention lists such names


@pytest.mark.parametrize("key", [key for key in NOT_MATRICES if key != HEADERLESS])
def test_predicting_repeats_nothing(refuses, fitted, posterior, key):
    X = NOT_MATRICES[key]
    for method in (fitted.predict, fitted.predict_interval, fitted.sample_y):
        refuses(method, X)
    for method in (fitted.log_predictive_density, fitted.score):
        refuses(method, X, Y)
    if key not in ("a frame without header", "NaN", "inf", "None", "NA", "masked") and (
        "holes" not in key
    ):
        for method in (posterior.predict, posterior.sample):
            refuses(method, X)
        refuses(posterior.log_predictive_density, X, Y)


@pytest.mark.parametrize("key", [key for key in NOT_TARGETS if key not in ("NaN", "inf")])
def test_densities_repeat_nothing(refuses, fitted, posterior, key):
    rows = np.zeros((N, 2))
    frame = pd.DataFrame(rows, columns=["a", "b"])
    refuses(fitted.log_predictive_density, frame, NOT_TARGETS[key])
    refuses(fitted.score, frame, NOT_TARGETS[key])
    refuses(posterior.log_predictive_density, rows, NOT_TARGETS[key])


def test_weights_of_a_score_are_not_repeated(refuses, fitted):
    frame = pd.DataFrame(np.zeros((N, 2)), columns=["a", "b"])
    for weights in (Y[1:], TEXT, np.full(N, TEXT), np.array(NUMBER)):
        refuses(fitted.score, frame, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("X", "y"), [(X, holed(Y, 1e308, float)), (X, Y * 1e300), (X * 1e300, Y), (-X * 1e300, -Y)]
)
def test_no_value_causes_a_warning(X, y):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        estimator().fit(X, y)
    # what a model says of itself is computed from releases, and how often one was fitted is public
    assert {warning.category for warning in warned} <= {HealthWarning, RepeatedFitsWarning}


def numbers_in(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for part in value for number in numbers_in(part)]
    return [value] if isinstance(value, int | float) else []


def test_what_is_published_holds_nothing(fitted, people, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    fitted.save(tmp_path / "model.json")
    fitted.report(tmp_path / "report.html")
    file = (tmp_path / "model.json").read_text(encoding="utf-8")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    shown = [repr(fitted), fitted._repr_html_(), repr(fitted.certificate_), caplog.text]
    for text in (*shown, report, file):
        # three letters alone stand in any long matrix that is written in base 64
        assert not re.search(rf"{NUMBER}|CANARY|{PERSON // 1000}", text)
    assert not any("ZQX" in text for text in shown)
    assert not any(re.search(ROWS, text) for text in shown)
    assert N not in numbers_in(json.loads(file))
    stored = pickle.dumps(fitted)
    private = [NUMBER, *people[0]["a"], *people[1]]
    assert TEXT.encode() not in stored
    assert not any(np.float64(value).tobytes() in stored for value in private)


LEVELS = {1: ["F", "M"]}
FRAME = {"age": np.linspace(-1, 1, N), "sex": (["F", "M"] * N)[:N]}
NOT_LEVELS = {
    "another text": TEXT,
    "a number": NUMBER,
    "a whole number": PERSON,
    "nothing": None,
    "NaN": np.nan,
    "a list": [TEXT],
    "talkative": Talkative(),
    "bytes": TEXT.encode(),
    "a long text": TEXT * 10_000,
}


def levels_estimator(**options):
    public = {"bounds": [(-1, 1)], "target_bounds": (-1, 1), "stages": 1, "categories": LEVELS}
    return PrivateGPRegressor(**{**public, **options})


def with_level(value):
    """Rows of which one has another level, as an array, a list and a frame."""
    rows = np.empty((N, 2), dtype=object)
    rows[:, 0], rows[:, 1] = FRAME["age"], FRAME["sex"]
    rows[5, 1] = value
    return rows, rows.tolist(), pd.DataFrame(rows, columns=["age", "sex"])


@pytest.fixture(scope="module")
def fitted_levels():
    rows = with_level(f"{TEXT}2")[0]
    return levels_estimator(missing="ignore", random_state=0).fit(rows, np.linspace(-1, 1, N))


@pytest.mark.parametrize("value", NOT_LEVELS.values(), ids=list(NOT_LEVELS))
def test_no_level_is_repeated_but_public_ones(refuses, fitted_levels, value):
    for rows in with_level(value):
        refuses(levels_estimator().fit, rows, Y)
        if isinstance(rows, pd.DataFrame):
            continue  # an array was fitted, and scikit-learn warns
        for method in (fitted_levels.predict, fitted_levels.model_.predict, fitted_levels.sample_y):
            refuses(method, rows)


@pytest.mark.parametrize("key", [key for key in NOT_MATRICES if key != HEADERLESS])
def test_tables_with_categories_repeat_nothing(refuses, key):
    X = NOT_MATRICES[key]
    names = getattr(X, "column_names", getattr(X, "columns", None))
    levels = {"b": ["F", "M"]} if names is not None else LEVELS
    bounds = {"a": (-1, 1)} if names is not None else [(-1, 1)]
    refuses(levels_estimator(categories=levels, bounds=bounds).fit, X, Y)


def test_what_is_published_holds_public_levels_alone(fitted_levels, tmp_path):
    fitted_levels.save(tmp_path / "model.json")
    fitted_levels.report(tmp_path / "report.html")
    shown = [repr(fitted_levels), fitted_levels._repr_html_(), repr(fitted_levels.certificate_)]
    files = [
        (tmp_path / name).read_text(encoding="utf-8") for name in ("model.json", "report.html")
    ]
    # three letters alone stand in any long matrix that is written in base 64
    assert not any("CANARY" in text for text in (*shown, *files))
    assert TEXT.encode() not in pickle.dumps(fitted_levels)


def private_traces(stored, people):
    """Return which private values stand in bytes, as text or as doubles."""
    private = [NUMBER, *people[0]["a"], *people[1]]
    doubles = [value for value in private if np.float64(value).tobytes() in stored]
    texts = re.findall(rf"{NUMBER}|CANARY|ZQX|{PERSON // 1000}".encode(), stored)
    written = [value for value in private if repr(float(value)).encode() in stored]
    return [*doubles, *texts, *written]


@pytest.fixture(scope="module")
def booked(people, tmp_path_factory):
    """A model that was fitted with a ledger, after fits that failed and were refused."""
    folder = tmp_path_factory.mktemp("booked")
    ledger = Ledger(folder / "s.ledger", 3.0, 1e-5, neighbours="add-remove", protects="person")
    units = [f"{TEXT}{unit}" for unit in UNITS]
    gp = estimator(max_rows_per_unit=2, ledger=ledger)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TargetFit, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            gp.set_params(epsilon=0.1).fit(*people, units=units)
    gp.set_params(epsilon=1.0).fit(*people, units=units)
    with pytest.raises(BudgetError):
        gp.set_params(epsilon=4.0).fit(*people, units=units)
    return gp.set_params(epsilon=1.0).fit(*people, units=units), folder


def test_a_ledger_holds_no_value_and_no_number_of_rows(booked, people):
    _, folder = booked
    stored = (folder / "s.ledger").read_bytes()
    assert private_traces(stored, people) == []
    entries = Ledger(folder / "s.ledger").entries()
    assert len(entries) == 7
    said = [CliRunner().invoke(app, ["ledger", c, str(folder / "s.ledger")]) for c in LEDGER]
    for text in (*(entry.text for entry in entries), *(result.output for result in said)):
        assert not TRACES.search(text.replace(str(folder), ""))
        assert not re.search(ROWS, text)
    assert N not in numbers_in([entry.body for entry in entries])


LEDGER = ("show", "history", "check")


def test_certificate_and_papers_hold_nothing(booked, people, tmp_path):
    gp, _ = booked
    gp.save(tmp_path / "model.json")
    form = ["--name", "n", "--curator", "c", "--curator-type", "Industry", "--intended-use", "u"]
    commands = [
        ["verify", "model.json"], ["verify", "model.json", "--json"], ["statement", "model.json"],
        ["registry", "model.json", *form, "--region", "r", "--author", "a"],
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        results = [CliRunner().invoke(app, command) for command in commands]
    assert [result.exit_code for result in results] == [0] * len(commands)
    guarantee = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["guarantee"]
    assert N not in numbers_in(guarantee)
    said = [result.output for result in results] + [json.dumps(guarantee), gp.certificate_.note]
    for text in said:
        # three letters alone stand in any long matrix that is written in base 64
        assert not re.search(rf"{NUMBER}|CANARY|{PERSON // 1000}", text)
        assert private_traces(text.encode(), people) == []
        assert not re.search(r"(?<![\d.])1,?873(?![\d.])", text)


def test_errors_of_a_ledger_repeat_nothing(refuses, tmp_path):
    ledger = Ledger(tmp_path / "s.ledger", 0.5, 1e-6)
    refuses(estimator(ledger=ledger).fit, X, Y)
    refuses(estimator(ledger=ledger, neighbours="replace").fit, X, Y, units=UNITS)
    refuses(estimator(ledger=tmp_path / "none.ledger").fit, X, Y)
    assert len(ledger.entries()) == 1


def test_a_refused_budget_repeats_nothing(people, tmp_path, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    ledger = Ledger(tmp_path / "s.ledger", 0.5, 1e-6, neighbours="add-remove")
    monkeypatch.setattr(noise.SecureNoise, "draw", lambda *_: 1 / 0)
    with pytest.raises(BudgetError) as caught:
        estimator(ledger=ledger, epsilon=1.0).fit(*people)
    said = "\n".join([behind(caught.value), caplog.text, *capfd.readouterr()])
    assert not TRACES.search(said.replace(str(tmp_path), ""))


def test_the_audit_says_figures_of_made_up_tables_alone(monkeypatch):
    """Its output has ratios, bounds and counts of attacks; integers and rows stay inside."""
    monkeypatch.setattr(run, "CASES", {"a line": CASES["a line"]})
    found = list(run.audit(run.Effort(step_pairs=4, fit_pairs=0, runs=100), rows=50))
    said = " ".join(f"{attack.name} {attack.detail}" for attack in found)
    assert not re.search(r"\d{7,}|\[|array|1e\+?300|nan", said)
    for holder in (replay.Recorder(noise.SimulatedNoise(0)), replay.Replay([])):
        assert "totals" not in repr(holder)


def test_progress_shows_steps_alone(people):
    steps = []
    with watching(Journey(steps.append)):
        estimator(max_rows_per_unit=1, random_state=0).fit(*people)
    assert steps
    assert not any(TRACES.search(step) or re.search(r"\d{3,}", step) for step in steps)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_number_of_threads_says_the_same_nothing(people, threads, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    gp = estimator(random_state=0, n_jobs=threads).fit(*people)
    said = "\n".join([caplog.text, *capfd.readouterr(), repr(gp), repr(gp.model_)])
    assert not TRACES.search(said)
    assert private_traces(pickle.dumps(gp), people) == []


CELLS = f"{PERSON},0.5,{NUMBER},{TEXT}"
ROW = f"{PERSON + 1},0.25,0.5,x"
TABLES = {
    "an unclosed quote": f'id,age,height,note\n{ROW}\n{PERSON},0.5,{NUMBER},"{TEXT}\n{ROW}\n',
    "a line break": f'id,age,height,note\n{ROW}\n{PERSON},0.5,{NUMBER},"{TEXT}\n{TEXT}"\n{ROW}\n',
    "a long line": f"id,age,height,note\n{ROW}\n{CELLS},{TEXT}\n",
    "no header": f"{CELLS}\n{ROW}\n",
    "no header, text alone": f"{TEXT},{TEXT}2\n{TEXT},{TEXT}\n",
    "text for a number": f"id,age,height,note\n{ROW}\n{PERSON},0.5,{TEXT},\n",
    "a missing number": f"id,age,height,note\n{ROW}\n{CELLS}\n{PERSON},0.5,,{TEXT}\n",
    "a missing person": f"id,age,height,note\n{ROW}\n,0.5,{NUMBER},{TEXT}\n",
    "one row": f"id,age,height,note\n{CELLS}\n",
    "two columns of a name": f"id,age,height,height\n{CELLS}\n{ROW}\n",
    "Latin-1": f"id,age,height,note\n{CELLS}\xe9\n{ROW}\n".encode("latin-1"),
    "UTF-16": f"id,age,height,note\n{CELLS}\n{ROW}\n".encode("utf-16"),
    "a NUL": f"id,age,height,note\n{CELLS}\0\n{ROW}\n",
    "carriage returns": f"id,age,height,note\r{CELLS}\r{ROW}\r",
    "no Parquet": f"PAR1{CELLS}".encode(),
}
COLUMNS = {"id": [PERSON, PERSON + 1], "age": [0.5, NUMBER], "height": [0.5, NUMBER]}
PARQUET = {
    "text for a number": {"height": [TEXT, "1"]},
    "a hole": {"height": [None, NUMBER]},
    "bytes": {"height": [TEXT.encode()] * 2},
    "lists": {"age": [[NUMBER], [NUMBER]]},
    "nanoseconds": {"height": pa.array([PERSON, PERSON], pa.timestamp("ns"))},
    "a missing person": {"id": [PERSON, None]},
    "people as floats": {"id": [float(PERSON), 1.0]},
    "people as narrow floats": {"id": pa.array([float(PERSON), 1.0], pa.float32())},
    "a number beyond floats": {"id": [TEXT, None]},
}


@pytest.fixture
def says_nothing(tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)

    def draw(*_):
        raise AssertionError("noise was drawn")

    def says_nothing(*arguments):
        monkeypatch.setattr(noise.SecureNoise, "draw", draw)
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code in (2, 4), result.output
        said = result.output + result.stderr + caplog.text
        assert not TRACES.search(said.replace(str(tmp_path), "")), said
        assert isinstance(result.exception, SystemExit)

    return says_nothing


def fit_command(data, *options):
    columns = ["--target", "height:0:1", "--feature", "age:0:1", "--unit", "id"]
    budget = ["--epsilon", 1, "--delta", 1e-6, "-o", data.with_suffix(".json"), "--yes"]
    return ["fit", data, *columns, *budget, *options]


@pytest.mark.parametrize("content", TABLES.values(), ids=list(TABLES))
def test_commands_repeat_nothing_of_csv(says_nothing, tmp_path, content):
    data = tmp_path / "people.csv"
    data.write_bytes(content if isinstance(content, bytes) else content.encode())
    says_nothing(*fit_command(data))
    says_nothing(*fit_command(data, "--neighbours", "add-remove", "--dry-run"))


@pytest.mark.parametrize("cell", [TEXT, f'"{TEXT}, F"', "", str(NUMBER)])
def test_commands_repeat_no_level_but_public_ones(says_nothing, fitted_levels, tmp_path, cell):
    data = tmp_path / "people.csv"
    data.write_text(f"age,sex,height\n0.5,F,0.5\n0.5,{cell},0.5\n", encoding="utf-8")
    columns = ["--target", "height:0:1", "--feature", "age:0:1", "--category", "sex:F,M"]
    budget = ["--epsilon", 1, "--delta", 1e-6, "-o", tmp_path / "out.json", "--yes"]
    says_nothing("fit", data, *columns, *budget)
    if cell:
        data.write_text(f"age,sex\n0.5,F\n0.5,{cell}\n", encoding="utf-8")
        fitted_levels.save(tmp_path / "model.json")
        says_nothing("predict", tmp_path / "model.json", data)


@pytest.mark.parametrize("changes", PARQUET.values(), ids=list(PARQUET))
def test_commands_repeat_nothing_of_parquet(says_nothing, tmp_path, changes):
    data = tmp_path / "people.parquet"
    parquet.write_table(pa.table(COLUMNS | changes), data)
    says_nothing(*fit_command(data))


@pytest.mark.parametrize(
    "key", ["an unclosed quote", "a long line", "no header", "no header, text alone", "a NUL"]
)
def test_predictions_repeat_nothing_of_tables_they_cannot_use(says_nothing, fitted, tmp_path, key):
    fitted.save(tmp_path / "model.json")
    (tmp_path / "new.csv").write_text(TABLES[key], encoding="utf-8")
    says_nothing("predict", tmp_path / "model.json", tmp_path / "new.csv")
