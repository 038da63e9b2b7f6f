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

# Everything that can change a result: the packages below the experiments, and their tasks.
COMPUTING = (
    *("sets", "features", "files", "datasets", "basis", "lasso", "graph", "cut", "cluster"),
    *("classify", "baselines", "comparison", "experiments/tasks"),
)
LIBRARIES = ("setwise", "numpy", "scipy", "scikit-learn", "numba", "scikit-image")


@cache
def code_fingerprint() -> str:
    """A hash of the source that computes results, and of the versions it rests on."""
    root = Path(setwise.__file__).parent
    digest = hashlib.sha256(repr(versions()).encode())
    for folder in COMPUTING:
        for path in sorted((root / folder).glob("*.py")):
            if "plot" in path.stem:  # draws results, and changes none
                continue
            digest.update(path.relative_to(root).as_posix().encode())
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
