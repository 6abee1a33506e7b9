"""Workers of Spark: those of the session that is open, or else of a new one."""

from __future__ import annotations

import builtins
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpgp.private.tables import ClusterError

LOST = "Spark could not finish a pass, which released nothing: "
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
            words = LOST + _cause(error)
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
