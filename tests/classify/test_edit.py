"""Changing a gallery file: no update is lost, no broken file is ever seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.conftest import toy_sets

import setwise
from setwise import CVC
from setwise._support import files
from setwise.errors import DataError


@pytest.fixture
def saved(tmp_path, seed):
    sets, labels = toy_sets(seed, n_classes=3, n_sets=3, noise=1.0)
    names = np.array(["anna", "bert", "carl"])[labels]
    path = CVC((1, 2), random_state=0).fit(sets, names).save(tmp_path / "people.setwise")
    return path, sets, names


def test_a_changed_file_is_that_of_a_fresh_change(saved, tmp_path):
    path, sets, names = saved
    with setwise.edit(path) as clf:
        clf.enroll(sets[:1], ["dora"]).forget(sets=["set 4"])
    fresh = CVC((1, 2), random_state=0).fit(sets, names)
    fresh.enroll(sets[:1], ["dora"]).forget(sets=["set 4"])
    np.testing.assert_allclose(
        setwise.load(path).predict_proba(sets), fresh.predict_proba(sets), atol=1e-9
    )
    assert [file.name for file in tmp_path.iterdir()] == ["people.setwise"]


def test_nothing_is_written_after_an_error_or_without_a_change(saved):
    path, sets, _ = saved
    before, written = path.read_bytes(), path.stat().st_mtime_ns
    with pytest.raises(DataError, match="features"), setwise.edit(path) as clf:
        clf.forget(["anna"]).enroll([sets[0][:, :3]], ["anna"])
    with setwise.edit(path):
        pass
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, written)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(DataError, match=r"nobody\.setwise' is not there"),
        setwise.edit(tmp_path / "nobody.setwise"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


ENROLLING = """
import sys, numpy as np, setwise
path, label, n_sets = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(0)
for i in range(n_sets):
    with setwise.edit(path) as clf:
        vectors = rng.normal(size=(5, clf.n_features_in_))
        clf.enroll(setwise.SetBatch.from_list([vectors], [f"{label} {i}"]), [label])
"""


@pytest.mark.filterwarnings("ignore")
def test_two_at_once_lose_no_update(saved):
    path, sets, _ = saved
    command = [sys.executable, "-W", "ignore", "-c", ENROLLING, path]
    at_work = [subprocess.Popen([*command, name, "2"]) for name in ("left", "right")]
    assert [process.wait(timeout=200) for process in at_work] == [0, 0]
    names = setwise.load(path).gallery_.sets.names
    assert len(names) == len(sets) + 4
    assert {f"{side} {i}" for side in ("left", "right") for i in range(2)} < set(names)


def test_waiting_for_a_lock_ends_in_words(saved):
    path, _, _ = saved
    with (
        files.held(path),
        pytest.raises(DataError, match="another process has been changing"),
        files.held(path, wait_s=0.2),
    ):
        pass
    with files.held(path, wait_s=0.0):  # given back
        pass


def test_a_link_stays_and_the_gallery_behind_it_changes(saved, tmp_path):
    path, sets, _ = saved
    link = tmp_path / "link.setwise"
    link.symlink_to(path.name)
    with setwise.edit(link) as clf:
        assert (tmp_path / ".people.setwise.lock").is_file()  # writers by any name wait
        clf.enroll(sets[:1], ["dora"])
    assert link.is_symlink()
    assert "dora" in setwise.load(path).classes_
    assert setwise.load(path).forget(["dora"]).save(link) == link
    assert link.is_symlink()
    assert "dora" not in setwise.load(path).classes_


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_a_lock_that_is_no_regular_file_is_refused(saved, tmp_path, kind):
    path, _, _ = saved
    lock = tmp_path / ".people.setwise.lock"
    make = {
        "pipe": lambda: os.mkfifo(lock),
        "link": lambda: lock.symlink_to("elsewhere"),
        "folder": lock.mkdir,
    }
    make[kind]()
    with (
        pytest.raises(DataError, match=r"lock: is no regular file.*Remove it"),
        setwise.edit(path),
    ):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_is_named_and_the_gallery_stays(saved, monkeypatch):
    path, sets, _ = saved
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with (
        pytest.raises(DataError, match=r"edit: .*people\.setwise' cannot be written: No space"),
        setwise.edit(path) as clf,
    ):
        clf.enroll(sets[:1], ["dora"])
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(saved, tmp_path):
    path, _, _ = saved
    one, other = setwise.load(path), setwise.load(path).forget(sets=[0])
    old = path.read_bytes()
    began = time.perf_counter()
    new = other.save(tmp_path / "new.setwise").read_bytes()
    a_save = time.perf_counter() - began
    rng, states = np.random.default_rng(0), set()
    for _ in range(50):
        child = os.fork()
        while child == 0:  # saves until it is killed, at some moment
            other.save(path)
            one.save(path)
        time.sleep(rng.uniform(0, 12) * a_save)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        content = path.read_bytes()
        assert content in (old, new)
        states.add(content == new)
    assert states == {True, False}
    one.save(path)  # takes no heed of dead holders of the lock, and cleans up after them
    assert {file.name for file in tmp_path.iterdir()} == {"people.setwise", "new.setwise"}
