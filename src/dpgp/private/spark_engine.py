"""Workers of Spark: those of the session that is open, or else of a new one."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpgp.private.tables import ClusterError

LOST = "Spark could not finish a pass, which released nothing; look at the logs of its workers."


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
        except Exception:  # whatever it says may quote the data
            rows = None
        if rows is None:
            raise ClusterError(LOST)
        results = {row["number"]: bytes(row["result"]) for row in rows}
        return (pickle.loads(results[number]) for number in range(len(listed)))


@contextmanager
def spark_engine() -> Iterator[SparkEngine]:
    """Use the session that is open; where none is, a new one, which is stopped afterwards."""
    from pyspark.sql import SparkSession

    open_session = SparkSession.getActiveSession()
    session = open_session or SparkSession.builder.appName("dpgp").getOrCreate()
    try:
        yield SparkEngine(session)
    finally:
        if open_session is None:
            session.stop()
