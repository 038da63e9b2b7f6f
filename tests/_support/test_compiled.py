"""How kernels are compiled: once, announced, and again when any of them has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import setwise
from setwise._support import compiled

# A kernel of one module that calls one of another; both are small and quick to compile.
RUN = """
import logging, sys
import numpy as np
logging.basicConfig(stream=sys.stderr, format="%(message)s")
from setwise._support.compiled import kernels_of
pool_kernels = kernels_of("setwise.lasso", "pool_kernels")
left = np.zeros(2)
pool_kernels._residual(np.array([5.0, 7.0]), np.array([2.0]), np.array([[1.0, 3.0]]), 1, left)
stats = pool_kernels._residual.stats
print(*left, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
SUBTRACTS, ADDS = "g[j] -= scale * row[j]", "g[j] += scale * row[j]"


@pytest.fixture
def package(tmp_path):
    """A copy of the package that a test may change, and a way to run the kernel in it."""
    ignored = shutil.ignore_patterns("__pycache__")
    copy = tmp_path / "setwise"
    shutil.copytree(Path(setwise.__file__).parent, copy, ignore=ignored)
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)
    }  # fmt: skip

    def run():
        done = subprocess.run(
            [sys.executable, "-c", RUN],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        *result, hits, misses = (float(word) for word in done.stdout.split())
        return result, (hits, misses)

    return copy, run


def test_a_change_of_a_kernel_in_another_file_is_seen_by_those_that_call_it(package):
    folder, run = package
    assert run() == ([3.0, 1.0], (0, 1))
    assert run() == ([3.0, 1.0], (1, 0))  # from the cache
    called = folder / "lasso" / "factor_kernels.py"
    source = called.read_text()
    assert source.count(SUBTRACTS) == 1
    called.write_text(source.replace(SUBTRACTS, ADDS))
    assert run() == ([7.0, 13.0], (0, 1))
    assert run() == ([7.0, 13.0], (1, 0))
    called.write_text(source)
    assert run()[0] == [3.0, 1.0]


def test_a_change_of_anything_but_a_kernel_compiles_nothing(package):
    folder, run = package
    run()
    for path in [folder / "lasso" / "solver.py", folder / "_support" / "compiled.py"]:
        path.write_text(path.read_text() + "\n# A comment.\n")
    assert run() == ([3.0, 1.0], (1, 0))


def test_the_stamp_covers_every_file_with_a_kernel():
    root = Path(setwise.__file__).parent
    with_kernels = {
        path
        for path in root.rglob("*.py")
        if any(line.startswith("@kernel") for line in path.read_text().splitlines())
    }
    assert with_kernels
    assert with_kernels <= set(root.rglob("*kernels.py"))


@pytest.mark.parametrize(
    "name", ["lasso/kernels.py", "lasso/pool_kernels.py", "graph/kernels.py"]
)
def test_the_stamp_changes_with_any_kernel_and_back(package, name, monkeypatch):
    folder, _ = package
    monkeypatch.setattr(compiled, "__file__", str(folder / "_support" / "compiled.py"))
    stamp = compiled._source_stamp.__wrapped__
    before = stamp()
    path = folder / name
    source = path.read_text()
    path.write_text(source + "\n")
    assert stamp() != before
    path.write_text(source)
    assert stamp() == before


def test_every_kernel_carries_the_stamp():
    for package, module in [
        ("setwise.lasso", "kernels"),
        ("setwise.lasso", "pool_kernels"),
        ("setwise.graph", "kernels"),
        ("setwise.cut", "kernels"),
        ("setwise.basis", "kernels"),
    ]:
        kernels = compiled.kernels_of(package, module)
        dispatchers = [f for f in vars(kernels).values() if hasattr(f, "py_func")]
        assert dispatchers
        for dispatcher in dispatchers:
            assert dispatcher._cache._cache_file._source_stamp == compiled._source_stamp()
            assert dispatcher.targetoptions["nogil"]


def test_importing_the_package_compiles_and_loads_nothing():
    code = "import setwise, sys; assert 'numba' not in sys.modules, 'numba'"
    subprocess.run([sys.executable, "-c", code], check=True)
