"""Workers of a cluster: the integers of one machine, each part once, and errors in words."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dpgp import PrivateGPRegressor, load
from dpgp.cli import app
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.exact_sums import UNIT, UnevenArithmeticError
from dpgp.private import engines
from dpgp.private.engines import answers, check_engine, opened_engine
from dpgp.private.files import open_files
from dpgp.private.row_reader import RowReader
from dpgp.private.sums import CountSum, exact_count, exact_gram
from dpgp.private.table_rows import (
    ArithmeticOfWorkersWarning,
    ClusterRows,
    TableRows,
    part_sizes,
    read_files,
)
from dpgp.private.tables import ClusterError, TableError

ROWS = 5000
BOX = Box.from_bounds([(0, 1), (-1, 1)], 2, ["age", "dose"])
FEATURES = BoxFeatures(UnitInputs(BOX), LinearFeatures(2))


def wanted(unit=None, most=1, rule="random", weight=None):
    options = Options.parse(
        box=BOX,
        target_box=Box.from_bounds((0, 2), 1, ["height"]),
        per_person=unit is not None,
        max_rows_per_unit=most,
        rows_of_unit=rule,
        weight_bound=None if weight is None else 3.0,
    )
    return RowReader(("age", "dose"), ("height",), unit, options, weight)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("people"), np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(0, 1, ROWS),
            "dose": rng.uniform(-1, 1, ROWS),
            "height": rng.uniform(0, 2, ROWS),
            "who": rng.integers(0, 900, ROWS),
            "weight": rng.uniform(0, 4, ROWS),
        }
    )
    frame[:2000].to_csv(folder / "1.csv", index=False)
    frame[2000:2500].to_csv(folder / "2.csv.gz", index=False)
    frame[2500:].to_parquet(folder / "3.parquet", row_group_size=300)
    return folder


@pytest.fixture(scope="module")
def dask():
    """Two worker processes of this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    master = "local[2, 4]"  # a task may fail three times, as on a cluster
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # also where no environment is activated
        session = builder.getOrCreate()
    yield session
    session.stop()


ENGINES = ["dask", pytest.param("spark", marks=pytest.mark.slow)]


@pytest.fixture(params=ENGINES)
def engine(request):
    request.getfixturevalue(request.param)
    with opened_engine(request.param) as workers:
        yield workers


@pytest.mark.parametrize(
    ("unit", "most", "rule", "weight"),
    [
        (None, 1, "first", None),
        (None, 1, "first", "weight"),
        ("who", 1, "first", None),
        ("who", 1, "random", None),
        ("who", 3, "random", None),
        ("who", 3, "random", "weight"),
    ],
)
def test_a_cluster_has_the_integers_of_one_machine(engine, folder, unit, most, rule, weight):
    files, asked = open_files(folder), wanted(unit, most, rule, weight)
    here = TableRows.opened(files, asked, seed=7)
    there = ClusterRows.opened(files, asked, engine, seed=7)
    assert len(there.table.files) > len(files)
    assert len(there) == len(here) == ROWS
    assert np.array_equal(exact_gram(there, FEATURES), exact_gram(here, FEATURES))
    assert np.array_equal(exact_count(there), exact_count(here))
    assert repr(there) == "ClusterRows(...)"


def estimator(**asked):
    bounds = {"age": (0, 1), "dose": (-1, 1)}
    return PrivateGPRegressor(
        1.0, 1e-6, bounds=bounds, target_bounds=(0, 2), random_state=0, stages=1, **asked
    )


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_fit_on_a_cluster_is_the_fit_on_one_machine(engine, folder, weight):
    name = type(engine).__name__.removesuffix("Engine").lower()
    asked = {"max_rows_per_unit": 2, "weight_bound": None if weight is None else 3.0}
    columns = {"target": "height", "units": "who", "sample_weight": weight}
    there = estimator(engine=name, **asked).fit(folder, **columns)
    here = estimator(**asked).fit(folder, **columns)
    new = pd.DataFrame({"age": [0.2, 0.9], "dose": [0.0, 1.0]})
    assert np.array_equal(there.predict(new), here.predict(new))
    assert there.certificate_.releases == here.certificate_.releases


