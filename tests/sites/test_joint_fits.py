"""Three custodians over sockets: the model of the pooled table, and nobody's rows."""

import re
import socket
import sys
import threading
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import pytest

import dpgp
from dpgp.privacy.noise import SimulatedNoise
from dpgp.private import fit as joint_fits
from dpgp.sites import Site, SitesError, coordinate, read_roster
from dpgp.sites.masks import JointNoise
from dpgp.sites.site import _Seat

sys.path.insert(0, str(Path(__file__).parent))
from processes import NAMES, SMALL, coordinator, rows_of, run, site, weights_of

SEEDS = {"north": 1, "south": 2, "west": 3}


def joint(folder, each=None, *, threads=True, **options):
    """Return what the coordinator and every site ended with; ``each`` has options by site."""
    X, y = rows_of()
    sites = [
        partial(site, folder, name, *rows, **(options | (each or {}).get(name, {})))
        for name, *rows in zip(NAMES, X, y, strict=True)
    ]
    return run([partial(coordinator, folder), *sites], threads=threads)


def numbers(model):
    posterior = model.posteriors[0]
    return [posterior.moments.w, posterior.moments.V, posterior.thetas, model.calibrations[0].cdf]


class SameNoise(SimulatedNoise):
    """The noise of three seeded sites, added to the sums of one table."""

    def __init__(self):
        super().__init__(0)
        self.sites = [
            JointNoise(SimulatedNoise(seed), 3, 3, lambda sums, _: sums) for seed in SEEDS.values()
        ]

    def add_to(self, totals, scales):
        for site_noise in self.sites:
            totals = site_noise.add_to(totals, scales)
        return totals


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": float("inf")},
        {"epsilon": 3.0, "delta": 1e-5},
        {"epsilon": 3.0, "delta": 1e-5, "neighbours": "add-remove"},
        {"epsilon": 3.0, "delta": 1e-5, "weight_bound": 1.5},
    ],
)
def test_the_model_is_that_of_the_pooled_table_bit_for_bit(parties, options, monkeypatch):
    seeds = {name: {"random_state": seed} for name, seed in SEEDS.items()}
    _, *models = joint(parties, seeds, threads=False, **options)
    X, y = rows_of()
    monkeypatch.setattr("dpgp.estimator.noise_source", lambda _: SameNoise())
    pooled = dpgp.PrivateGPRegressor(**SMALL, **options)
    rows = np.concatenate(X)
    pooled.fit(rows, np.concatenate(y), sample_weight=weights_of(rows, options))
    for model in models:
        for ours, theirs in zip(numbers(model), numbers(pooled.model_), strict=True):
            assert np.array_equal(ours, theirs)


def test_all_sites_publish_one_model_with_noise_of_all(parties):
    _, *models = joint(parties, epsilon=1.0, delta=1e-5)
    for model in models[1:]:
        assert all(map(np.array_equal, numbers(model), numbers(models[0])))
    certificate = models[0].certificate
    assert certificate.is_private
    assert certificate.epsilon == 1.0
    assert "each of 3 sites, 3 of them trusted" in certificate.provenance.random_source


def test_one_seed_ends_the_fit_everywhere_before_anything_is_sent(parties):
    outcomes = joint(parties, {"south": {"random_state": 1}}, epsilon=1.0, delta=1e-5)
    for error in outcomes:
        assert "these sites simulate, with a seed, and others do not: 'south'" in error
        assert "leave `random_state` out at every site" in error


def test_seeds_at_all_sites_make_it_a_simulation(parties):
    _, *models = joint(parties, random_state=1, epsilon=1.0, delta=1e-5)
    assert not any(model.certificate.is_private for model in models)


@pytest.mark.parametrize("wish", [{"bounds": (-1, 2)}, {"weight_bound": 1.5}], ids=str)
def test_sites_that_want_different_fits_hear_so_before_anything_is_sent(parties, wish):
    outcome, *sites = joint(parties, {"west": wish}, epsilon=1.0, delta=1e-5)
    for error in (outcome, *sites):
        assert error.startswith("SitesError: the sites do not want the same fit")


