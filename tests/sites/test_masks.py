"""Masks cancel over all sites, and only there."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from dpgp.sites.masks import BYTES, MODULUS, Masks, from_bytes, to_bytes
from dpgp.sites.roster import Key

KEYS = {name: Key.new() for name in ("a", "b", "c")}


def masks():
    return {
        name: Masks(name, key, {o: KEYS[o].public for o in KEYS if o != name})
        for name, key in KEYS.items()
    }


def integers(values):
    return np.array(values, dtype=object)


sums = st.integers(-(2**110), 2**110)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(sums, sums, sums), min_size=1, max_size=5), st.binary())
def test_the_sum_over_all_sites_is_exact(columns, transcript):
    hidden = [
        from_bytes(mask.hide(integers(own), transcript))
        for mask, own in zip(masks().values(), zip(*columns, strict=True), strict=True)
    ]
    assert from_bytes(to_bytes(sum(hidden))).tolist() == [sum(column) for column in columns]


def test_what_a_site_sends_looks_like_chance():
    sent = masks()["a"].hide(integers([7] * 4096), b"t")
    counts = np.bincount(np.frombuffer(sent, np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-6


def test_the_sum_of_all_but_one_looks_like_chance():
    some = list(masks().values())[:2]
    seen = to_bytes(sum(from_bytes(mask.hide(integers([7] * 4096), b"t")) for mask in some))
    counts = np.bincount(np.frombuffer(seen, np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-6


def test_transcripts_that_differ_share_no_mask():
    """Not even where numbers are more or fewer: streams of any length have different beginnings."""
    a, b = masks()["a"], masks()["b"]
    streams = {
        mask.hide(integers([0] * length), transcript)[:BYTES]
        for mask in (a, b)
        for transcript in (b"t", b"u", b"")
        for length in (1, 3)
    }
    assert len(streams) == 6


def test_the_stream_is_that_of_the_standard():
    """RFC 8439, appendix A.1, test vector 1: key and nonce zero, block counter 0."""
    from dpgp.sites.masks import _stream

    expected = bytes.fromhex("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert to_bytes(_stream(bytes(32), 2)) == expected


def test_numbers_survive_the_way_through_bytes():
    numbers = integers([0, 1, -1, MODULUS // 2 - 1, -MODULUS // 2])
    assert len(to_bytes(numbers)) == BYTES * len(numbers)
    assert from_bytes(to_bytes(numbers)).tolist() == numbers.tolist()
