"""The seam: partial sums of disjoint rows, merged in integers, and only by one arithmetic."""

import numpy as np
import pytest
from heard import Heard

from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.privacy.exact_sums import MAX_BLOCK_ROWS, UNIT, UnevenArithmeticError
from dpgp.private.rows import Rows
from dpgp.private.source import Partial, merged
from dpgp.private.sums import CountSum, GramSum, exact_count, exact_gram, public_block
from dpgp.progress import watching

FEATURES = BoxFeatures(UnitInputs(Box.from_bounds((-1, 1), 2)), LinearFeatures(2))


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    usable = rng.uniform(size=n) < 0.9
    return Rows(rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (1, n)), usable)


def gram_sum(features=FEATURES):
    return GramSum(features, None, public_block(features.filler, make_rows(1).like, 64))


@pytest.mark.parametrize("size", [1, 33, 1000])
def test_merged_partials_are_the_total(size):
    rows, question = make_rows(1000), gram_sum()
    parts = [question.partial(iter([batch])) for batch in rows.blocks(size)]
    assert np.array_equal(merged(parts).integers, exact_gram(rows, FEATURES))


def test_no_rows_sum_to_zeros():
    assert not gram_sum().partial(iter([])).integers.any()
    assert CountSum().partial(iter([])).integers.tolist() == [0]


def test_usable_rows_are_counted():
    rows = make_rows(100_000)
    assert exact_count(rows, n_jobs=2).tolist() == [rows.usable.sum() * 2**40]


def test_partials_of_a_billion_rows_merge_exactly():
    rows = MAX_BLOCK_ROWS
    partial = Partial(np.array([rows * int(UNIT) ** 2], dtype=object), b"")
    while rows < 10**9:
        partial, rows = partial.merge(partial), 2 * rows
    assert partial.integers[0] == rows * int(UNIT) ** 2


class LastBit(BoxFeatures):
    """The features of a processor that rounds otherwise, by less than an integer step."""

    def evaluate(self, X, out=None):
        phi = super().evaluate(X, out)
        phi *= 1.0 - 2.0**-52
        return phi


def test_machines_that_differ_in_a_last_bit_are_not_merged():
    rows, other = make_rows(50), LastBit(FEATURES.inputs, FEATURES.inner)
    here, there = (gram_sum(features).partial(iter([rows])) for features in (FEATURES, other))
    assert np.array_equal(here.integers, there.integers)
    with pytest.raises(UnevenArithmeticError, match="workers with one kind of processor"):
        here.merge(there)


def test_a_partial_shows_no_sum():
    assert repr(gram_sum().partial(iter([make_rows(5)]))) == "Partial(...)"


class Uneven(BoxFeatures):
    def evaluate(self, X, out=None):
        phi = super().evaluate(X, out)
        phi *= 1.0 - 1e-5 * np.arange(phi.shape[1]) / phi.shape[1]
        return phi


@pytest.mark.parametrize("threads", [1, 2])
def test_every_thread_checks_its_arithmetic_before_it_reads_a_row(threads):
    class Unread(Rows):
        def blocks(self, size):
            yield from [self]

        def rows(self):
            raise AssertionError

    rows = Unread(*vars(make_rows(5)).values())
    with pytest.raises(UnevenArithmeticError, match="released nothing"):
        exact_gram(rows, Uneven(FEATURES.inputs, FEATURES.inner), n_jobs=threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_watcher_hears_of_every_batch(threads):
    heard, rows = Heard(), make_rows(150_000)
    with watching(heard):
        exact_count(rows, n_jobs=threads)
    exact_count(rows, n_jobs=threads)
    assert heard == [(3, 150_000), 65_536, 65_536, 18_928]