def test_a_site_that_drops_out_ends_the_fit_for_all(parties):
    """The third site leaves after the first sum; what the others had sent is booked."""
    broken = threading.Thread(target=_leave_after_one_sum, args=(parties,))
    broken.start()
    X, y = rows_of()
    sites = [
        partial(site, parties, name, *rows, epsilon=1.0, delta=1e-5)
        for name, *rows in list(zip(NAMES, X, y, strict=True))[:2]
    ]
    outcomes = run([partial(coordinator, parties), *sites], threads=True)
    broken.join()
    # a site that is just sending hears of it by a connection that ends
    for error in outcomes:
        assert re.match(
            "SitesError: the connection to (site 'west'|the coordinator) was lost", error
        )
    assert all("Booked: " in error for error in outcomes[1:])


def _leave_after_one_sum(folder):
    total, X, y = _Seat.total, *rows_of()
    broken, calls = threading.current_thread(), []

    def once(self, values, scales):
        if threading.current_thread() is broken:
            calls.append(self)
            if len(calls) == 2:
                self.channel.close()
        return total(self, values, scales)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Seat, "total", once)
        with pytest.raises(SitesError):
            site(folder, "west", X[2], y[2], epsilon=1.0, delta=1e-5)


def test_a_site_that_changes_its_mind_ends_the_fit_for_all(parties):
    """Somebody says no when asked: nothing was sent by then, and nothing is spent."""
    _, y = rows_of()
    with pytest.MonkeyPatch.context() as patch:
        fit_in = joint_fits.fit_in

        def asked(meeting, rows, *rest):
            if len(rows) == len(y[2]):
                raise KeyError("no")
            return fit_in(meeting, rows, *rest)

        patch.setattr(joint_fits, "fit_in", asked)
        outcomes = joint(parties, epsilon=1.0, delta=1e-5)
    assert outcomes[0] == "SitesError: site 'west' stopped."
    assert outcomes[-1].startswith("KeyError")
    for error in outcomes[1:-1]:
        assert error.startswith("SitesError: site 'west' stopped. The joint fit was ended.")


def test_a_stranger_is_turned_away_and_holds_up_nobody(parties):
    """A site's name without its key, noise, and silence: none of them gets in."""
    with ThreadPool(1) as pool:
        leader = pool.apply_async(coordinator, [parties])
        _intrude(parties)
        X, y = rows_of()
        seats = [partial(site, parties, *part) for part in zip(NAMES, X, y, strict=True)]
        models = run(seats, threads=True)
        assert leader.get(timeout=60) > 0
    assert all(np.array_equal(numbers(models[0])[0], numbers(model)[0]) for model in models)


def _intrude(folder):
    address = read_roster(folder / "roster.yaml").address
    connection = _patient(address)
    connection.sendall(b"\xff" * 100)
    connection.close()
    connection = _patient(address)
    # the right name, and then no proof of its key
    greeting = b'{"site": "north", "nonce": "' + b"00" * 32 + b'"}'
    connection.sendall(len(greeting).to_bytes(4, "little") + greeting)
    connection.recv(36)
    connection.sendall((20).to_bytes(4, "little") + bytes(20))
    connection.close()


def _patient(address):
    for _ in range(200):
        try:
            return socket.create_connection(address, timeout=30)
        except OSError:
            threading.Event().wait(0.05)
    raise AssertionError("nobody listens.")


def test_a_seat_needs_its_own_key(parties):
    options = dpgp.PrivateGPRegressor(
        **SMALL, site=Site("north", parties / "roster.yaml", parties / "south.key")
    )
    with pytest.raises(SitesError, match="not the key that the roster has for 'north'"):
        options.fit(rows_of()[0][0], rows_of()[1][0])


def test_nobody_at_the_table_is_said_with_the_remedy(parties):
    seat = Site("north", parties / "roster.yaml", parties / "north.key")
    with pytest.raises(SitesError, match="start `dpgp sites coordinate` there first"):
        dpgp.PrivateGPRegressor(**SMALL, site=seat).fit(rows_of()[0][0], rows_of()[1][0])


def test_a_coordinator_does_not_wait_for_ever(parties):
    with pytest.raises(SitesError, match="did not come: 'north', 'south', 'west'"):
        coordinate(parties / "roster.yaml", parties / "coordinator.key", patience=0.2)
