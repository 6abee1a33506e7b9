"""Models that add up: one posterior from the records of several releases about different people.

``reading`` makes normal equations of records, ``curve`` finds the function that they are about,
``agreement`` asks whether it is one, ``spread`` how far observations lie from it, and ``pooled``
puts all of it into a model; ``reread`` reads one release under another kernel, and ``update`` is
what a fit starts from that adds to a model. Nothing here sees a row.
"""

from dpgp.pooling.agreement import Difference, ReleaseAgreement
from dpgp.pooling.common import PoolingError
from dpgp.pooling.pooled import pool
from dpgp.pooling.reread import reread
from dpgp.pooling.update import updated

__all__ = [
    "Difference",
    "PoolingError",
    "ReleaseAgreement",
    "pool",
    "reread",
    "updated",
]
