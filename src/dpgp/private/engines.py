"""Workers of a cluster, which call a function on items: those of Dask and of Spark."""

from __future__ import annotations

import builtins
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import pyarrow as pa

from dpgp.package import install
from dpgp.privacy.exact_sums import UnevenArithmeticError
from dpgp.private.tables import ClusterError, TableError


class Engine(Protocol):
    """Workers that call a function on items."""

    @property
    def workers(self) -> int:
        """How many calls run at once."""
        ...

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield the result for every item, in their order; one that is lost is computed anew."""
        ...


@contextmanager
def opened_engine(engine: str | None) -> Iterator[Engine | None]:
    """Keep the workers of an engine while the block lasts; None where none is asked for."""
    if engine is None:
        yield None
        return
    check_engine(engine)
    with ENGINES[engine][1]() as workers:
        yield workers


def check_engine(engine: Any) -> None:
    """Raise where an engine is unknown, or its package is not installed."""
    if engine not in ENGINES:
        names = " or ".join(repr(name) for name in ENGINES)
        raise ValueError(f"`engine` must be {names}, or None for this machine, got {engine!r}.")
    try:
        import_module(ENGINES[engine][0])
    except ImportError:
        raise ValueError(f"`engine` {engine!r} needs its package; run {install(engine)}.") from None


@dataclass(frozen=True)
class Failure:
    """What went wrong on a worker, in words that may leave it."""

    kind: type[Exception]
    words: tuple[Any, ...]


def answers(engine: Engine, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Yield what workers answer for every item; raise what went wrong on one of them."""
    for answer in engine.each(partial(_in_words, work), items):
        if isinstance(answer, Failure):
            raise answer.kind(*answer.words)
        yield answer


def _in_words(work: Callable[[Any], Any], item: Any) -> Any:
    """Return the result, or a failure instead of raising it: logs of workers would quote it."""
    try:
        return work(item)
    except (TableError, UnevenArithmeticError) as error:
        return Failure(type(error), error.args)
    except Exception as error:  # whatever it says may quote the data
        words = f"a worker failed with {type(error).__name__}; this pass released nothing."
        return Failure(ClusterError, (words,))


# --- Dask: the client that is open, or else workers of this machine -------------------------------

DASK_LOST = (
    "workers died again and again on one part of the table; this pass released nothing. Give them "
    "more memory, or look at their logs."
)


@dataclass(frozen=True)
class DaskEngine:
    """Calls functions on the workers of a client."""

    client: Any

    @property
    def workers(self) -> int:
        """How many threads all workers have."""
        return max(sum(map(int, self.client.nthreads().values())), 1)

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield the results in order; the scheduler gives what a dead worker had to another."""
        from distributed.scheduler import KilledWorker

        function = self.client.scatter(work, broadcast=True, hash=False)
        futures = [self.client.submit(_call, function, item, pure=False) for item in items]
        try:
            for future in futures:
                yield future.result()
        except KilledWorker:
            lost = True
        else:
            lost = False
        finally:
            self.client.cancel(futures)
        if lost:
            raise ClusterError(DASK_LOST)


def _call(work: Callable[[Any], Any], item: Any) -> Any:
    return work(item)


@contextmanager
def dask_engine() -> Iterator[DaskEngine]:
    """Use the client that is open; where none is, one for this fit, which is closed afterwards.

    That one goes to DASK_SCHEDULER_ADDRESS, or starts workers on this machine.
    """
    from dask import config
    from distributed import Client, get_client

    try:
        client = get_client()
    except ValueError:  # there is none
        address = config.get("scheduler-address", None)
        here = {"threads_per_worker": 1, "dashboard_address": ":0"}
        with Client(address, **({} if address else here)) as own:
            yield DaskEngine(own)
    else:
        yield DaskEngine(client)


# --- Spark: the session that is open, or else a new one -------------------------------------------

SPARK_LOST = "Spark could not finish a pass, which released nothing: "
NOT_STARTED = "Spark could not be started; nothing was spent: "

INTERPRETER = "PYSPARK_PYTHON"
"""Which Python workers run, in the environment of whoever creates a session."""
SAME_PYTHON = (
    f"before the session is created, set {INTERPRETER} to a Python with dpgp, of version "
    f"{sys.version_info.major}.{sys.version_info.minor}, at the same path on every worker."
)
CAUSES = (
    ("JAVA_GATEWAY_EXITED", "it needs Java, 17 or newer; install it, or set JAVA_HOME to it."),
    ("PYTHON_VERSION_MISMATCH", f"workers run another version of Python; {SAME_PYTHON}"),
    ("Cannot run program", f"a worker found no Python to run; {SAME_PYTHON}"),
)
"""What Spark says of failures that users can mend, and what they are told."""
_ABSENT = re.compile(r"No module named '([\w.]+)'")
_KIND = re.compile(r"^([A-Z]\w*)\b", re.MULTILINE)


@dataclass(frozen=True)
class SparkEngine:
    """Calls functions on the workers of a session, one partition for each item."""

    session: Any

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        return int(self.session.sparkContext.defaultParallelism)

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield the results in order; Spark repeats the task of a lost worker, and takes one."""
        listed = list(items)

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                numbers = batch.column(0).to_pylist()
                results = [pickle.dumps(work(listed[number])) for number in numbers]
                yield pa.RecordBatch.from_pydict({"number": numbers, "result": results})

        numbers = self.session.range(0, len(listed), 1, len(listed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # about pandas, which nobody uses
                rows = numbers.mapInArrow(answer, "number long, result binary").collect()
            words = None
        except Exception as error:  # whatever it says may quote the data
            words = SPARK_LOST + _cause(error)
        if words is not None:
            raise ClusterError(words)
        results = {row["number"]: bytes(row["result"]) for row in rows}
        return (pickle.loads(results[number]) for number in range(len(listed)))


@contextmanager
def spark_engine() -> Iterator[SparkEngine]:
    """Use the session that is open; where none is, a new one, which is stopped afterwards."""
    from pyspark.sql import SparkSession

    open_session = SparkSession.getActiveSession()
    session = open_session or _new_session()
    try:
        yield SparkEngine(session)
    finally:
        if open_session is None:
            session.stop()


def _new_session() -> Any:
    """Return a session whose workers run our interpreter, unless another is configured."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("dpgp").config("spark.log.level", "FATAL")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    is_configured = INTERPRETER in os.environ
    os.environ.setdefault(INTERPRETER, sys.executable)
    try:
        return builder.getOrCreate()
    except Exception as error:
        words = NOT_STARTED + _cause(error)
    finally:
        if not is_configured:
            del os.environ[INTERPRETER]
    raise ClusterError(words)


def _cause(error: Exception) -> str:
    """Return what went wrong, in words that hold nothing but names of modules and exceptions."""
    said = str(error)
    for sign, words in CAUSES:
        if sign in said:
            return words
    for name in _ABSENT.findall(said):
        if name in sys.modules:  # so it is a name of ours, and no text of the data
            return f"a worker's Python has no module {name}; {SAME_PYTHON}"
    kinds = [kind for kind in _KIND.findall(said) if _is_exception(getattr(builtins, kind, None))]
    kind = kinds[-1] if kinds else type(error).__name__
    return f"{kind}; look at the logs of its workers."


def _is_exception(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseException)


ENGINES: dict[str, tuple[str, Callable[[], AbstractContextManager[Engine]]]] = {
    "dask": ("distributed", dask_engine),
    "spark": ("pyspark", spark_engine),
}
"""The package that an engine needs, and what opens it; extras of dpgp have the engines' names."""
