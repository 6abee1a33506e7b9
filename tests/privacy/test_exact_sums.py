import threading
import time

import numpy as np
import pytest

from dpgp.privacy import exact_sums
from dpgp.privacy.exact_sums import (
    FRACTION_BITS,
    MAX_BLOCK_ROWS,
    UNIT,
    ExactGram,
    UnevenArithmeticError,
    check_arithmetic,
    check_even,
    shared_out,
    sum_columns,
)


def integer_columns(seed, dimension, rows):
    rng = np.random.default_rng(seed)
    return np.rint(rng.uniform(-UNIT, UNIT, (dimension, rows)))


def exact_gram(columns):
    integers = columns.astype(np.int64).astype(object)
    return integers @ integers.T


def sum_blocks(blocks, columns_of, dimension, size, n_jobs):
    def partial(share):
        return sum_columns(share, columns_of, dimension, size)

    return sum(shared_out(blocks, partial, n_jobs))


def total(columns, size, n_jobs=1):
    blocks = [columns[:, i : i + size] for i in range(0, columns.shape[1], size)]
    return sum_blocks(blocks, lambda block, _: block, len(columns), size, n_jobs)


def test_the_sum_equals_that_of_python_integers():
    columns = integer_columns(0, 7, 3000)
    assert np.array_equal(total(columns, 512), exact_gram(columns))


def test_what_is_wanted_of_a_sum_is_the_same_above_the_diagonal_and_nothing_else_is_there():
    columns = integer_columns(5, 9, 3000)
    blocks = [columns[:, :2000], columns[:, 2000:]]
    found = sum_columns(blocks, lambda block, _: block, 9, 2000, wanted=(4, 2))
    is_wanted = np.zeros((9, 9), dtype=bool)
    is_wanted[:4, :4] = is_wanted[:, 7:] = True
    assert np.array_equal(found, np.where(is_wanted, exact_gram(columns), 0))


@pytest.mark.parametrize("size", [1, 37, 1000, MAX_BLOCK_ROWS])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_order_blocks_and_threads_do_not_matter(size, n_jobs):
    columns = integer_columns(1, 5, 5000)
    shuffled = columns[:, np.random.default_rng(2).permutation(5000)]
    assert np.array_equal(total(shuffled, size, n_jobs), total(columns, 777))


def test_a_full_block_of_the_largest_entries_is_exact():
    columns = np.full((2, MAX_BLOCK_ROWS), UNIT)
    assert total(columns, MAX_BLOCK_ROWS)[0, 1] == MAX_BLOCK_ROWS * int(UNIT) ** 2


def test_a_full_block_fits_into_the_integers_of_a_double():
    assert UNIT == 2.0**FRACTION_BITS
    assert MAX_BLOCK_ROWS * int(UNIT) ** 2 <= 2**53


def test_larger_blocks_are_refused():
    with pytest.raises(ValueError, match="at most 4096 rows"):
        ExactGram(1).add(np.zeros((1, MAX_BLOCK_ROWS + 1)))


def test_totals_of_more_rows_than_int64_holds_do_not_overflow():
    gram, block, times = ExactGram(1), np.full((1, MAX_BLOCK_ROWS), UNIT), 3000  # 1.2e7 rows
    for _ in range(times):
        gram.add(block)
    assert gram.total()[0, 0] == times * MAX_BLOCK_ROWS * int(UNIT) ** 2 > 2**63


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_columns_are_made_in_the_workspace_of_a_thread(n_jobs):
    def twice(block, workspace):
        return np.multiply(block, 2.0, out=workspace[:, : block.shape[1]])

    columns = integer_columns(3, 4, 500)
    blocks = [columns[:, i : i + 40] for i in range(0, 500, 40)]
    found = sum_blocks(blocks, twice, 4, 40, n_jobs)
    assert np.array_equal(found, 4 * exact_gram(columns))


def test_threads_draw_blocks_one_at_a_time():
    def blocks():  # a generator raises where a second thread enters it
        for _ in range(20):
            time.sleep(0.001)
            yield np.ones((1, 1))

    assert sum_blocks(blocks(), lambda block, _: block, 1, 1, n_jobs=4)[0, 0] == 20


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_as_many_threads_as_asked_for_work_at_once(n_jobs):
    together, threads = threading.Barrier(n_jobs, timeout=60), set()

    def work(share):
        together.wait()
        threads.add(threading.get_ident())
        return list(share)

    assert sum(map(len, shared_out(range(5), work, n_jobs))) == 5
    assert len(threads) == n_jobs
    assert (threading.get_ident() in threads) is (n_jobs == 1)


@pytest.mark.parametrize("n_jobs", [None, -1])
def test_jobs_count_as_in_scikit_learn(n_jobs):
    columns = integer_columns(4, 2, 50)
    assert np.array_equal(total(columns, 7, n_jobs), exact_gram(columns))


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(*_):
        raise RuntimeError("block")

    with pytest.raises(RuntimeError, match="block"):
        sum_blocks([1, 2], fail, 1, 1, n_jobs=2)


@pytest.mark.parametrize("place", [1, 2, 7])
def test_one_bit_at_any_place_is_noticed(place):
    columns = np.full((3, 8), 0.1)
    check_even(columns)
    columns[2, place] = np.nextafter(0.1, 1.0)
    with pytest.raises(UnevenArithmeticError, match="released nothing"):
        check_even(columns)


def test_what_is_no_number_at_every_place_is_even():
    check_even(np.full((2, 5), np.nan))
    with pytest.raises(UnevenArithmeticError):
        check_even(np.array([[np.nan, 1.0]]))


def test_products_of_matrices_and_of_vectors_are_probed_at_full_width(monkeypatch):
    shapes = []
    monkeypatch.setattr(exact_sums, "check_even", lambda columns: shapes.append(columns.shape))
    check_arithmetic()
    sizes = [shape[0] for shape in shapes if len(shape) == 2]
    assert len(set(sizes)) > 2
    assert shapes == [s for size in sizes for s in ((size, MAX_BLOCK_ROWS), (MAX_BLOCK_ROWS,))]


def test_the_probed_products_have_digits_to_lose(monkeypatch):
    probed = []
    monkeypatch.setattr(exact_sums, "check_even", probed.append)
    check_arithmetic()
    assert all(np.any(columns != np.rint(columns * 2.0**20) / 2.0**20) for columns in probed)
