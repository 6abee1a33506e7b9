"""A coordinator that lies learns nothing: masks cancel where honest sites agree on everything."""

import threading
from functools import partial

import numpy as np
import pytest
from liars import Liar, common_sum, is_a_sum, is_chance
from processes import NAMES, connected, coordinator, rows_of, run, site

from dpgp.domain import Box
from dpgp.ledger import Ledger
from dpgp.ledger.records import Closed, Reserved
from dpgp.options import Options
from dpgp.privacy.noise import SecureNoise, SimulatedNoise
from dpgp.sites import Site

BOX = Box.from_bounds((-1, 1), 1)
COUNT = 40


def options(**changes):
    return Options.parse(box=BOX, target_box=BOX, epsilon=1.0, delta=1e-5, **changes)


def adds(folder, name, *, asked=None, own=None, scale=2.0**40, kind="sum", bits=b""):
    """Take part with known numbers in two rounds; return the totals that were told."""
    seat = Site(name, folder / "roster.yaml", folder / f"{name}.key", patience=60.0)
    with seat.meeting(asked or options(), 100, own or SecureNoise()) as meeting:
        totals = []
        for _ in range(2):
            meeting.asked(kind, bits)
            numbers, scales = np.full(COUNT, 7, dtype=object), np.full(COUNT, scale)
            totals.append(meeting.noise.add_to(numbers, scales))
        return totals


def outcome(liar, each=None, together=adds):
    """Let all sites meet a coordinator; return what it saw, and how every site ended."""
    sites = [
        partial(connected, partial(together, liar.folder, name, **(each or {}).get(name, {})))
        for name in NAMES
    ]
    seen, *ends = run([liar, *sites], threads=True)
    assert isinstance(seen, list), seen
    return seen, ends


def said_of_others(**changes):
    """A lie to the first site alone, about what the last one said."""

    def start(name, said):
        if name == NAMES[0]:
            said[NAMES[2]] |= changes
        return {"statements": said}

    return start


def as_the_site_itself(field):
    """A lie to every site: that all others said what it said."""

    def start(name, said):
        same = {field: said[name][field]}
        return {"statements": {one: told | same for one, told in said.items()}}

    return start


def test_the_truth_gives_the_sum(parties):
    """What the tests below look for is there where nobody lies."""
    seen, ends = outcome(Liar(parties))
    for number, bodies in enumerate(seen):
        total = common_sum(bodies.values())
        assert is_a_sum(total)
        for end in ends:
            assert end[number].tolist() == total.tolist()
        assert all(is_chance(common_sum([body])) for body in bodies.values())


@pytest.mark.parametrize(
    "changes",
    [{"rows": 101}, {"rows": 0}, {"rows": 2**59}, {"nonce": "00" * 32}, {"arithmetic": "other"}],
    ids=["more rows", "no rows", "huge", "nonce", "even"],
)
def test_a_lie_to_one_site_about_another_leaves_nothing_but_chance(parties, changes):
    seen, _ = outcome(Liar(parties, start=said_of_others(**changes)))
    for bodies in seen:
        assert set(bodies) == set(NAMES)
        assert is_chance(common_sum(bodies.values()))
        for one in NAMES:
            assert is_chance(common_sum(bodies[name] for name in NAMES if name != one))


def test_sites_that_agree_among_themselves_are_hidden_by_the_one_that_does_not(parties):
    """North and south share a transcript: with two thirds of the noise, their sum stays hidden."""

    def start(name, said):
        if name == "west":
            said["north"]["nonce"] = "00" * 32
        return {"statements": said}

    seen, _ = outcome(Liar(parties, start=start))
    for bodies in seen:
        assert is_chance(common_sum([bodies["north"], bodies["south"]]))


def test_a_total_that_one_site_was_told_otherwise_ends_what_can_be_added(parties):
    def answer(name, number, total):
        return total + 1 if name == "south" and number == 0 else total

    first, second = outcome(Liar(parties, answer=answer))[0]
    assert is_a_sum(common_sum(first.values()))
    assert is_chance(common_sum(second.values()))


