"""A Dask cluster gives the answers of this process, bit for bit, whoever dies meanwhile."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import threading
import time
from functools import partial

import joblib
import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import CVC, compare
from setwise._support import cluster
from setwise._support.cluster import spread
from setwise._support.parallel import in_threads
from setwise.baselines import MeanVector
from setwise.errors import DataError, SetwiseError
from setwise.evaluation import cross_validate
from setwise.gallery import Shortlist

distributed = pytest.importorskip("distributed")


def identities(n_classes=16, n_sets=3, n_vectors=4, n_features=16):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, n_features))
    labels = np.repeat(np.arange(n_classes), n_sets)
    noise = rng.normal(size=(len(labels), n_vectors, n_features))
    return (centres[labels][:, None] + 0.6 * noise).astype(np.float32), labels


@pytest.fixture(scope="module")
def large():
    """A gallery that is looked up around each probe, and probes."""
    sets, labels = identities()
    is_probe = np.arange(len(sets)) % 3 == 0
    near = Shortlist(n_classes=6, n_compared=12, above=8)
    clf = CVC((1, 2), shortlist=near, unknown=0.1, unknown_label=-1).fit(
        sets[~is_probe], labels[~is_probe]
    )
    assert clf.gallery_.solution.is_shortlist
    return clf, list(sets[is_probe])


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def on_cluster(client):
    with joblib.parallel_config("dask", client=client):
        yield client


def same(answers, others):
    answers, others = list(answers), list(others)
    assert len(answers) == len(others) > 0
    for one, other in zip(answers, others, strict=True):
        assert (one.name, one.label, one.is_known) == (other.name, other.label, other.is_known)
        assert one.nearness == other.nearness
        assert np.array_equal(one.probabilities, other.probabilities)
        assert np.array_equal(one.votes, other.votes)


def test_a_large_gallery_can_be_pickled_after_use(large):
    clf, probes = large
    expected = list(clf.judge(probes))
    same(pickle.loads(pickle.dumps(clf)).judge(probes), expected)
    same(clf.judge(probes), expected)


def test_sets_judged_together_are_those_of_this_process(large, on_cluster):
    clf, probes = large[0], large[1][:6]
    with joblib.parallel_config("threading"):
        expected = clf.judge(probes, together=True)
    found = clf.judge(probes, together=True)
    same(found, expected)
    assert [one.carried_by for one in found] == [one.carried_by for one in expected]


@pytest.mark.parametrize("is_mapped", [True, False], ids=["mapped", "scattered"])
def test_answers_are_those_of_this_process(large, client, is_mapped, monkeypatch):
    clf, probes = large
    expected = list(clf.judge(probes))
    if not is_mapped:
        monkeypatch.setattr(cluster, "_all_can_read", lambda *_: False)
    monkeypatch.setattr(cluster, "_HANDLES", {})
    fresh = pickle.loads(pickle.dumps(clf))
    with joblib.parallel_config("dask", client=client):
        pending = fresh.iter_judge(probes)
    same(pending, expected)  # the cluster was chosen when judge was called
    (handle,) = cluster._HANDLES.values()
    assert hasattr(handle, "key") != is_mapped


def test_a_gallery_travels_once(large, on_cluster, monkeypatch):
    clf, probes = large
    sent = []
    write = cluster.write_mapped
    monkeypatch.setattr(
        cluster, "write_mapped", lambda *args: (sent.append(args), write(*args))
    )
    fresh = pickle.loads(pickle.dumps(clf))
    labels = fresh.predict(probes)
    assert np.array_equal(fresh.predict(probes), labels)
    assert len(sent) == 1
    folder = sent[0][1]
    sent.clear()
    assert folder.is_dir()
    del fresh
    assert not folder.exists()  # goes with the gallery


def test_folds_and_methods_are_spread(client, seed):
    sets, labels = toy_sets(seed)
    clf = CVC((1, 2), random_state=0)
    methods = {"cvc": clf, "means": MeanVector()}
    here = cross_validate(clf, sets, labels, folds=3, keep_fitted=True)
    table = compare(sets, labels, sets, labels, methods=methods)
    with joblib.parallel_config("dask", client=client):
        there = cross_validate(clf, sets, labels, folds=3, keep_fitted=True)
        other = compare(sets, labels, sets, labels, methods=methods)
    same([r.answer for r in there.results], [r.answer for r in here.results])
    assert there.notes == here.notes
    assert len(there.fitted) == 3
    for name in methods:
        assert np.array_equal(other[name].is_right, table[name].is_right)


class Shared:
    """Anything that is not a number."""


def slowly(shared, item):
    time.sleep(0.05)
    return item


def refuse(shared, item):
    raise DataError(f"item {item} is no good")


def end(shared, item):
    os._exit(1)


def here(work, items):
    raise AssertionError("there is a cluster")


def test_an_error_of_the_work_is_raised_as_it_is(on_cluster):
    with pytest.raises(DataError, match="item 0 is no good"):
        list(spread(refuse, Shared(), range(3), here))


@pytest.mark.slow  # a signal to the process of the tests
def test_ctrl_c_stops(on_cluster):
    results = spread(slowly, Shared(), range(10_000), here)
    next(results)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        list(results)
    # Nothing of it is left but what was just being done.
    assert on_cluster.submit(abs, -3).result(timeout=5) == 3


def test_another_version_on_the_workers_is_refused(on_cluster, monkeypatch):
    monkeypatch.setattr(cluster, "version", lambda name: "0.0.1")
    with pytest.raises(
        SetwiseError, match=r"tcp://.* has setwise .* and this process has 0\.0"
    ):
        list(spread(slowly, Shared(), range(3), here))


def test_a_full_disk_is_named(on_cluster, monkeypatch):
    def write(shared, folder):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cluster, "write_mapped", write)
    with pytest.raises(SetwiseError, match=r"setwise-.*No space left.*TMPDIR"):
        list(spread(slowly, Shared(), range(3), here))


def test_work_on_a_worker_stays_there(on_cluster):
    nested = spread(nested_threads, Shared(), range(2), here)
    assert list(nested) == [[0, 1, 2], [0, 1, 2]]


def nested_threads(shared, item):
    with joblib.parallel_config("dask"):
        local = partial(in_threads, n_jobs=1)
        return list(spread(slowly, shared, range(3), local))


def test_threads_stay_threads_whatever_joblib_is_told(on_cluster):
    filled = np.zeros(3)

    def fill(i):
        filled[i] = 1.0

    list(in_threads(fill, range(3), 2))
    assert filled.all()


def kill_one(client, delay):
    pids = list(client.run(os.getpid).values())
    timer = threading.Timer(delay, os.kill, (pids[0], signal.SIGKILL))
    timer.start()
    return timer


@pytest.mark.parametrize(
    "is_mapped",
    [True, pytest.param(False, marks=pytest.mark.slow)],
    ids=["mapped", "scattered"],
)
def test_a_killed_worker_costs_only_time(on_cluster, is_mapped, monkeypatch):
    if not is_mapped:
        monkeypatch.setattr(cluster, "_all_can_read", lambda *_: False)
    on_cluster.wait_for_workers(2, timeout=20)
    timer = kill_one(on_cluster, 0.3)
    assert list(spread(slowly, Shared(), range(40), here)) == list(range(40))
    timer.join()
    on_cluster.wait_for_workers(2, timeout=20)


@pytest.mark.slow  # workers are started anew
def test_what_all_workers_lost_is_sent_again(on_cluster, monkeypatch):
    monkeypatch.setattr(cluster, "_all_can_read", lambda *_: False)
    shared = Shared()
    results = spread(slowly, shared, range(30), here)
    assert next(results) == 0
    on_cluster.restart(timeout=20)
    assert list(results) == list(range(1, 30))


@pytest.mark.slow
def test_what_kills_every_worker_is_given_up(on_cluster):
    with pytest.raises(SetwiseError, match=r"one worker after another died.*memory"):
        list(spread(end, Shared(), [0], here))
    on_cluster.wait_for_workers(2, timeout=20)


def test_processes_say_what_this_one_says(large):
    """``joblib.parallel_config("loky", n_jobs=2)``: processes instead of threads."""
    clf, probes = large
    expected = clf.predict(probes)
    with joblib.parallel_config("loky", n_jobs=2):
        assert clf.predict(probes).tolist() == expected.tolist()
