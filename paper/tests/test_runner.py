"""Items are done once, wherever they are done; whatever fails, the others go on."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import threading
import warnings
from functools import partial

import pytest
from paper.tests.slow_work import (
    count_blas_threads,
    draw,
    draw_at_once,
    draw_but_one,
    interrupt_at_two,
    items,
    noted,
)

from setwise.errors import ConvergenceWarning, DataError, MissingExtraError, ParameterError
from setwise_paper.runner import run_items
from setwise_paper.store import Store

WAYS = [("threads", 1), ("threads", 2), ("processes", 1), ("processes", 2), ("dask", 2)]
# distributed leaves the clocks of its event loop behind for a moment.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store") as store:
        yield store


def results(store):
    return {key: one.result for key, one in store.finished.items()}


def expected(n_items):
    return {key: draw(item) for key, item in items(n_items).items()}


@pytest.mark.parametrize(("backend", "n_jobs"), WAYS)
def test_results_are_the_same_wherever_they_are_made(store, backend, n_jobs):
    work = items(7)
    outcome = run_items(work, store, draw, n_jobs=n_jobs, backend=backend, exclusive=["item2"])
    assert results(store) == expected(7)
    assert (outcome.n_finished_before, outcome.n_done) == (0, 7)
    assert (outcome.n_failed, outcome.n_left, outcome.was_interrupted) == (0, 0, False)
    for key, one in store.finished.items():
        assert one.item == work[key].model_dump(mode="json")
        assert (one.backend, one.n_jobs) == (backend, 1 if key == "item2" else n_jobs)
        assert 0 < one.seconds < outcome.seconds
        assert 10 < one.memory_mb < 10_000


# A cluster of one worker starts as one of two does; what fails there fails as in a process.
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("backend", "n_jobs"), [*WAYS[1:], pytest.param("dask", 1, marks=SLOW)]
)
def test_every_worker_has_one_blas_thread(store, backend, n_jobs, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info, threadpool_limits

    with threadpool_limits(limits=2, user_api="blas"):
        run_items(items(6), store, count_blas_threads, n_jobs=n_jobs, backend=backend)
        here = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    assert [one.result["threads"] for one in store.finished.values()] == [1] * 6
    assert here == {2}, "given back afterwards"
    is_here = os.getpid() in {one.result["process"] for one in store.finished.values()}
    assert is_here == (backend == "threads" or (backend, n_jobs) == ("processes", 1))


def test_what_is_finished_is_not_done_again(store, tmp_path):
    log, said = tmp_path / "log", []
    perform = partial(draw, log=log)
    run_items(dict(list(items(4).items())[:2]), store, perform)
    outcome = run_items(items(4), store, perform, progress=lambda *what: said.append(what))
    assert (outcome.n_finished_before, outcome.n_done) == (2, 2)
    assert said == [("items", 0, 2), ("items", 1, 2), ("items", 2, 2)]
    assert [one[0] for one in noted(log)] == [0, 1, 2, 3]
    outcome = run_items(items(4), store, perform, backend="dask")
    assert (outcome.n_finished_before, outcome.n_done) == (4, 0)
    assert outcome.seconds < 0.2, "no cluster is started for nothing"


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_items_whose_times_matter_have_nothing_beside_them(store, tmp_path, backend):
    log, alone = tmp_path / "log", {"item0", "item3", "item5"}
    perform = partial(draw_at_once, log=log, folder=tmp_path)
    outcome = run_items(items(14), store, perform, n_jobs=2, backend=backend, exclusive=alone)
    assert outcome.n_done == 14, "items 1 and 2 are done side by side"
    times = {f"item{one[0]}": one[1:3] for one in noted(log)}
    assert len(times) == 14
    pairs = [(a, b) for a in times for b in times if a < b]
    overlaps = {p for p in pairs if times[p[0]][0] < times[p[1]][1]
                and times[p[1]][0] < times[p[0]][1]}  # fmt: skip
    assert not {key for pair in overlaps for key in pair} & alone
    assert [f"item{one[0]}" for one in noted(log)][-3:] == sorted(alone)


@pytest.mark.parametrize(
    ("backend", "n_jobs"), [WAYS[0], WAYS[3], pytest.param("dask", 2, marks=SLOW)]
)
def test_one_that_fails_does_not_stop_the_others(store, backend, n_jobs, caplog):
    perform = partial(draw_but_one, culprit=2)
    outcome = run_items(items(5), store, perform, n_jobs=n_jobs, backend=backend)
    assert (outcome.n_done, outcome.n_failed, outcome.n_left) == (4, 1, 0)
    failed = store.failed["item2"]
    assert failed.result is None
    assert failed.error == r"RuntimeError: item 2 is \udcff bad"
    story = (store.folder / failed.traceback).read_text(encoding="utf-8")
    assert "raise RuntimeError" in story
    assert "item 2 is" in caplog.text
    again = run_items(items(5), store, draw)
    assert (again.n_finished_before, again.n_done, again.n_failed) == (4, 1, 0)
    assert not store.failed
    assert results(store) == expected(5)


@pytest.mark.parametrize(("way", "error"), [("nan", "ValueError: .*JSON"), ("none", "a dict")])
def test_a_result_that_cannot_be_kept_is_a_failure(store, way, error):
    outcome = run_items(items(3), store, partial(draw_but_one, culprit=1, way=way))
    assert (outcome.n_done, outcome.n_failed) == (2, 1)
    assert re.search(error, store.failed["item1"].error)


@pytest.mark.parametrize("backend", ["processes", "dask"])
def test_an_item_that_takes_its_process_along_is_found(store, backend, caplog):
    """As when the system ends the process that has taken most of the memory."""
    perform = partial(draw_but_one, culprit=3, way="die")
    outcome = run_items(
        items(8), store, perform, n_jobs=2, backend=backend, exclusive=["item7"]
    )
    assert (outcome.n_done, outcome.n_failed, outcome.n_left) == (7, 1, 0)
    assert "ended unexpectedly" in store.failed["item3"].error
    assert (store.folder / store.failed["item3"].traceback).exists()
    assert "a worker process died" in caplog.text


def test_what_ends_the_run_is_no_failure_of_an_item(store, monkeypatch):
    perform = partial(draw_but_one, culprit=1, way="exit")
    with pytest.raises(SystemExit):
        run_items(items(3), store, perform, n_jobs=2, backend="threads")
    assert not store.failed
    monkeypatch.setattr(store, "add", lambda record: (_ for _ in ()).throw(DataError("full")))
    with pytest.raises(DataError, match="full"):
        run_items(items(30), store, draw, n_jobs=2)


def test_it_works_outside_the_main_thread_and_gives_the_handler_back(store):
    before, outcomes = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(
        target=lambda: outcomes.append(run_items(items(4), store, draw, n_jobs=2))
    )
    thread.start()
    thread.join()
    assert outcomes[0].n_done == 4
    run_items(items(5), store, draw, n_jobs=2, backend="threads")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_what_joblib_took_ahead_is_not_begun_after_ctrl_c(store, tmp_path, backend):
    # What runs the tests may ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    perform = partial(interrupt_at_two, log=tmp_path / "log", parent=os.getpid())
    try:
        outcome = run_items(items(20), store, perform, n_jobs=2, backend=backend)
    finally:
        signal.signal(signal.SIGINT, before)
    assert {one[0] for one in noted(tmp_path / "log")} == {0, 1, 2}
    assert (outcome.n_done, outcome.n_left, outcome.was_interrupted) == (3, 17, True)


def test_a_cluster_that_is_there_is_used(store, monkeypatch):
    distributed = pytest.importorskip("distributed")
    settings = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, silence_logs=logging.ERROR,
        scheduler_kwargs=settings, protocol="tcp",
    ) as cluster:  # fmt: skip
        address = cluster.scheduler_address
        run_items(items(4), store, draw, backend="dask", scheduler=address, n_jobs=1)
    assert results(store) == expected(4)
    assert {one.n_jobs for one in store.finished.values()} == {2}
    monkeypatch.setattr("setwise_paper.runner.PATIENCE_S", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(DataError, match=re.escape(address)):
            run_items(items(5), store, draw, backend="dask", scheduler=address)


def test_wrong_parameters_are_refused_before_anything_is_begun(store, monkeypatch):
    for wrong in ({"backend": "magic"}, {"n_jobs": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            run_items(items(1), store, draw, **wrong)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"setwise\[dask\]"):
        run_items(items(1), store, draw, backend="dask")


def warn_twice(item):
    for _ in range(2):
        warnings.warn("not there yet", ConvergenceWarning, stacklevel=1)
    return {"draw": item.draw}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_warning_of_every_item_is_counted(store, n_jobs):
    run_items(items(3), store, warn_twice, n_jobs=n_jobs)
    counted = [one.warnings for one in store.finished.values()]
    assert counted == [{"ConvergenceWarning": 2}] * 3
    store.close()
    with Store(store.folder) as again:
        assert [one.warnings for one in again.finished.values()] == counted
