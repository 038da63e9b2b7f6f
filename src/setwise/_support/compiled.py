"""How the few hot loops are compiled: once, cached on disk, and announced."""

from __future__ import annotations

import logging
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["kernel", "kernels_of"]


def kernel(function: Any) -> Any:
    """Compile a function of plain loops when it is first called.

    Sums may be reassociated, so that they vectorise; nothing else of IEEE arithmetic is
    given up. The GIL is released, so that probes can be judged in parallel threads.
    """
    from numba import njit

    dispatcher = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})(function)
    # Numba would look at the function's own file only, and go on running what it has compiled
    # of another file after that was changed.
    dispatcher._cache._cache_file._source_stamp = _source_stamp()
    return dispatcher


@cache
def _source_stamp() -> str:
    """What changes when any kernel does."""
    sources = sorted(Path(__file__).parents[1].rglob("*kernels.py"))
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


@cache
def kernels_of(package: str, name: str = "kernels") -> ModuleType:
    """Import a package's module of kernels, saying so when it must be compiled first.

    Not at the top of a module: Numba alone takes 0.3 s to import.
    """
    module = import_module(f"{package}.{name}")
    dispatchers = [f for f in vars(module).values() if hasattr(f, "stats")]
    # Any, not all: which kernels a program needs, and has compiled, depends on its data.
    if not any(f._cache._cache_file._load_index() for f in dispatchers):
        _announce()
    return module


@cache
def _announce() -> None:
    """Say once a process that compiling takes a while."""
    # At warning level, because a user who waits for seconds should know why.
    logging.getLogger("setwise").warning(
        "setwise: compiling, once (about 15 s); the next start will find it done"
    )
