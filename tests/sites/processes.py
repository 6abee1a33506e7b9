"""Parties of a joint fit as processes of their own, which hear of each other by sockets alone."""

import multiprocessing
import time
from multiprocessing.pool import ThreadPool

import numpy as np

import dpgp
from dpgp.sites import Site, SitesError, coordinate

SMALL = {
    "bounds": (-1, 1),
    "target_bounds": (-2, 2),
    "features": "linear",
    "stages": 2,
    "n_jobs": 1,
}


NAMES = ("north", "south", "west")


def rows_of():
    """A small table of three parts."""
    generator = np.random.default_rng(3)
    X = generator.uniform(-1, 1, (300, 1))
    y = np.sin(3 * X[:, 0]) + generator.normal(0, 0.1, 300)
    return np.split(X, [90, 220]), np.split(y, [90, 220])


def coordinator(folder, patience=60.0):
    return coordinate(folder / "roster.yaml", folder / "coordinator.key", patience=patience)


def weights_of(X, options):
    """What rows weigh, from 0 to 2, where a fit has a weight of a whole one."""
    return 1.0 + X[:, 0] if "weight_bound" in options else None


def site(folder, name, X, y, **options):
    seat = Site(name, folder / "roster.yaml", folder / f"{name}.key", patience=60.0)
    regressor = dpgp.PrivateGPRegressor(**(SMALL | options), site=seat)
    weights = weights_of(X, options)
    return connected(lambda: regressor.fit(X, y, sample_weight=weights).model_)


def connected(work):
    """Return what comes of work that needs a coordinator, once there is one."""
    for _ in range(600):
        try:
            return work()
        except SitesError as error:
            if "nobody answers" not in str(error):
                raise
        time.sleep(0.1)
    raise AssertionError("nobody listens.")


def run(parties, *, threads=False):
    """Run functions at once, as processes; return what each gave, or the error that it raised."""
    kind = ThreadPool if threads else multiprocessing.get_context("spawn").Pool
    with kind(len(parties)) as pool:
        results = [pool.apply_async(_outcome, [party]) for party in parties]
        return [result.get(timeout=300) for result in results]


def _outcome(party):
    try:
        return party()
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        return " ".join([f"{type(error).__name__}: {error}", *notes])
