"""Memory is estimated before the work, and too much of it is refused with the number."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.conftest import toy_sets

import setwise._support.memory
from setwise import CVC
from setwise.errors import SetwiseError, TooLargeError
from setwise.graph import Graph, LassoGraph
from setwise.graph.lasso import GRAM_LIMIT


def test_some_memory_is_available_and_no_more_than_there_is():
    pages = os.sysconf("SC_PHYS_PAGES")
    assert (
        2**20 < setwise._support.memory.available_memory() <= pages * os.sysconf("SC_PAGE_SIZE")
    )


def test_a_gallery_that_does_not_fit_is_refused_with_the_number(monkeypatch, seed):
    sets, labels = toy_sets(seed)
    clf = CVC(dims=(1, 2), random_state=0).fit(sets, labels)
    before = clf.gallery_
    monkeypatch.setattr(setwise._support.memory, "available_memory", lambda: 1000)
    for call, n_sets in ((clf.fit, 9), (clf.enroll, 18)):
        message = (
            rf"11 layers over {n_sets} gallery sets needs about \d\.\d MiB of memory, and "
            r"0\.0 MiB is available\. Give fewer dims"
        )
        with pytest.raises(TooLargeError, match=message) as caught:
            call(sets, labels)
        assert isinstance(caught.value, MemoryError | SetwiseError)
    assert clf.gallery_ is before


@pytest.mark.parametrize("limit", ["max", "1000000"])
def test_the_limit_of_a_container_counts(monkeypatch, tmp_path, limit):
    (tmp_path / "memory.max").write_text(limit)
    (tmp_path / "memory.current").write_text("600000")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100000\n")
    monkeypatch.setattr(setwise._support.memory, "Path", lambda name: tmp_path)
    free = setwise._support.memory._free_in_container()
    assert free == (None if limit == "max" else 500_000)


def test_no_container_no_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(setwise._support.memory, "Path", lambda name: tmp_path / "none")
    assert setwise._support.memory._free_in_container() is None


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A system without Linux's files."""
    monkeypatch.setattr(setwise._support.memory, "Path", lambda name: tmp_path / "none")


def test_where_nobody_tells_nothing_is_refused(monkeypatch, elsewhere):
    monkeypatch.delattr(os, "sysconf")
    assert setwise._support.memory.available_memory() is None
    setwise._support.memory.require_memory(2**60, "this", "Do less.")


def test_windows_is_asked_its_own_way(monkeypatch, elsewhere):
    def status_ex(pointer):
        status = pointer._obj
        assert bytes(status)[:8] == (64).to_bytes(4, "little") + bytes(4)  # its length
        status[1], status[2] = 2**35, 12345
        return 1

    kernel32 = SimpleNamespace(GlobalMemoryStatusEx=status_ex)
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel32), raising=False)
    assert setwise._support.memory.available_memory() == 12345
    kernel32.GlobalMemoryStatusEx = lambda pointer: 0
    assert setwise._support.memory.available_memory() is None


def test_macos_tells_how_much_there_is(monkeypatch, elsewhere):
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.get)
    assert setwise._support.memory.available_memory() == 4_096_000


@pytest.mark.parametrize("name", ["lasso", "gaussian", "least_squares", "omp"])
def test_estimates_grow_with_the_gallery(name):
    graph = Graph.known()[name]()
    sizes = [graph.memory(100, n) for n in (10, 100, 1000)]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_large_lasso_graph_needs_memory_in_proportion_to_its_columns():
    once, twice = (LassoGraph().memory(400, n) for n in (10 * GRAM_LIMIT, 20 * GRAM_LIMIT))
    assert twice < 2 * once
    assert LassoGraph().memory(400, 100_000) < 3 * 2**30


# Above the limit of the Gram matrix, which is lowered: so few columns are quick. Not by
# ru_maxrss, which survives exec and would be the peak of the tests.
_PEAKS = """
import numpy as np
from setwise.graph import LassoGraph, lasso
lasso.GRAM_LIMIT = 1000
rng = np.random.default_rng(0)
classes = rng.standard_normal((64, 300))
def peak_after(n):
    x = classes[:, rng.integers(0, 300, n)] + 0.5 * rng.standard_normal((64, n))
    x /= np.linalg.norm(x, axis=0)
    LassoGraph().solve(x[:, 3:]).insert(x[:, :3])
    with open("/proc/self/status") as table:
        return next(int(line.split()[1]) for line in table if "VmHWM" in line) * 1024
print(*(peak_after(n) for n in (1100, 1300, 2500)))
print(*(LassoGraph().memory(64, n) for n in (1300, 2500)))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read in /proc")
def test_the_estimate_is_a_bound():
    done = subprocess.run(
        [sys.executable, "-c", _PEAKS], capture_output=True, text=True, check=True
    )
    compiled, few, many, of_few, of_many = map(int, done.stdout.split())
    assert 2**20 < many - compiled < of_many
    assert many - few < 1.5 * (of_many - of_few)


FAULTS = """
import resource
import numpy as np
from setwise._support.memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(200_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults())
keep_freed_memory()
faults()
print(faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of glibc")
def test_a_worker_of_dask_keeps_the_memory_of_its_last_step():
    """Dask starts it so that each array is mapped, page by page, and given back."""
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("no glibc")
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    run = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, env=environment
    )
    before, after = map(int, run.stdout.split())
    assert before > 50 * 300
    assert after < before / 100
