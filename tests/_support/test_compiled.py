"""How kernels are compiled: once, announced, and again when any of them has changed."""

from __future__ import annotations

import _thread
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import setwise
from setwise._support import compiled
from setwise._support.parallel import in_threads

# A kernel that calls an inner function of another module; both are quick to compile.
RUN = """
import logging, sys
import numpy as np
logging.basicConfig(stream=sys.stderr, format="%(message)s")
from setwise._support.compiled import kernels_of
kernel = kernels_of("setwise.cut").degrees
found = kernel(np.array([0, 1, 3]), np.array([3.0, 2.0, -1.0]))
stats = kernel.stats
print(*found, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
ADDS, SUBTRACTS = "degree[i] += data[e]", "degree[i] -= data[e]"


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
        run.said = done.stderr
        *result, hits, misses = (float(word) for word in done.stdout.split())
        return result, (hits, misses)

    return copy, run


def test_what_is_compiled_is_kept_until_a_kernel_changes_or_the_cache_is_damaged(package):
    folder, run = package
    assert run() == ([3.0, 1.0], (0, 1))
    assert run.said.count("compiling, once") == 1
    for path in [folder / "lasso" / "solver.py", folder / "_support" / "compiled.py"]:
        path.write_text(path.read_text() + "\n# A comment.\n")
    assert run() == ([3.0, 1.0], (1, 0))  # from the cache
    assert run.said == ""
    for kind in ("nbc", "nbi"):  # what was compiled, and the index of it
        (cached,) = (folder.parent / "cache").rglob(f"*degrees*.{kind}")
        cached.write_bytes(cached.read_bytes()[:-20])
        assert run() == ([3.0, 1.0], (0, 1))
    called = folder / "cut" / "graph_kernels.py"  # by the kernel that is run
    source = called.read_text()
    assert source.count(ADDS) == 1
    called.write_text(source.replace(ADDS, SUBTRACTS))
    assert run() == ([-3.0, -1.0], (0, 1))
    assert run() == ([-3.0, -1.0], (1, 0))


def test_the_stamp_covers_every_file_with_a_kernel():
    root = Path(setwise.__file__).parent
    with_kernels = {
        path
        for path in root.rglob("*.py")
        if any(line in ("@kernel", "@inner") for line in path.read_text().splitlines())
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
        ("setwise.lasso", "ball_kernels"),
        ("setwise.graph", "kernels"),
        ("setwise.cut", "kernels"),
        ("setwise.basis", "kernels"),
    ]:
        kernels = compiled.kernels_of(package, module)
        dispatchers = [f for f in vars(kernels).values() if hasattr(f, "py_func")]
        cached = [f for f in dispatchers if isinstance(f._cache, compiled._TolerantCache)]
        assert cached
        for dispatcher in cached:
            assert dispatcher._cache._cache_file._source_stamp == compiled._source_stamp()
        for dispatcher in dispatchers:
            assert dispatcher.targetoptions["nogil"]
            assert dispatcher in cached or dispatcher.targetoptions["no_cpython_wrapper"]


def test_an_inner_function_becomes_part_of_the_kernel_that_calls_it():
    @compiled.inner
    def halved(number):
        return number / 2.0

    @compiled.kernel
    def quarter(number):
        return halved(halved(number))

    assert quarter(3.0) == 0.75
    assert halved.py_func(3.0) == 1.5


def test_kernels_divide_by_zero_as_numpy_does():
    @compiled.kernel
    def ratio(a, b):
        return a / b

    assert ratio(1.0, 0.0) == np.inf


def test_importing_the_package_compiles_and_loads_nothing():
    code = "import setwise, sys; assert 'numba' not in sys.modules, 'numba'"
    subprocess.run([sys.executable, "-c", code], check=True)


NO_STATS = RUN.replace("stats = kernel.stats", "").replace(
    "sum(stats.cache_hits.values()), sum(stats.cache_misses.values())", ""
)


def test_without_jit_kernels_are_plain_functions():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", NO_STATS], env=environment, capture_output=True, text=True
    )
    assert (done.stdout.split(), done.stderr) == (["3.0", "1.0"], "")


# Neither the package nor a home can be written: Numba is told so, as root may write anywhere.
READ_ONLY = """
import tempfile
def refuse(*arguments, **settings): raise OSError(28, "No space left on device")
tempfile.TemporaryFile = refuse
"""
# The folder can be written when the kernel is made, and is full when it is compiled.
FULL = """
from numba.core.caching import IndexDataCacheFile
def refuse(*arguments): raise OSError(28, "No space left on device")
IndexDataCacheFile.save = refuse
"""
# Another Numba, whose cache has no source stamp.
OTHER_NUMBA = """
from numba.core.caching import FunctionCache
before = FunctionCache.__init__
def without_stamp(self, function):
    before(self, function)
    del self._cache_file._source_stamp
FunctionCache.__init__ = without_stamp
"""


@pytest.mark.parametrize(
    "obstacle", [READ_ONLY, FULL, OTHER_NUMBA], ids=["read-only", "full", "other Numba"]
)
def test_where_nothing_can_be_cached_kernels_are_compiled_in_memory(tmp_path, obstacle):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", obstacle + RUN],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["3.0", "1.0", "0", "1"], done.stderr
    said = [line for line in done.stderr.splitlines() if "compiled code cannot be kept" in line]
    assert len(said) == 1
    assert "NUMBA_CACHE_DIR" in said[0]


@pytest.fixture
def heard_interrupts():
    """Ctrl-C is heard: what is started in the background is told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interrupts")
def test_ctrl_c_in_a_kernel_is_a_keyboard_interrupt():
    kernel, n = compiled.kernels_of("setwise.cut").degrees, 1_000_000
    arguments = np.arange(n + 1), np.ones(n)
    kernel(*arguments)

    def work():
        threading.Timer(0.05, _thread.interrupt_main).start()
        while True:
            kernel(*arguments)

    # What Numba makes of it, if it comes within a kernel and not between two calls.
    with pytest.raises((SystemError, KeyboardInterrupt)):
        work()
    with pytest.raises(KeyboardInterrupt), compiled.plain_interrupts():
        work()
    with pytest.raises(KeyboardInterrupt):
        list(in_threads(lambda _: work(), [0], 1))


def test_other_system_errors_stay_what_they_are():
    with pytest.raises(SystemError, match="broken"), compiled.plain_interrupts():
        raise SystemError("broken") from ValueError()
