"""Compilation of the few hot loops: once, cached on disk where that works, and announced."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

# Sums may be reassociated, so that they vectorise, and a division by zero is infinite, as in
# NumPy. The GIL is released, so that probes can be judged in parallel threads.
_OPTIONS = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
# Neither called from Python nor allocating: without wrappers and reference counts, a function
# compiles in half the time.
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}


def kernel(function: Any) -> Any:
    """Compile a function of plain loops when first called, for each combination of types."""
    from numba import njit

    try:
        dispatcher = njit(cache=True, **_OPTIONS)(function)
        if dispatcher is not function:  # as it is with NUMBA_DISABLE_JIT
            dispatcher._cache = _TolerantCache(dispatcher._cache)
    except Exception:  # no folder to write to, or another Numba
        _announce_memory_only()
        return njit(**_OPTIONS)(function)
    return dispatcher


def inner(function: Any) -> Any:
    """Compile a function that kernels call, as a part of each, and that makes no arrays."""
    from numba import njit

    return njit(**_OPTIONS, **_INNER)(function)


def inlined(function: Any) -> Any:
    """Compile a function as part of the one function that calls it, and not by itself."""
    from numba import njit

    return njit(**_OPTIONS, **_INNER, inline="always")(function)


class _TolerantCache:
    """Numba's cache of one kernel, by its private names, keyed by all kernels' sources."""

    def __init__(self, numba_cache: Any) -> None:
        self.numba_cache = numba_cache
        # Numba looks at the function's own file only, and would go on running what it has
        # compiled of another file after that was changed.
        _ = numba_cache._cache_file._source_stamp  # an error where Numba has no such name
        numba_cache._cache_file._source_stamp = _source_stamp()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.numba_cache, name)

    def is_warm(self) -> bool:
        """Whether anything compiled of this kernel is on disk."""
        with suppress(Exception):
            return bool(self.numba_cache._cache_file._load_index())
        return False

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code on disk for a signature; None where there is none, or damaged."""
        try:
            return self.numba_cache.load_overload(signature, target)
        except Exception:  # unpickling half a file can raise anything
            with suppress(Exception):
                self.numba_cache.flush()  # to be written anew
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write compiled code to disk, if that is possible."""
        try:
            self.numba_cache.save_overload(signature, compiled)
        except Exception:  # a full disk, a folder gone
            _announce_memory_only()


@cache
def _source_stamp() -> str:
    """A digest of the sources of all kernels."""
    sources = sorted(Path(__file__).parents[1].rglob("*kernels.py"))
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


@cache
def kernels_of(package: str, name: str = "kernels") -> ModuleType:
    """A package's module of kernels, announced when it must be compiled first."""
    module = import_module(f"{package}.{name}")
    caches = [getattr(member, "_cache", None) for member in vars(module).values()]
    tolerant = [kept for kept in caches if isinstance(kept, _TolerantCache)]
    # Any, not all: which kernels a program needs, and has compiled, depends on its data.
    if tolerant and not any(kept.is_warm() for kept in tolerant):
        _announce()
    return module


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Raise Ctrl-C as KeyboardInterrupt even while a kernel runs.

    Numba returns a result although an exception is set, which Python turns into a SystemError.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


@cache
def _announce() -> None:
    """Say once per process that compiling takes a while, at a level that users see."""
    what = "compiling, once (about 13 s); the next start will find it done"
    logging.getLogger("setwise").warning("setwise: %s", what)


@cache
def _announce_memory_only() -> None:
    """Say once per process that compiled code cannot be kept."""
    what = "compiled code cannot be kept, so each start compiles again (about 13 s)"
    advice = "Set NUMBA_CACHE_DIR to a folder with room that can be written"
    logging.getLogger("setwise").warning("setwise: %s. %s", what, advice)