@pytest.mark.parametrize(
    "different",
    [{"scale": 2.0**41}, {"bits": b"other"}, {"kind": "other"}],
    ids=["scales", "bits", "kind"],
)
def test_sites_that_do_not_ask_the_same_are_stopped_by_an_honest_coordinator(parties, different):
    each = {"south": different}
    sites = [partial(connected, partial(adds, parties, n, **each.get(n, {}))) for n in NAMES]
    for end in run([partial(coordinator, parties), *sites], threads=True):
        assert end.startswith("SitesError: the sites went different ways")


@pytest.mark.parametrize(
    "different",
    [{"scale": 2.0**41}, {"bits": b"other"}, {"kind": "other"}, {"asked": options(stages=2)}],
    ids=["scales", "bits", "kind", "terms"],
)
def test_sites_that_do_not_ask_the_same_are_not_added(parties, different):
    """Told by a liar that all want the same, they go on; what they send does not add up."""
    liar = Liar(parties, start=as_the_site_itself("terms"))
    seen, _ = outcome(liar, {"south": different})
    for bodies in seen:
        assert set(bodies) == set(NAMES)
        assert is_chance(common_sum(bodies.values()))


def test_sites_that_compute_differently_agree_on_the_kind_of_question(parties, monkeypatch):
    """Last bits are no part of what machines with different arithmetic can agree on."""
    monkeypatch.setattr("dpgp.sites.site.fingerprint", lambda: str(threading.get_ident()))
    seen, _ = outcome(Liar(parties), {name: {"bits": name.encode()} for name in NAMES})
    assert all(is_a_sum(common_sum(bodies.values())) for bodies in seen)


def test_rosters_that_differ_in_whom_to_trust_give_no_sum(parties):
    """With `honest: 1` at one site, and all of them at the others, noise would not be enough."""
    roster = (parties / "roster.yaml").read_text()

    def together(folder, name):
        path = folder / f"{name}.yaml"
        path.write_text(roster + ("honest: 1\n" if name == "south" else ""))
        seat = Site(name, path, folder / f"{name}.key", patience=60.0)
        with seat.meeting(options(), 100, SecureNoise()) as meeting:
            return meeting.noise.add_to(np.zeros(COUNT, dtype=object), np.full(COUNT, 2.0**40))

    liar = Liar(parties, start=as_the_site_itself("terms"), rounds=1)
    seen, _ = outcome(liar, together=together)
    assert is_chance(common_sum(seen[0].values()))


def everybody(**changes):
    return lambda name, said: {"statements": {one: told | changes for one, told in said.items()}}


@pytest.mark.parametrize(
    "start",
    [
        everybody(simulation=True),
        everybody(rows=50),
        everybody(terms="others"),
        everybody(nonce="00" * 32),
        lambda name, said: {"statements": {name: said[name]}},
        lambda name, said: {"statements": said | {"east": said[name]}},
    ],
    ids=["simulation", "rows", "terms", "nonces", "alone", "stranger"],
)
def test_a_lie_about_a_site_to_itself_is_refused(parties, start):
    seen, ends = outcome(Liar(parties, start=start))
    assert seen == [{}, {}]
    for end in ends:
        assert end.startswith("SitesError: the coordinator left a site out, or changed what")
        assert "nothing was sent" in end


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (said_of_others(simulation=True), "these sites simulate, with a seed, and others do not"),
        (said_of_others(terms="others"), "the sites do not want the same fit"),
        (said_of_others(rows=None), "not all sites said how many rows"),
        (said_of_others(rows=2**60), "more rows than can be added"),
        (said_of_others(rows=-1), "`rows` must be a whole number"),
        (said_of_others(rows=True), "`rows` must be a whole number"),
        (said_of_others(rows=1.5), "`rows` must be a whole number"),
        (said_of_others(rows="100"), "`rows` must be a whole number"),
        (said_of_others(rows=10**400), "`rows` must be a whole number"),
        (said_of_others(nonce={"a": 1}), "`nonce` must be a text"),
        (said_of_others(nonce=None), "`nonce` must be a text"),
        (said_of_others(simulation="false"), "`simulation` must be true or false"),
        (said_of_others(arithmetic=[]), "`arithmetic` must be a text"),
        (said_of_others(more=1), "fields that are not among"),
        (lambda name, said: {}, "did not say who takes part"),
        (lambda name, said: {"statements": [*said]}, "did not say who takes part"),
        (lambda name, said: {"statements": dict.fromkeys(said, 3)}, "must be an object"),
        (lambda name, said: {"statements": {name: {} for name in said}}, "lacks the field"),
    ],
)
def test_a_start_that_cannot_be_is_refused_in_words(parties, start, words):
    seen, ends = outcome(Liar(parties, start=start, rounds=1))
    assert NAMES[0] not in seen[0]
    assert ends[0].startswith("SitesError: ")
    assert words in ends[0]