class SlowCount(CountSum):
    """Counts, and takes long over every part; leaves a line for every part that is read."""

    def __init__(self, log):
        self.log = log

    def partial(self, batches):
        with open(self.log, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(0.3)
        return super().partial(batches)

    def __reduce__(self):
        return SlowCount, (self.log,)


class Killer(threading.Thread):
    """Kills the process that reads the first part, while it does."""

    def __init__(self, log):
        super().__init__(daemon=True)  # nothing may ever be read
        self.log = log

    def run(self):
        while not os.path.exists(self.log):
            time.sleep(0.05)
        time.sleep(0.1)
        os.kill(int(self.readings()[0]), signal.SIGKILL)

    def readings(self):
        with open(self.log) as file:
            return file.read().split()


def check_that_a_killed_workers_part_is_counted_once(engine, folder, tmp_path):
    rows = ClusterRows.opened(open_files(folder), wanted(), engine)
    killer = Killer(str(tmp_path / "parts.txt"))
    killer.start()
    assert rows.total(SlowCount(killer.log)).tolist() == [ROWS * UNIT**2]
    killer.join(timeout=10)
    assert len(killer.readings()) > len(rows.table.files)  # one of them began twice


def test_the_part_of_a_killed_worker_is_read_anew_and_counted_once(folder, tmp_path):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=True),
        opened_engine("dask") as engine,
    ):
        check_that_a_killed_workers_part_is_counted_once(engine, folder, tmp_path)


@pytest.mark.slow
def test_so_is_the_part_of_a_killed_worker_of_spark(spark, folder, tmp_path):
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not know the tests
    with opened_engine("spark") as engine:
        check_that_a_killed_workers_part_is_counted_once(engine, folder, tmp_path)


def test_what_fails_on_a_worker_is_said_in_words(engine):
    with pytest.raises(ClusterError, match="a worker failed with ValueError") as caught:
        list(answers(engine, float, ["1", "secret"]))
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_file_that_a_worker_does_not_find_is_named(engine, folder, tmp_path):
    (tmp_path / "gone.csv").write_text("age,dose,height\n0,0,0\n")
    files = open_files([folder, tmp_path / "gone.csv"])
    (tmp_path / "gone.csv").unlink()
    with pytest.raises(TableError, match=r"gone.csv': no such file"):
        list(answers(engine, partial(part_sizes, wanted()), files))


class Uneven:
    """An engine whose first worker has one arithmetic, and the others another."""

    workers = 2

    def __init__(self, digests):
        self.digests = digests

    def each(self, work, items):
        for place, item in enumerate(items):
            yield replace(work(item), arithmetic=self.digests[min(place, 1)])


@pytest.fixture(scope="module")
def read(folder):
    return TableRows.opened(open_files(folder), wanted())


def test_workers_that_compute_otherwise_are_noticed(read):
    with pytest.raises(UnevenArithmeticError, match="one kind of processor"):
        exact_gram(ClusterRows(read, Uneven([b"1", b"2"])), FEATURES)


def test_workers_that_all_compute_otherwise_than_we_are_said(read):
    with pytest.warns(ArithmeticOfWorkersWarning, match="may differ in a last bit"):
        exact_gram(ClusterRows(read, Uneven([b"1", b"1"])), FEATURES)


def test_the_command_line_fits_on_a_cluster(dask, folder, tmp_path):
    columns = [
        "--target",
        "height:0:2",
        "--feature",
        "age:0:1",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
    ]
    output = str(tmp_path / "model.json")
    asked = ["fit", str(folder), *columns, "--epsilon", "1", "--delta", "1e-6"]
    asked += ["--engine", "dask", "--yes", "-o", output]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert load(output).input_names == ["age"]
    unknown = CliRunner().invoke(app, [*asked[:-4], "ray", "--yes", "-o", f"{output}2"])
    assert unknown.exit_code == 2
    assert "`engine` must be 'dask' or 'spark'" in unknown.stderr


