"""Threads: BLAS is left as it was found, and a number of threads is one."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from setwise._support.parallel import in_threads, one_blas_thread, quiet
from setwise.errors import ParameterError
from setwise.graph import OMPGraph


def blas_threads():
    """Of NumPy's and SciPy's; others that tests have loaded bring their own, for themselves."""
    ours = [
        lib
        for lib in threadpool_info()
        if "numpy" in lib["filepath"] or "scipy" in lib["filepath"]
    ]
    return [lib["num_threads"] for lib in ours if lib["user_api"] == "blas"]


def overlapping(context, look, n_threads=8):
    """Enter a context in many threads, leave in the order of entering; look while inside."""
    entered = [threading.Event() for _ in range(n_threads + 1)]
    left = [threading.Event() for _ in range(n_threads + 1)]
    seen = []

    def work(i):
        entered[i].wait()
        with context():
            seen.append(look())
            entered[i + 1].set()
            left[i].wait()
            seen.append(look())
        left[i + 1].set()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for thread in threads:
        thread.start()
    entered[0].set()
    entered[-1].wait()  # all are inside
    left[0].set()
    for thread in threads:
        thread.join()
    return seen


def test_overlapping_threads_leave_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(before) == {2}
        seen = overlapping(one_blas_thread, blas_threads)
        assert len(seen) == 16
        assert {n for numbers in seen for n in numbers} == {1}
        assert blas_threads() == before


def test_an_error_gives_blas_back_too():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError):
            list(in_threads(lambda i: 1 // i, [1, 0], 1))
        assert set(blas_threads()) == {2}


def test_overlapping_threads_leave_the_filters_of_warnings_as_they_were():
    before = list(warnings.filters)
    warn = lambda: warnings.warn("it is so normal here", UserWarning, stacklevel=1)  # noqa: E731
    overlapping(lambda: quiet("it is so", UserWarning), warn)
    assert warnings.filters == before
    with pytest.raises(UserWarning):
        warn()


@pytest.mark.parametrize(
    "n_jobs", [0, "2", 1.5, True, np.True_, [], np.array([1, 2]), np.nan, 10**6]
)
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be"):
        list(in_threads(abs, [1], n_jobs))


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, np.int64(2)])
def test_a_number_of_threads_does_not_change_the_order(n_jobs):
    assert list(in_threads(abs, range(-9, 0), n_jobs)) == list(range(9, 0, -1))


def test_pursuit_leaves_the_filters_of_warnings_alone(monkeypatch):
    monkeypatch.delattr(warnings, "catch_warnings")
    copies = np.repeat(np.eye(4), 2, axis=1)  # of which scikit-learn's would warn
    assert OMPGraph(3).adjacency(copies).nnz == 8
