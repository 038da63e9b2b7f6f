"""Which code a result was computed with."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import setwise

__all__ = ["code_fingerprint", "machine", "versions"]

# What shows results, and changes none. Everything else may: a room that is added later
# counts without being named here.
SHOWING = ("cli", "plots", "report", "studies/figures", "studies/report")
LIBRARIES = ("setwise", "numpy", "scipy", "scikit-learn", "numba", "scikit-image")


@cache
def code_fingerprint() -> str:
    """A hash of the source that computes results, and of the versions it rests on."""
    root = Path(setwise.__file__).parent
    digest = hashlib.sha256(repr(versions()).encode())
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if not place.startswith(SHOWING):
            digest.update(place.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Of setwise, and of the libraries that results may depend on."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> str:
    """What kind of machine this is, without naming it."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
