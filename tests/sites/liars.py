"""A coordinator that lies, over the same sockets and keys as the honest one."""

import copy
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import numpy as np

from dpgp.sites import SitesError, read_roster
from dpgp.sites.coordinator import _gathered, _listening
from dpgp.sites.masks import from_bytes, to_bytes
from dpgp.sites.roster import load_key


@dataclass
class Liar:
    """A coordinator whose lies are functions; what sites send stands in ``seen``, round by round.

    ``start`` makes the start message for a site of its name and all statements, ``answer`` the
    total for it of its name, the number of the round and the true total.
    """

    folder: object
    start: object = lambda name, said: {"statements": said}
    answer: object = lambda name, number, total: total
    rounds: int = 2
    seen: list = field(default_factory=list)

    def __call__(self):
        roster, key = read_roster(self.folder / "roster.yaml"), self.folder / "coordinator.key"
        with ExitStack() as stack:
            listener = stack.enter_context(_listening(roster.address))
            listener.settimeout(60.0)
            guests = _gathered(listener, roster, load_key(key), lambda words: None, stack)
            said = {name: guest.joined["statement"] for name, guest in guests.items()}
            channels = {name: guest.channel for name, guest in guests.items()}
            for name, channel in channels.items():
                channel.send("start", **self.start(name, copy.deepcopy(said)))
            for number in range(self.rounds):
                self._round(channels, number)
            for channel in channels.values():
                channel.end_gently()
        return self.seen

    def _round(self, channels, number):
        self.seen.append({})
        for name, channel in list(channels.items()):
            try:
                message, body = channel.receive()
            except SitesError:
                message = {"kind": "gone"}
            if message["kind"] != "sum":
                del channels[name]
            else:
                self.seen[-1][name] = body
        if not channels:
            return
        bodies = self.seen[-1].values()
        total = common_sum(bodies)
        for name, channel in channels.items():
            told = total
            if not is_a_sum(total):  # nothing could be added: a total that no site will suspect
                told = np.zeros(len(from_bytes(self.seen[-1][name])), dtype=object)
            with suppress(SitesError):
                channel.send("total", to_bytes(self.answer(name, number, told)))


def common_sum(bodies):
    """Return the sum of messages modulo 2^128, as far as the shortest goes."""
    messages = [from_bytes(body) for body in bodies]
    length = min(map(len, messages))
    return from_bytes(to_bytes(sum(message[:length] for message in messages)))


def is_chance(numbers):
    """Return whether numbers look uniform over 128 bits.

    Honest sums are below 2^102; that twenty of forty uniform numbers are below 2^120 has a
    probability of 2^(37 − 140).
    """
    return float(np.median([abs(number) for number in numbers])) > 2.0**120


def is_a_sum(numbers):
    """Return whether numbers can be sums of rows with noise."""
    return all(abs(number) < 2**102 for number in numbers)