def test_masks_that_do_not_cancel_are_noticed(parties):
    """A coordinator that lied about rows, and tells the sum that it then found."""
    liar = Liar(parties, start=said_of_others(rows=101))
    liar.answer = lambda name, number, total: common_sum(liar.seen[number].values())
    seen, ends = outcome(liar)
    assert seen[1] == {}
    for end in ends:
        assert end.startswith("SitesError: the masks of the sites did not cancel")


def test_an_answer_of_another_length_is_refused(parties):
    _, ends = outcome(Liar(parties, answer=lambda name, number, total: total[1:]))
    for end in ends:
        assert end.startswith("SitesError: the coordinator answered another question")


def test_a_simulation_among_others_gets_nothing_from_them(parties):
    """The seeded site is told that all simulate, the others that nobody does."""
    liar = Liar(parties, start=as_the_site_itself("simulation"))
    seen, _ = outcome(liar, {"south": {"own": SimulatedNoise(1)}})
    for bodies in seen:
        assert set(bodies) == set(NAMES)
        assert is_chance(common_sum(bodies.values()))


# whole fits, with ledgers


def fits(folder, name, **more):
    """Fit a third of a table under a ledger of its own."""
    X, y = (part[NAMES.index(name)] for part in rows_of())
    ledger = Ledger(folder / f"{name}.ledger", 1.0, 1e-5)
    return site(folder, name, X, y, ledger=ledger, **({"epsilon": 1.0, "delta": 1e-5} | more))


def check_booked(folder, name, sent):
    """A ledger holds what was sent, as what it was: noise that nobody can repeat."""
    records = Ledger(folder / f"{name}.ledger").records()
    assert not any(record.simulation for record in records if isinstance(record, Reserved))
    (closed,) = [record for record in records if isinstance(record, Closed)]
    assert len(closed.releases) >= sent > 0


def test_two_sites_that_were_told_different_numbers_of_rows_ask_different_questions(parties):
    """The review's attack: with different noise on the common numbers, which must not cancel.

    Stages and features depend on the number of rows; the messages have different lengths.
    """
    liar = Liar(parties, start=said_of_others(rows=10**7), rounds=3)
    as_planned = {"features": None, "stages": None}
    seen, _ = outcome(liar, dict.fromkeys(NAMES, as_planned), together=fits)
    assert any(len(set(map(len, bodies.values()))) > 1 for bodies in seen)
    for bodies in seen:
        assert set(bodies) == set(NAMES)
        assert is_chance(common_sum(bodies.values()))
    for name in NAMES:
        check_booked(parties, name, len(seen))


@pytest.mark.parametrize(
    "start",
    [everybody(simulation=True), said_of_others(simulation=True)],
    ids=["of all", "of one"],
)
def test_a_simulation_that_a_coordinator_invents_is_booked_by_nobody(parties, start):
    """Three fits at the whole of a cap: before, each was booked as a simulation, at no price."""
    for _ in range(3):
        seen, ends = outcome(Liar(parties, start=start, rounds=1), together=fits)
        assert "north" not in seen[0]
        assert ends[0].startswith("SitesError: ")
    records = Ledger(parties / "north.ledger").records()
    assert not any(isinstance(record, Reserved) for record in records)


def test_what_was_sent_to_a_liar_is_booked_in_full(parties):
    """A second fit does not get through a cap that the first has filled, whatever it was told."""
    liar = Liar(parties, start=said_of_others(rows=81), rounds=100)
    seen, _ = outcome(liar, together=fits)
    sent = sum("north" in bodies for bodies in seen)
    assert sent > 1
    check_booked(parties, "north", sent)
    assert Ledger(parties / "north.ledger").spent_epsilon > 0.9
    seen, ends = outcome(Liar(parties, rounds=1), together=fits)
    assert seen == [{}]
    assert all(end.startswith("BudgetError: ") for end in ends), ends
