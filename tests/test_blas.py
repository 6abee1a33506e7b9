"""One thread within BLAS while anybody needs it, and as many for the rows as were asked for."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpgp import PrivateGPRegressor
from dpgp.blas import MOST_THREADS, in_order, single_threaded_blas, thread_count, usable_cores
from dpgp.privacy.books import Books
from dpgp.privacy.exact_sums import shared_out, sum_columns


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.fixture(autouse=True)
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS cannot have two threads")
        yield


def test_one_thread_inside_and_what_was_before_outside():
    with single_threaded_blas():
        assert blas_threads() == {1}
        with single_threaded_blas():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_or_an_abandoned_generator_restores_the_threads():
    with pytest.raises(KeyboardInterrupt), single_threaded_blas():
        raise KeyboardInterrupt
    assert blas_threads() == {2}

    @single_threaded_blas()
    def fails():
        assert blas_threads() == {1}
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):  # noqa: PT011 - ours, two lines above
            fails()
        assert blas_threads() == {2}

    def generator():
        with single_threaded_blas():
            yield

    started = generator()
    next(started)
    assert blas_threads() == {1}
    started.close()
    assert blas_threads() == {2}


def test_contexts_may_overlap_in_threads():
    first_left, second_entered, seen = threading.Event(), threading.Event(), []

    def second():
        with single_threaded_blas():
            second_entered.set()
            assert first_left.wait(10)
            seen.append(blas_threads())

    thread = threading.Thread(target=second)
    with single_threaded_blas():
        thread.start()
        assert second_entered.wait(10)
    first_left.set()
    thread.join()
    assert seen == [{1}]  # though the first, which set the limit, has left
    assert blas_threads() == {2}


def test_a_limit_of_another_thread_does_not_keep_ours_from_working():
    # threadpoolctl lets one thread set limits, and ignores the others without a word
    done, limited = threading.Event(), threading.Event()

    def other():
        with threadpool_limits(2, user_api="blas"):
            limited.set()
            assert done.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert limited.wait(10)
    with single_threaded_blas():
        inside = blas_threads()
    done.set()
    thread.join()
    assert inside == {1}


def test_libraries_with_a_setting_for_each_thread_are_limited_in_each(monkeypatch):
    class PerThread(threading.local):
        threads = 4
        threading_layer = "openmp"

        def get_num_threads(self):
            return self.threads

        def set_num_threads(self, threads):
            self.threads = threads

    library, seen = PerThread(), []
    monkeypatch.setattr("dpgp.blas._blas", lambda: [library])

    def columns(block, _):
        seen.append(library.threads)
        return block

    with single_threaded_blas():
        blocks = [np.ones((1, 1))] * 50
        shared_out(blocks, lambda share: sum_columns(share, columns, 1, 1), n_jobs=3)
    assert set(seen) == {1}
    assert library.threads == 4


def test_overlapping_fits_agree_with_fits_one_by_one():
    X = np.random.default_rng(0).uniform(0, 1, (3000, 2))

    def fit(seed, results):
        gp = PrivateGPRegressor(
            bounds=(0, 1), target_bounds=(0, 1), stages=1, random_state=seed, n_jobs=2
        )
        results[seed] = gp.fit(X, X[:, 0]).release_[0][0].B

    alone, together = {}, {}
    for seed in range(2):
        fit(seed, alone)
    threads = [threading.Thread(target=fit, args=(seed, together)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(alone[seed], together[seed]) for seed in range(2))
    assert blas_threads() == {2}


def test_jobs_count_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr("dpgp.blas.usable_cores", lambda: 8)
    wanted = {None: 8, 1: 1, 5: 5, 20: 20, -1: 8, -2: 7, -8: 1, -9: 1, -1000: 1}
    assert {n_jobs: thread_count(n_jobs) for n_jobs in wanted} == wanted
    assert thread_count(np.int64(3)) == 3
    assert thread_count(10**30) == MOST_THREADS


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert usable_cores() == 1


@pytest.mark.parametrize("n_jobs", [0, 2.0, "2", True, np.nan, [1]], ids=str)
def test_other_jobs_are_refused_before_anything_is_booked(n_jobs, monkeypatch):
    booked = []
    monkeypatch.setattr(Books, "reserve", lambda _, release: booked.append(release))
    gp = PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1), random_state=0, n_jobs=n_jobs)
    with pytest.raises((TypeError, ValueError), match="`n_jobs` must"):
        gp.fit(np.linspace(0, 1, 50)[:, None], np.linspace(0, 1, 50))
    assert booked == []


@pytest.mark.parametrize("n_jobs", [-1, -2, None])
def test_a_fit_takes_all_cores_or_all_but_one(n_jobs):
    X = np.linspace(0, 1, 50)[:, None]
    options = {"bounds": (0, 1), "target_bounds": (0, 1), "stages": 1, "random_state": 0}
    one = PrivateGPRegressor(n_jobs=1, **options).fit(X, X[:, 0])
    some = PrivateGPRegressor(n_jobs=n_jobs, **options).fit(X, X[:, 0])
    assert np.array_equal(some.release_[0][0].B, one.release_[0][0].B)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_items(n_jobs):
    def work(item):
        time.sleep(0.002 * (item % 3))
        return -item

    assert list(in_order(range(20), work, n_jobs)) == [-item for item in range(20)]


def test_threads_work_ahead_by_a_few_items_only():
    drawn = []

    def items():
        for item in range(100):
            drawn.append(item)
            yield item

    results = in_order(items(), abs, 2)
    assert next(results) == 0
    assert len(drawn) <= 4
    results.close()


def test_an_error_comes_where_its_item_stands():
    def work(item):
        return 1 / item

    results = in_order([1, 0], work, 2)
    assert next(results) == 1.0
    with pytest.raises(ZeroDivisionError):
        next(results)
