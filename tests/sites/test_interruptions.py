"""Parties that break off, or send what is no message: what was spent is booked, in words."""

import multiprocessing
import socket
from functools import partial
from multiprocessing.pool import ThreadPool

import pytest
from liars import Liar
from processes import NAMES, connected, coordinator, rows_of, run, site

from dpgp.ledger import Ledger
from dpgp.sites import SitesError, read_roster
from dpgp.sites.channel import Channel, _send_frame, call
from dpgp.sites.roster import load_key
from dpgp.sites.site import _expect

BUDGET = {"epsilon": 1.0, "delta": 1e-5}


def part(folder, name, **options):
    X, y = (parts[NAMES.index(name)] for parts in rows_of())
    return site(folder, name, X, y, **BUDGET, **options)


def test_a_site_that_is_killed_in_a_round_has_spent_the_whole_price(parties):
    """Its numbers are out, and its books ended with the process: the ledger counts all of it."""
    ledger = Ledger(parties / "north.ledger", 1.0, 1e-5)
    context = multiprocessing.get_context("spawn")
    north = context.Process(target=part, args=(parties, "north"), kwargs={"ledger": ledger})

    def kill(name, number, total):
        north.kill()
        north.join()
        return total

    north.start()
    others = [partial(part, parties, name) for name in NAMES[1:]]
    seen, *_ = run([Liar(parties, answer=kill, rounds=1), *others], threads=True)
    assert "north" in seen[0]
    assert north.exitcode < 0
    assert len(ledger.account().running) == 1
    assert ledger.spent_epsilon == pytest.approx(1.0, rel=1e-3)


def test_a_model_that_is_complete_is_kept_whoever_has_left(parties):
    """The coordinator is gone after the last sum; before, the model was lost with it."""
    sites = [partial(part, parties, name) for name in NAMES]
    _, *models = run([Liar(parties, rounds=100), *sites], threads=True)
    assert all(model.certificate.is_private for model in models)


def test_an_error_of_ours_is_told_though_nobody_listens(parties, monkeypatch):
    """Saying `stop` to a coordinator that is gone must not hide what happened, nor the books."""
    send = Channel.send

    def deaf(self, kind, *body, **fields):
        if kind == "stop":
            raise SitesError("the connection to the coordinator was lost.")
        send(self, kind, *body, **fields)

    monkeypatch.setattr(Channel, "send", deaf)
    short = Liar(parties, answer=lambda name, number, total: total[1:], rounds=1)
    _, *ends = run([short, *(partial(part, parties, name) for name in NAMES)], threads=True)
    for end in ends:
        assert end.startswith("SitesError: the coordinator answered another question")
        assert "Booked: " in end


@pytest.mark.parametrize(
    "statement",
    [None, [], {}, {"nonce": 1}, "x", {"rows": -1}],
    ids=["none", "list", "empty", "number", "text", "rows"],
)
def test_a_site_that_says_nonsense_on_joining_ends_the_fit_in_words(parties, statement):
    def nonsense():
        roster, key = read_roster(parties / "roster.yaml"), load_key(parties / "west.key")
        with _patient(roster.address) as connection:
            channel = call(connection, "west", key, roster.coordinator)
            channel.send("join", statement=statement)
            return channel.receive()[0]["why"]

    others = [partial(part, parties, name) for name in NAMES[:2]]
    for end in run([partial(coordinator, parties), nonsense, *others], threads=True):
        assert "what a site says on joining is wrong" in end


def _patient(address):
    def connect():
        try:
            return socket.create_connection(address, timeout=60.0)
        except OSError:
            raise SitesError("nobody answers") from None

    return connected(connect)


DEEP = b"[" * 1000  # as deep as a greeting can be, which no reader of JSON follows to the end


def test_a_greeting_of_endless_depth_is_turned_away(parties):
    with ThreadPool(1) as pool:
        leader = pool.apply_async(coordinator, [parties, 2.0])
        with _patient(read_roster(parties / "roster.yaml").address) as connection:
            _send_frame(connection, DEEP)
            with pytest.raises(SitesError, match="did not come"):
                leader.get(timeout=60)


@pytest.mark.parametrize("line", [DEEP, b"\xff", b"[1]", b'{"kind": 1}', b"1" * 5000])
def test_what_is_no_message_is_said_to_be_none(line):
    left, right = socket.socketpair()
    keys = bytes(32), bytes(32)
    with left, right:
        sender = Channel(left, "a", keys)
        _send_frame(left, sender._out.encrypt(bytes(12), line, None))
        with pytest.raises(SitesError, match="sent what is no message"):
            Channel(right, "b", keys).receive()


def test_a_reason_that_the_coordinator_gives_is_plain_text_of_bounded_length():
    left, right = socket.socketpair()
    keys = bytes(32), bytes(32)
    with left, right:
        Channel(left, "a", keys).send("refused", why="\x1b[2J" + "x" * 10_000)
        with pytest.raises(SitesError) as caught:
            _expect(Channel(right, "b", keys), "start")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) <= 1000