def test_a_partition_that_cannot_be_read_spends_nothing(dask, folder, tmp_path, monkeypatch):
    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(Books, "reserve", never)
    bad = pd.read_parquet(folder / "3.parquet").reset_index(drop=True).astype({"dose": str})
    bad.loc[7, "dose"] = "secret"
    bad.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(TableError, match=r"bad.parquet': column 'dose' holds cells") as caught:
        estimator(engine="dask").fit([folder, tmp_path / "bad.parquet"], target="height")
    assert "secret" not in str(caught.value)


def test_engines_that_cannot_be_meant_are_refused(folder, monkeypatch):
    with pytest.raises(ValueError, match="`engine` must be 'dask' or 'spark', or None"):
        check_engine("ray")
    with pytest.raises(ValueError, match="`engine` needs files"):
        estimator(engine="dask").fit(np.zeros((3, 2)), np.zeros(3))

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("dpgp.private.engines.import_module", absent)
    with pytest.raises(ValueError, match=r"pip install '\.\[spark\]'"):
        check_engine("spark")


def test_tables_in_memory_do_not_travel():
    import pyarrow as pa

    from dpgp.private.table_objects import open_object

    table = open_object(pa.table({"age": [1.0]}), hold=False)
    with pytest.raises(TableError, match="a cluster reads files"):
        read_files([table], wanted(), object())


OUR_SPARK = """
import os
from dpgp.private.engines import answers, opened_engine
from dpgp.private.tables import ClusterError
before = os.environ.get("PYSPARK_PYTHON")
try:
    with opened_engine("spark") as engine:
        print(list(answers(engine, abs, [-1, -2])))
except ClusterError as error:
    print(error)
assert os.environ.get("PYSPARK_PYTHON") == before
"""


def our_spark(tmp_path, **changes):
    """Let a process, in no environment that is activated, create its own session."""
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o700)
    environment = {name: text for name, text in os.environ.items() if name != "PYSPARK_PYTHON"}
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [sys.executable, "-c", OUR_SPARK],
        env={**environment, "PATH": path, **changes},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "\tat " not in run.stderr  # no page of Java
    return run.stdout


@pytest.mark.slow
def test_workers_of_our_own_session_run_our_python(tmp_path):
    assert our_spark(tmp_path) == "[1, 2]\n"


@pytest.mark.slow
def test_what_a_worker_lacks_is_said_with_the_remedy(tmp_path):
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without installed packages
    bare.chmod(0o700)
    assert "has no module" in our_spark(tmp_path, PYSPARK_PYTHON=str(bare))
    gone = our_spark(tmp_path, PYSPARK_PYTHON=str(tmp_path / "gone"))
    assert "found no Python to run" in gone
    assert "set PYSPARK_PYTHON to a Python with dpgp" in gone
    java = our_spark(tmp_path, JAVA_HOME=str(tmp_path))
    assert "could not be started; nothing was spent: it needs Java" in java


SAID = {
    "another version": (
        "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in "
        "driver: 3.11",
        "workers run another version of Python; before the session is created, set PYSPARK_PYTHON",
    ),
    "a module of ours": ("No module named 'dpgp'", "a worker's Python has no module dpgp"),
    "a module of nobody": ("No module named 'secret'", "RuntimeError; look at the logs"),
    "a kind of error": ("Traceback:\nMemoryError: secret", "MemoryError; look at the logs"),
    "a text of the data": ("Secret: secret\nSecretError: secret", "RuntimeError; look at"),
    "nothing": ("", "RuntimeError; look at the logs"),
}


@pytest.mark.parametrize(("said", "words"), SAID.values(), ids=SAID)
def test_what_spark_says_is_told_without_the_data(said, words):
    found = engines._cause(RuntimeError(said))
    assert found.startswith(words)
    assert "secret" not in found.casefold()
