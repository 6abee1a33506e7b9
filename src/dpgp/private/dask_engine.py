"""Workers of Dask: those of the client that is open, or else some of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dpgp.private.tables import ClusterError

LOST = (
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
            raise ClusterError(LOST)


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
